import type { Claim } from '@garner/jobs'
import { claimName, type NamedChecker } from './checker.ts'

interface Holder {
  epoch: number
  /** By the store's clock. */
  untilMs: number
  /**
   * A claim was made when it had run out. It may have been taken back then, or not; should the store's clock be set
   * back, either is right.
   */
  mayBeOver: boolean
}

/**
 * J3: each claim has a higher epoch than the one before; nobody is given a job whose lease still runs; what is said
 * without a running lease is refused, what is said with one is not; and every refusal is counted.
 */
export const leases: NamedChecker = {
  name: 'J3 lease and epoch',
  make({ broken }) {
    const epochs = new Map<string, number>()
    const holders = new Map<string, Holder>()
    const landed = new Set<string>()
    let refused = 0

    /** Undefined when either is right. */
    const holds = ({ job, epoch }: Pick<Claim, 'job' | 'epoch'>, storeMs: number) => {
      const holder = holders.get(job.id)
      if (holder?.epoch !== epoch || holder.untilMs <= storeMs) return false
      return holder.mayBeOver ? undefined : true
    }
    const mustMatch = (
      said: string,
      claim: Pick<Claim, 'job' | 'epoch'>,
      isTaken: boolean,
      storeMs: number,
    ) => {
      const isHolder = holds(claim, storeMs)
      if (isHolder === undefined || isHolder === isTaken) return
      const holder = holders.get(claim.job.id)
      const why = holder ? `epoch ${holder.epoch} holds it until ${holder.untilMs}` : 'nobody holds it'
      const how = isTaken ? 'was taken' : 'was refused'
      broken(`${said} of ${claimName(claim.job.id, claim.epoch)} ${how} at ${storeMs}: ${why}`)
    }

    return {
      see(one, { storeMs }) {
        switch (one.what) {
          case 'claimed':
            for (const holder of holders.values()) holder.mayBeOver ||= holder.untilMs <= storeMs
            for (const { job, epoch } of one.claims) {
              const before = epochs.get(job.id) ?? 0
              if (epoch <= before) broken(`${job.id} was claimed with epoch ${epoch} after epoch ${before}`)
              const holder = holders.get(job.id)
              if (holder && holder.untilMs > storeMs && !holder.mayBeOver) {
                broken(`${claimName(job.id, epoch)} was claimed at ${storeMs}, held until ${holder.untilMs}`)
              }
              const untilMs = storeMs + one.request.leaseMs
              if (job.leaseUntilMs !== untilMs) {
                broken(`${claimName(job.id, epoch)} has a lease until ${job.leaseUntilMs}, not ${untilMs}`)
              }
              epochs.set(job.id, epoch)
              holders.set(job.id, { epoch, untilMs, mayBeOver: false })
            }
            return
          case 'heartbeat':
            for (const { claim, answer } of one.beats) {
              mustMatch('a heartbeat', claim, answer === 'extended', storeMs)
              if (answer !== 'extended') continue
              const untilMs = storeMs + one.leaseMs
              holders.set(claim.job.id, { epoch: claim.epoch, untilMs, mayBeOver: false })
            }
            return
          case 'progress':
            mustMatch('progress', one.claim, one.answer === 'stored', storeMs)
            return
          case 'opened':
          case 'recorded': {
            const isLost = one.what === 'opened' ? one.standing.state === 'lost' : one.answer === 'lost'
            if (isLost) refused++
            const { job, epoch } = one.claim
            if (!isLost && epoch !== epochs.get(job.id)) {
              broken(`a step of ${claimName(job.id, epoch)} was taken, the epoch is ${epochs.get(job.id)}`)
            }
            if (isLost && holds(one.claim, storeMs)) {
              broken(`a step of ${claimName(job.id, epoch)} was refused though its lease runs`)
            }
            return
          }
          case 'published': {
            if (one.answer === null) return
            const name = claimName(one.claim.job.id, one.claim.epoch)
            if (one.answer === 'published') {
              mustMatch('a publication', one.claim, true, storeMs)
              landed.add(name)
            }
            if (one.answer === 'already-published' && !landed.has(name)) {
              broken(`${name} was told that it had published, and it had not`)
            }
            if (one.answer === 'stale-epoch') {
              refused++
              mustMatch('a publication', one.claim, false, storeMs)
              if (landed.has(name)) broken(`${name} had published, and was told that it is stale`)
            }
            return
          }
          case 'seen':
            if (one.job?.state !== 'running') holders.delete(one.id)
            if (one.job && one.job.epoch < (epochs.get(one.id) ?? 0)) {
              broken(`${one.id} has epoch ${one.job.epoch} after ${epochs.get(one.id)}`)
            }
        }
      },
      end({ totals }) {
        const counted = totals.filter(({ name }) => name === 'stale_publications')
        const sum = counted.reduce((total, { value }) => total + value, 0)
        if (sum !== refused) broken(`${refused} were refused, ${sum} were counted`)
      },
    }
  },
}
