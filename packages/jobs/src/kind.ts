import type { Queryable } from '@garner/db'
import type { RetryPolicy } from './decide.ts'
import type { Job, Json } from './job.ts'
import type { WriteAnswer } from './store.ts'

/** What a handler gives back: the job's result and the writes that go with it. */
export interface Outcome<Tx> {
  /** Kept with the job; ids and sizes rather than contents. */
  result?: Json
  /**
   * The handler's writes, run inside the fenced publication. May run more than once (if the commit's answer was
   * lost), never twice with effect. Answer `superseded` before writing anything when the thing has moved on.
   */
  write?: (tx: Tx) => Promise<WriteAnswer>
}

/** One try, as its handler sees it. */
export interface AttemptContext<P extends Json> {
  job: Job
  payload: P
  /** Aborted when the lease is lost or the worker stops: whatever comes after is thrown away. */
  signal: AbortSignal
}

/**
 * A kind of job. The handler may run twice for one job (a crash, a lost lease): what it creates must have an id
 * derived from the job, so that a redo meets the same row (J10). It throws Retry, Degrade or Permanent; anything
 * else it throws counts as a fault of ours.
 */
export interface JobKind<Tx, P extends Json = Json> {
  kind: string
  policy: RetryPolicy
  /** At most this many jobs of one key at a time, over all workers. Default: no limit. */
  perKey?: number
  /** A try that takes longer is given up and counts as failed. Milliseconds. */
  attemptMs: number
  handle(attempt: AttemptContext<P>): Promise<Outcome<Tx>>
  /**
   * Whether the job may still be done (J9): asked when it is claimed and again inside its publication. False ends
   * it as cancelled, with nothing written. Default: always.
   */
  isAllowed?(query: Tx | Queryable, job: Job): Promise<boolean>
  /** Shows that a try has failed and when the next is due; part of that publication. */
  retried?(tx: Tx, job: Job, next: { reason: string; runAtMs: number }): Promise<WriteAnswer>
  /** Shows that the job was given up because it may not be done any more, or by the operator. */
  discarded?(tx: Tx, job: Job): Promise<WriteAnswer>
  /** Saves the useful part when tries are used up or useless. Without it such a job is dead. */
  degrade?(tx: Tx, job: Job, reason: string): Promise<WriteAnswer>
  /** Shows that the job is dead; part of that publication, and left out if it fails. */
  died?(tx: Tx, job: Job, reason: string): Promise<WriteAnswer>
}
