import { isDeepStrictEqual } from 'node:util'
import type { Job } from '@garner/jobs'
import { claimName, type NamedChecker } from './checker.ts'

/** What a handler derives the ids of its rows from. */
function identityOf({ id, kind, tenant, payload, subject, subjectVersion, key }: Job) {
  return { id, kind, tenant, payload, subject, subjectVersion, key }
}

/**
 * J10: every try of a job, in whatever generation, gets the job that was accepted, so that the ids derived from it
 * are the same; at the end a job has made one row at most.
 */
export const redo: NamedChecker = {
  name: 'J10 redo cannot duplicate',
  make({ app, broken }) {
    const accepted = new Map<string, Job>()
    return {
      see(one) {
        if ((one.what === 'submitted' && !one.isRepeat) || one.what === 'fired')
          accepted.set(one.job.id, one.job)
        if (one.what !== 'claimed') return
        for (const { job, epoch } of one.claims) {
          const first = accepted.get(job.id)
          if (first && !isDeepStrictEqual(identityOf(job), identityOf(first))) {
            broken(`${claimName(job.id, epoch)} is not the job that was accepted`)
          }
        }
      },
      end() {
        const made = app.all('results').map(({ jobId }) => jobId)
        if (new Set(made).size !== made.length) broken('a job has made two rows')
      },
    }
  },
}
