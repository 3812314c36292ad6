import { PENDING_STATES } from '@garner/jobs'
import type { NamedChecker } from './checker.ts'

/**
 * J1: whoever was told 201 finds the job, at the end of all; a job exists exactly with the row that was saved in its
 * transaction; only being forgotten, or pruned after its end, takes one away.
 */
export const accepted: NamedChecker = {
  name: 'J1 durable acceptance',
  make({ app, broken }) {
    const jobs = new Map<string, { isPending: boolean; isDead: boolean }>()
    const removed = new Set<string>()
    const withRow = new Set<string>()
    let removal: 'forgotten' | 'pruned' | null = null
    return {
      see(one) {
        switch (one.what) {
          case 'submitted':
            if (one.isRepeat) return
            jobs.set(one.job.id, { isPending: true, isDead: false })
            if (one.hasRow) withRow.add(one.job.id)
            return
          case 'fired':
            jobs.set(one.job.id, { isPending: true, isDead: false })
            return
          case 'acknowledged':
            if (!jobs.has(one.id))
              broken(`${one.by} was told that ${one.id} is accepted, and it was never committed`)
            return
          case 'forgotten':
          case 'pruned':
            removal = one.what
            return
          case 'seen': {
            const known = jobs.get(one.id)
            if (one.job) {
              const isPending = PENDING_STATES.includes(one.job.state)
              if (known) Object.assign(known, { isPending, isDead: one.job.state === 'dead' })
              return
            }
            if (!known || removed.has(one.id)) return
            removed.add(one.id)
            if (removal === null) broken(`${one.id} is gone, and nobody has removed it`)
            if (removal === 'pruned' && (known.isPending || known.isDead)) {
              broken(`${one.id} was pruned before its end`)
            }
          }
        }
      },
      end(final) {
        for (const id of jobs.keys()) {
          if (!removed.has(id) && !final.jobs.has(id)) broken(`${id} was accepted and is lost`)
        }
        for (const id of final.jobs.keys()) {
          if (!jobs.has(id)) broken(`${id} exists, and no committed transaction has submitted it`)
        }
        for (const { jobId } of app.all('saved')) {
          if (!jobs.has(jobId)) broken(`the row of ${jobId} was saved without its job`)
        }
        for (const id of withRow) {
          if (!app.get('saved', id)) broken(`${id} was submitted without the row of its transaction`)
        }
      },
    }
  },
}
