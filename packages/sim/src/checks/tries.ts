import type { Job } from '@garner/jobs'
import { claimName, type NamedChecker } from './checker.ts'

/** What is known of one life of a job, from its submission or a repair on. */
interface Generation {
  /** Claims whose try counts. */
  counted: Set<number>
  /** Those of them whose handler was begun. */
  begun: Set<number>
  /** As it is stored. */
  deadlineAtMs: number
}

/**
 * J6: a try counts, unless it is given back, and the job says which one it is; in one generation no more are begun than
 * the kind allows, none but the first after the deadline, and no retry is planned beyond it. A handler is begun before
 * its end is said, and not when it was told to stop already.
 */
export const tries: NamedChecker = {
  name: 'J6 one owner of retries',
  make({ plan, broken }) {
    const kinds = new Map(plan.kinds.map((one) => [one.kind, one]))
    const generations = new Map<string, Generation>()
    const ended = new Set<string>()
    const claimedAtMs = new Map<string, number>()
    const nameOf = ({ id, generation }: Pick<Job, 'id' | 'generation'>) => `${id} in generation ${generation}`
    const generationOf = (job: Job): Generation => {
      const found = generations.get(nameOf(job)) ?? {
        ...{ counted: new Set(), begun: new Set(), deadlineAtMs: job.deadlineAtMs },
      }
      generations.set(nameOf(job), found)
      return found
    }
    return {
      see(one) {
        switch (one.what) {
          case 'seen':
            if (one.job) generationOf(one.job).deadlineAtMs = one.job.deadlineAtMs
            return
          case 'claimed':
            for (const { job, epoch, claimedAtMs: atMs } of one.claims) {
              claimedAtMs.set(claimName(job.id, epoch), atMs)
              const count = generationOf(job).counted.add(epoch).size
              if (job.attempt !== count) {
                broken(`${claimName(job.id, epoch)} is called try ${job.attempt}, it is the ${count}th`)
              }
            }
            return
          case 'handling': {
            const { job, epoch, isCut } = one
            const name = claimName(job.id, epoch)
            if (ended.has(name)) broken(`${name} is begun, and its end was said before`)
            if (isCut) broken(`${name} is begun, and it was told to stop before`)
            const { begun, deadlineAtMs } = generationOf(job)
            const { attemptsMax } = kinds.get(job.kind)!
            if (begun.add(epoch).size > attemptsMax) {
              broken(`${nameOf(job)} is tried for the ${begun.size}th time of ${attemptsMax}`)
            }
            const atMs = claimedAtMs.get(name)!
            if (job.attempt > 1 && atMs > deadlineAtMs) {
              broken(`${name}, claimed at ${atMs}, is tried after its deadline ${deadlineAtMs}`)
            }
            return
          }
          case 'published': {
            if (one.answer !== 'published') return
            const { ending } = one
            const { job, epoch } = one.claim
            ended.add(claimName(job.id, epoch))
            if (ending.state !== 'ready') return
            const { counted, begun, deadlineAtMs } = generationOf(job)
            if (ending.outcome === 'released' || ending.isUncounted) {
              counted.delete(epoch)
              begun.delete(epoch)
            }
            if (ending.outcome === 'retried' && ending.runAtMs > deadlineAtMs) {
              broken(`${claimName(job.id, epoch)} is to be tried at ${ending.runAtMs}, after ${deadlineAtMs}`)
            }
          }
        }
      },
    }
  },
}
