import type { AttemptRecord, Claim, Job, JobState, Json } from './job.ts'

/**
 * Where jobs are kept. Every store passes `describeJobStore` (testing/job-store.suite.ts); `memory/` is this
 * contract as code that can be stepped through. `Tx` is the store's own transaction: whatever the caller writes
 * in it and what the store writes in it are durable together or not at all.
 *
 * What all methods promise: they throw StoreUnavailable when the store could not work, and then nothing of that
 * call is stored, unless the store says `publish` (its answer may be lost after it landed; calling again says
 * `already-published`). Time is the store's own clock.
 */
export interface JobStore<Tx> {
  /** Runs `work` in one durable transaction. See `Database.transaction` of `@garner/db`. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>

  /**
   * Accepts a job in the caller's transaction: it exists exactly if that transaction commits (J1).
   * - The same tenant and operation id again, same payload: `{ job, isRepeat: true }`, and nothing is added (J5).
   *   With another payload: OperationConflict. Racing repeats: one is first, the others repeat it.
   * - Beyond the bounds: QueueFull, and nothing of this call is in the transaction, so the caller may go on.
   */
  submit(tx: Tx, submission: Submission): Promise<{ job: Job; isRepeat: boolean }>

  /**
   * Claims up to `limit` due jobs, in (rank, id) order, and starts an attempt on each: epoch + 1, attempt + 1,
   * lease of `leaseMs` by the store's clock. Jobs whose lease has run out count as due; their attempt is recorded
   * as `lease_expired`, and so is the job's `lastError`. Of a kind with `perKey` n, at most n jobs of one key run at a time, over all workers;
   * jobs beyond that are passed over and do not hold up others. Racing callers never get the same job.
   * If the caller dies after this returns: the job is due again at `leaseUntilMs`; its next claim has a higher
   * epoch. Shape: `[]` when nothing is due, which is not an error.
   */
  claim(request: ClaimRequest): Promise<Claim[]>

  /** Milliseconds until something may be due, 0 when something is due now, null when nothing waits. A hint. */
  nextDueInMs(): Promise<number | null>

  /**
   * Extends the leases to `leaseMs` from now. Answers, in the order of `claims`, whether each was extended; `lost`
   * when the epoch is old, the lease has run out (even if nobody else has claimed), or the job has ended.
   */
  heartbeat(claims: Pick<Claim, 'job' | 'epoch'>[], leaseMs: number): Promise<('extended' | 'lost')[]>

  /**
   * Ends a claim: the handler's writes and the job's end in one transaction, fenced (J3, J4).
   *
   * `write` runs inside that transaction, only if the epoch is current, the job is running and its lease has not
   * run out. What it answers decides: nothing, the ending as given; `superseded`, the thing the job was about has
   * moved on, and it must not have written anything; `discarded`, it may not be done any more (J9), and it may have
   * written nothing but what shows that.
   * Answers:
   * - `published`: it is durable.
   * - `already-published`: this very claim had ended before (an acknowledgement was lost). Nothing is written.
   * - `superseded`, `discarded`: the job has ended so, now or before, or is gone with its subject.
   * - `stale-epoch`: refused and counted: an older epoch, or a lease that has run out. Nothing is written.
   * Whatever `write` throws is passed on and nothing is written; the claim stands.
   */
  publish(claim: Claim, ending: Ending, write?: (tx: Tx) => Promise<WriteAnswer>): Promise<PublishAnswer>

  /** Marks the pending jobs of `subject` whose version is below `version` as superseded; answers how many. */
  supersede(tx: Tx, subject: { subject: string; version: number }): Promise<number>

  /** Removes every job of `subject`, whatever its state, as if it had never been; answers how many. */
  forget(tx: Tx, subject: string): Promise<number>

  /** Removes every pending and dead job of `tenant`; answers how many. Ended jobs stay until their subject goes. */
  forgetTenant(tx: Tx, tenant: string): Promise<number>

  /**
   * Starts a new generation of an ended job: new tries and a new deadline, its epoch going on. A job that is
   * waiting becomes due now, one that is running is left alone. Answers the job, or undefined if there is none;
   * superseded jobs are not revived. Ignores the bounds, since what was accepted once may be repaired, unless
   * `isBounded`: then QueueFull as for `submit`, for repairs that anybody may ask for.
   */
  repair(tx: Tx, id: string, options?: { isBounded?: boolean }): Promise<Job | undefined>

  /** Cancels a waiting or dead job. Answers whether it did: false when there is none or it is in another state. */
  discard(tx: Tx, id: string): Promise<boolean>

  /** One job with its attempts, oldest first, or undefined. */
  get(id: string): Promise<{ job: Job; attempts: AttemptRecord[] } | undefined>

  /** Jobs newest first. `after` is the id that ended the page before. */
  list(filter: JobFilter): Promise<Job[]>

  /** How many jobs there are of each kind and state now, and how old the oldest due one is. */
  counts(): Promise<JobCounts[]>

  /** Lifetime totals that survive restarts and hold for all processes together. */
  totals(): Promise<JobTotals[]>
}

export interface Submission {
  /** Never given twice, not even after `forget`: late words about the first job must not reach another. */
  id: string
  kind: string
  tenant: string
  payload: Json
  operationId?: string | undefined
  subject?: string | undefined
  subjectVersion?: number | undefined
  key?: string | undefined
  /** Not before this instant; default now. */
  runAtMs?: number | undefined
  /** No retry is planned later than this from now (and again from each repair). */
  deadlineMs: number
}

export interface ClaimRequest {
  worker: string
  limit: number
  /** 1_000..600_000. */
  leaseMs: number
  kinds: { kind: string; perKey?: number | undefined }[]
}

export type Ending =
  | { state: 'succeeded'; result?: Json }
  | { state: 'degraded' | 'dead' | 'cancelled'; reason: string; result?: Json }
  /** `isUncounted`: the try does not count, as when it is released. */
  | { state: 'ready'; outcome: 'retried'; runAtMs: number; reason: string; isUncounted?: boolean }
  /** Given back unfinished: due at once, and the try does not count. */
  | { state: 'ready'; outcome: 'released' }

export type WriteAnswer = 'superseded' | 'discarded' | undefined

export type PublishAnswer = 'published' | 'already-published' | 'superseded' | 'discarded' | 'stale-epoch'

export interface JobFilter {
  state?: JobState | undefined
  kind?: string | undefined
  after?: string | undefined
  limit: number
}

export interface JobCounts {
  kind: string
  state: JobState
  count: number
  /** Only for `ready`: age of the oldest job that is due, in ms; null when none is due. */
  oldestDueMs: number | null
}

export interface JobTotals {
  kind: string
  /** `stale_publications`, `retries`, or `finished:<state>`. */
  name: string
  value: number
}

export type { JobState }
