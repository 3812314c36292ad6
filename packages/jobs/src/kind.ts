import type { Queryable } from '@garner/db'
import type { RetryPolicy } from './decide.ts'
import type { Job, Json } from './job.ts'
import type { PaidStep } from './once.ts'
import type { PayloadSchema } from './schema.ts'
import type { ClaimKind, WriteAnswer } from './store.ts'

/** What a handler gives back: the job's result and the writes that go with it. */
export interface Outcome<Tx> {
  /** Kept with the job; ids and sizes rather than contents. */
  result?: Json
  /**
   * The handler's writes, run inside the fenced publication. May run more than once (if the commit's answer was
   * lost, or another publication of the same commit failed), never twice with effect. It awaits nothing but its own
   * statements. Answer `superseded` before writing anything when the thing has moved on.
   */
  write?: (tx: Tx) => Promise<WriteAnswer>
}

/** One try, as its handler sees it. */
export interface AttemptContext<P extends Json = Json> {
  readonly job: Job
  readonly payload: P
  /** Aborted when the lease is lost, the worker stops or the try takes too long: what comes after is thrown away. */
  readonly signal: AbortSignal
  /**
   * A durable part: `work` is done once for the job, over all tries and generations. Its result is stored before
   * it is returned; a later try gets it from the store. Killed while it works: it is done again, so a part that
   * costs money is `oncePaid`. Errors: what `work` throws; nothing is stored then.
   */
  once<T extends Json>(name: string, work: () => Promise<T>): Promise<T>
  /**
   * A durable part that is paid for (J7): counted before the call, its result stored before anything else happens.
   * Errors: AllowanceExhausted, BillingUnknown (both degrade the job unless caught), what the call throws.
   */
  oncePaid<T extends Json>(name: string, step: PaidStep<T>): Promise<T>
  /** Shows how far the work is; answers whether the lease still holds. Ids and numbers rather than contents. */
  progress(value: Json): Promise<boolean>
}

/**
 * A kind of job. The handler may run twice for one job (a crash, a lost lease): what it creates must have an id
 * derived from the job, so that a redo meets the same row (J10). It throws Retry, Degrade or Permanent; anything
 * else it throws counts as a fault of ours.
 */
export type JobKind<Tx, P extends Json = Json> = KindRules<Tx, P> &
  (SingleHandler<Tx, P> | BatchHandler<Tx, P>)

/** A handler that is given one job. */
export interface SingleHandler<Tx, P extends Json> {
  handle(attempt: AttemptContext<P>): Promise<Outcome<Tx>>
  handleBatch?: undefined
}

/** Jobs that are claimed together are handled together; each is fenced, published and retried by itself. */
export interface BatchHandler<Tx, P extends Json> {
  handle?: undefined
  batchMax: number
  /**
   * Answers one outcome for each attempt, in their order; an Error in its place ends that try as if it were thrown.
   * What it throws ends all of them.
   */
  handleBatch(attempts: AttemptContext<P>[]): Promise<(Outcome<Tx> | Error)[]>
}

/** All that a kind says but its handler. Its limits (ClaimKind) hold over all workers. */
export interface KindRules<Tx, P extends Json> extends ClaimKind {
  policy: RetryPolicy
  /** What a payload must be: looked at when it is submitted, and again before it is handled (the code may be newer). */
  payload?: PayloadSchema<P>
  /** A try that takes longer is given up and counts as failed. Milliseconds. */
  attemptMs: number
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

/** Gives a kind its payload type from its schema. Changes nothing. */
export function defineKind<Tx, P extends Json>(kind: JobKind<Tx, P>): JobKind<Tx, P> {
  return kind
}
