import { claimName, type NamedChecker } from './checker.ts'

interface Handler {
  by: string
  jobId: string
  epoch: number
  leaseMs: number
  /** Its life's active time when the job became another's, or nobody's. */
  lostAtMs: number | null
  /** True time at which its life was told that a heartbeat was refused. */
  refusedAtMs: number | null
}

/** 1 s: what calls and their waits may add. */
const SLACK_MS = 1_000

/**
 * J3, the worker's side: a handler whose lease is lost is told to stop, by a refused heartbeat at once, or by its own
 * clock. Within four thirds of a lease: a beat may have been answered just before the loss, so that lease must run out, and
 * that is looked at with the beat after. The time that its machine stood still does not count.
 */
export const told: NamedChecker = {
  name: 'J3 the loser is told',
  make({ activeMs, broken }) {
    const handlers = new Map<string, Handler>()

    const judge = ({ by, jobId, epoch, leaseMs, lostAtMs }: Handler) => {
      if (lostAtMs === null) return
      const lateMs = activeMs(by) - lostAtMs
      if (lateMs > (leaseMs * 4) / 3 + SLACK_MS) {
        broken(
          `the handler of ${claimName(jobId, epoch)} on ${by} worked on for ${lateMs} ms without a lease`,
        )
      }
    }
    return {
      see(one, { atMs }) {
        for (const { by, jobId, epoch, refusedAtMs } of handlers.values()) {
          if (refusedAtMs === null || refusedAtMs >= atMs) continue
          broken(`the handler of ${claimName(jobId, epoch)} on ${by} was not told of a refused heartbeat`)
        }
        switch (one.what) {
          case 'refused':
            for (const { job, epoch } of one.claims) {
              const handler = handlers.get(`${one.by} ${claimName(job.id, epoch)}`)
              if (handler) handler.refusedAtMs = atMs
            }
            return
          case 'handling': {
            const { by, job, epoch, leaseMs } = one
            const handler = { by, jobId: job.id, epoch, leaseMs, lostAtMs: null, refusedAtMs: null }
            handlers.set(`${by} ${claimName(job.id, epoch)}`, handler)
            return
          }
          case 'left': {
            const key = `${one.by} ${claimName(one.job.id, one.epoch)}`
            const handler = handlers.get(key)
            if (handler) judge(handler)
            handlers.delete(key)
            return
          }
          case 'died':
            for (const [key, handler] of handlers) if (handler.by === one.by) handlers.delete(key)
            return
          case 'seen':
            for (const handler of handlers.values()) {
              if (handler.jobId !== one.id || handler.lostAtMs !== null) continue
              const isHeld = one.job?.state === 'running' && one.job.epoch === handler.epoch
              if (!isHeld) handler.lostAtMs = activeMs(handler.by)
            }
        }
      },
      end() {
        for (const handler of handlers.values()) judge(handler)
      },
    }
  },
}
