import { Degrade, Permanent, Retry } from './errors.ts'
import type { Job } from './job.ts'

/** How often and how long a kind is tried (J6: here and nowhere else). */
export interface RetryPolicy {
  /** Tries in one generation, the first included. */
  attemptsMax: number
  /** From submission (or repair) on; no retry is planned beyond it. A job that waited so long for its first try gets that one. Milliseconds. */
  deadlineMs: number
  /** The first wait is up to this long; each further one up to twice as long. Milliseconds. */
  baseMs: number
  /** No wait by backoff is longer. Milliseconds. */
  maxMs: number
}

/** What happens after a try that failed. */
export type Decision =
  | { next: 'retry'; runAtMs: number; reason: string; isUncounted: boolean }
  | { next: 'degrade'; reason: string }
  | { next: 'dead'; reason: string }

/**
 * Exponential backoff with full jitter: anywhere between 0 and the bound, so that jobs that failed together do
 * not come back together. `attempt` counts from 1. Source: "Exponential Backoff And Jitter", AWS, 2015.
 */
export function backoffMs(policy: RetryPolicy, attempt: number, random: () => number): number {
  const boundMs = Math.min(policy.maxMs, policy.baseMs * 2 ** (attempt - 1))
  return Math.floor(random() * boundMs)
}

/**
 * Decides on the error's class alone. Pure: time and chance are arguments.
 * - `Permanent`: dead. `Degrade`: degraded.
 * - `Retry`: again after the backoff, and not before `afterMs`; degraded once tries or time are used up.
 * - anything else is a fault of ours: again after the backoff, dead once tries or time are used up.
 * A kind that cannot degrade is dead instead.
 */
export function decide(input: {
  error: unknown
  job: Pick<Job, 'attempt' | 'epoch' | 'deadlineAtMs'>
  policy: RetryPolicy
  canDegrade: boolean
  nowMs: number
  random: () => number
}): Decision {
  const { error, job, policy, canDegrade, nowMs, random } = input
  const giveUp = (reason: string): Decision => ({ next: canDegrade ? 'degrade' : 'dead', reason })
  if (error instanceof Permanent) return { next: 'dead', reason: error.reason }
  if (error instanceof Degrade) return giveUp(error.reason)

  const known = error instanceof Retry ? error : null
  const reason = known?.reason ?? 'internal_error'
  const attemptsMax = known?.attemptsMax ?? policy.attemptsMax
  // `afterMs` comes from another server's header: NaN counts as not said, fractions are rounded up to whole ms.
  const askedMs = Math.ceil(known?.afterMs || 0)
  const isUncounted = known?.isUncounted ?? false
  // Uncounted tries leave `attempt` where it is; the epoch has counted them, so their waits grow all the same.
  const waits = isUncounted ? job.epoch : job.attempt
  const runAtMs = nowMs + Math.max(askedMs, backoffMs(policy, waits, random))
  const isOver = (job.attempt >= attemptsMax && !isUncounted) || runAtMs > job.deadlineAtMs
  if (!isOver) return { next: 'retry', runAtMs, reason, isUncounted }
  return known ? giveUp(reason) : { next: 'dead', reason }
}
