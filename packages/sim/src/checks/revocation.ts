import { type JobState, PENDING_STATES } from '@garner/jobs'
import { claimName, type NamedChecker } from './checker.ts'

/**
 * J9: once it is committed that an account may not be worked for, no job of its ends with a word of its handler's;
 * a job that was not allowed when it was claimed is not handled; a cancelled one ends as nothing else, and of a
 * tenant that was forgotten nothing waits.
 */
export const revocation: NamedChecker = {
  name: 'J9 revocation wins',
  make({ app, broken }) {
    const refused = new Set<string>()
    /** Job and the newest epoch that the cancellation was said to. */
    const cancelled = new Map<string, number>()
    const epochs = new Map<string, number>()
    const states = new Map<string, JobState>()
    const isPending = (id: string) => PENDING_STATES.includes(states.get(id) ?? 'cancelled')
    let forgotten: string | null = null
    return {
      see(one) {
        if (one.what !== 'seen') forgotten = null
        switch (one.what) {
          case 'allowed':
            if (!one.isInside && !one.isAllowed) refused.add(claimName(one.job.id, one.job.epoch))
            return
          case 'handling': {
            const name = claimName(one.job.id, one.epoch)
            if (refused.has(name)) broken(`${name} is handled, and its account may not be worked for`)
            return
          }
          case 'claimed':
            for (const { job, epoch } of one.claims) epochs.set(job.id, epoch)
            return
          case 'cancelled':
          case 'discarded':
            if (one.did) cancelled.set(one.id, epochs.get(one.id) ?? 0)
            else if (states.get(one.id) === 'dead' || (one.what === 'cancelled' && isPending(one.id))) {
              broken(`${one.id} is ${states.get(one.id)}, and was not ${one.what}`)
            }
            return
          case 'forgotten':
            forgotten = one.tenant ?? null
            return
          case 'seen':
            if (one.job) states.set(one.id, one.job.state)
            else states.delete(one.id)
            if (one.job && one.job.tenant === forgotten) {
              const isLeft = PENDING_STATES.includes(one.job.state) || one.job.state === 'dead'
              if (isLeft)
                broken(`${one.id} of ${forgotten} is still ${one.job.state}, and the tenant was forgotten`)
            }
            return
          case 'published': {
            const { job, epoch } = one.claim
            const name = claimName(job.id, epoch)
            if (one.answer !== 'published') return
            if (epoch <= (cancelled.get(job.id) ?? -1))
              broken(`${name} was published, and the job was cancelled`)
            const isAllowed = app.get('accounts', job.tenant)?.isAllowed ?? true
            const hasShown = app.get('shown', name) !== undefined
            const isSilent =
              one.ending.state === 'cancelled' ||
              (one.ending.state === 'dead' && !hasShown) ||
              ('outcome' in one.ending && one.ending.outcome === 'released')
            if (!isAllowed && !isSilent) {
              broken(`${name} ended as ${one.ending.state}, and ${job.tenant} may not be worked for`)
            }
          }
        }
      },
    }
  },
}
