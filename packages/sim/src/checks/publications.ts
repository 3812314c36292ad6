import type { JobState } from '@garner/jobs'
import type { AppTables } from '../store/app-tables.ts'
import { claimName, type NamedChecker } from './checker.ts'

/** What an attempt has written, as it stands in the application's tables. */
function writtenBy(app: AppTables, jobId: string, epoch: number) {
  const made = app.get('results', jobId)
  const detail = app.get('details', jobId)
  return {
    result: made?.epoch === epoch,
    detail: detail?.epoch === epoch,
    shown: app.get('shown', claimName(jobId, epoch))?.what ?? null,
    version: made?.version ?? null,
  }
}

/**
 * J4: the handler's rows and the job's end are there together or not at all, whatever was answered; nothing is
 * written about a version that has moved on; a publication that has landed is never told that it is stale (see J3).
 */
export const publications: NamedChecker = {
  name: 'J4 fenced, atomic publication',
  make({ app, broken }) {
    const landed = new Set<string>()
    /** The epoch whose rows a job's result must be of. */
    const written = new Map<string, number>()
    /** By the publication that was just answered: the state that the job must be in. */
    let said: { id: string; epoch: number; state: JobState } | null = null
    return {
      see(one) {
        if (one.what === 'seen') {
          if (!one.job) written.delete(one.id)
          if (said?.id === one.id && one.job?.epoch === said.epoch && one.job.state !== said.state) {
            broken(`${one.id} was to end as ${said.state} and is ${one.job.state}`)
          }
          return
        }
        said = null
        if (one.what !== 'published') return
        const { job, epoch } = one.claim
        const { ending, answer } = one
        const name = claimName(job.id, epoch)
        const found = writtenBy(app, job.id, epoch)
        if (found.result !== found.detail) broken(`${name} has written half of its rows`)
        if (answer === 'published') {
          landed.add(name)
          said = { id: job.id, epoch, state: ending.state }
          const isMeant = ending.state === 'succeeded' && (ending.result as { writes: boolean }).writes
          if (isMeant !== found.result) {
            broken(`${name} has ended as ${ending.state}, its rows are ${found.result ? '' : 'not '}there`)
          }
          if (isMeant) written.set(job.id, epoch)
          const version = job.subject === null ? null : (app.get('subjects', job.subject)?.version ?? 1)
          if (isMeant && version !== found.version) {
            broken(
              `${name} has written about version ${found.version} of ${job.subject}, it is at ${version}`,
            )
          }
          const shows = {
            succeeded: null,
            cancelled: null,
            degraded: 'degraded',
            ready: 'retried',
            dead: 'died',
          }
          const expected = 'outcome' in ending && ending.outcome === 'released' ? null : shows[ending.state]
          // A job that is dead because its end could not be shown either is dead all the same.
          if (found.shown !== expected && !(ending.state === 'dead' && found.shown === null)) {
            broken(`${name} has ended as ${ending.state} and shows ${found.shown}`)
          }
          return
        }
        if (answer === 'discarded') {
          landed.add(name)
          if (found.result) broken(`${name} was discarded and has written`)
          return
        }
        if (answer === 'superseded') said = { id: job.id, epoch, state: 'superseded' }
        if (landed.has(name)) return
        if (found.result || found.shown !== null)
          broken(`${name} was not published (${answer}) and has written`)
      },
      end({ jobs }) {
        for (const [id, epoch] of written) {
          const end = jobs.get(id)?.attempts.find((one) => one.epoch === epoch)?.outcome
          if (jobs.has(id) && end !== 'succeeded')
            broken(`${claimName(id, epoch)} has written and ended as ${end}`)
          if (app.get('results', id)?.epoch !== epoch) broken(`what ${claimName(id, epoch)} wrote is gone`)
        }
        for (const { jobId, epoch } of app.all('results')) {
          if (jobs.has(jobId) && written.get(jobId) !== epoch) broken(`${claimName(jobId, epoch)} left a row`)
        }
      },
    }
  },
}
