import type { Allowance, AllowanceUse, StepRecord, StepStanding } from './allowance.ts'
import type { AttemptRecord, Claim, Job, JobState, Json } from './job.ts'
import type { Schedule, ScheduleRecord } from './schedule.ts'

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
  submit(tx: Tx, submission: Submission): Promise<Submitted>

  /**
   * As `submit`, for many at once and at a fraction of the cost: all of them or none. Answers in their order. The
   * same operation id twice in one call counts as a repeat. Errors: as `submit`, for the first that is refused.
   */
  submitMany(tx: Tx, submissions: Submission[]): Promise<Submitted[]>

  /**
   * `submitMany` in a transaction of the store's own: durable when it resolves. Calls that arrive together share
   * a commit, and one that is refused takes nothing of the others with it.
   */
  accept(submissions: Submission[]): Promise<Submitted[]>

  /**
   * Claims up to `limit` due jobs and starts an attempt on each: epoch + 1, attempt + 1, lease of `leaseMs` by the
   * store's clock. Order of service: priority (smaller first), then rank, then id; the answer is in that order.
   * - Jobs whose lease has run out count as due; their attempt is recorded as `lease_expired`, and so is the job's
   *   `lastError`.
   * - Schedules of the asked kinds whose time has come are fired first, so that their jobs can be claimed at once.
   * - A paused kind is passed over. So are jobs beyond their kind's `perKey`, `concurrency` or `spacingMs`; none of
   *   these holds up other jobs, and none makes a claim dearer for each job that waits.
   * Racing callers never get the same job. If the caller dies after this returns: the job is due again at
   * `leaseUntilMs`; its next claim has a higher epoch. Shape: `[]` when nothing is due, which is not an error.
   */
  claim(request: ClaimRequest): Promise<Claim[]>

  /**
   * Milliseconds until a claim for these kinds may find something, 0 when it may now, null when nothing waits.
   * A hint: jobs of paused kinds do not count, jobs whose key or kind has no room may.
   */
  nextDueInMs(kinds: string[]): Promise<number | null>

  /**
   * Calls `wake` when something may have become due. Only a hint (J2): it may come late, twice or never, and polling
   * finds the same work. It may also come from inside the transaction that brings the work; a claim that is asked for
   * before `wake` returns may then share that transaction's commit. Errors: StoreUnavailable.
   */
  listen(wake: () => void): Promise<Listening>

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

  /** Keeps `progress` with the running job, for people to see. Fenced as `heartbeat` is. */
  progress(claim: Pick<Claim, 'job' | 'epoch'>, progress: Json): Promise<'stored' | 'lost'>

  /**
   * Opens the durable part `name` of the job's work, before it is done (`once`, J7). What was stored for it by any
   * earlier attempt or generation decides the answer; see StepStanding. With a `use` and nothing that stands in the
   * way, the use is counted and the step recorded as `reserved`, in one transaction: race-free at the limit.
   * Fenced on the epoch (the lease may have run out as long as nobody else has claimed).
   */
  openStep(claim: Pick<Claim, 'job' | 'epoch'>, step: StepOpening): Promise<StepStanding>

  /**
   * Records what became of an open step: the provider's own id as soon as it is known (`submitted`), its result
   * before anything else happens (`settled`), or that the provider did not bill (`refunded`: the use is given back
   * and the step may be opened anew). Fenced on the epoch alone, since the money is spent either way: `lost`, and
   * counted as stale, once somebody else has claimed. Saying the same again changes nothing and answers `stored`.
   */
  recordStep(
    claim: Pick<Claim, 'job' | 'epoch'>,
    name: string,
    change: StepChange,
  ): Promise<'stored' | 'lost'>

  /** The durable parts of a job, in order of name. They outlive the job by their own retention (`prune`). */
  steps(jobId: string): Promise<StepRecord[]>

  /** How much of an allowance a tenant has used in the period that now is. Zeros when nothing was used. */
  allowance(of: { tenant: string; allowance: string; per: AllowanceUse['per'] }): Promise<Allowance>

  /** Marks the pending jobs of `subject` whose version is below `version` as superseded; answers how many. */
  supersede(tx: Tx, subject: { subject: string; version: number }): Promise<number>

  /** Removes every job of `subject` and its steps, whatever its state, as if it had never been; answers how many. */
  forget(tx: Tx, subject: string): Promise<number>

  /**
   * Removes every pending and dead job of `tenant`, with its steps, and its schedules; answers how many jobs. Ended
   * jobs stay until their subject goes.
   */
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

  /**
   * Cancels a pending or dead job, a running one too: its heartbeat is refused, its publication answers `discarded`.
   * Answers whether it did.
   */
  cancel(tx: Tx, id: string): Promise<boolean>

  /**
   * No job of `kind` is claimed from the commit on, until `resume` or `untilMs`; submitting goes on, and attempts
   * under way end as they do. Pausing again replaces reason and time.
   */
  pause(tx: Tx, kind: string, pause: { reason: string; untilMs?: number | undefined }): Promise<void>

  /** Answers whether the kind was paused. */
  resume(tx: Tx, kind: string): Promise<boolean>

  /** The kinds that are paused now, by name. */
  paused(): Promise<PausedKind[]>

  /** A tenant of weight 2 is served twice as often as one of weight 1 while both wait. 0.01..100; default 1. */
  setWeight(tx: Tx, tenant: string, weight: number): Promise<void>

  /**
   * Creates or replaces the schedule of this name. Its time counts from now unless nothing but payload, tenant or
   * policy has changed. Errors: RangeError for a pattern or zone that is not one.
   */
  schedule(tx: Tx, schedule: Schedule): Promise<void>

  /** Answers whether there was one. Jobs that it has submitted stay. */
  unschedule(tx: Tx, name: string): Promise<boolean>

  /** All schedules, by name. */
  schedules(): Promise<ScheduleRecord[]>

  /**
   * Removes what is older than its retention, at most `limit` of each: finished jobs with their attempts (dead ones
   * never, they wait for a person), operation ids and steps of jobs that are gone. An operation id is kept at least as
   * long as its job; after that a repeat answers the repeated submission as a job in the state it ended in. Answers how
   * many.
   */
  prune(retention: Retention): Promise<Pruned>

  /** One job with its attempts, oldest first, or undefined. */
  get(id: string): Promise<{ job: Job; attempts: AttemptRecord[] } | undefined>

  /** Jobs newest first. `after` is the id that ended the page before. */
  list(filter: JobFilter): Promise<Job[]>

  /** How many jobs there are of each kind and state now, and how old the oldest due one is. */
  counts(): Promise<JobCounts[]>

  /** Lifetime totals that survive restarts and hold for all processes together. */
  totals(): Promise<JobTotals[]>
}

/** What a submission is answered. */
export interface Submitted {
  job: Job
  /** The operation had been submitted before: this is that job, and nothing was added. */
  isRepeat: boolean
}

/** One worker's ear for hints (`listen`). */
export interface Listening {
  /**
   * Says whether this worker is at rest, so that others need not announce work to one that is busy anyway. Resting
   * is said before the last look at `nextDueInMs` and holds for `forMs`; busy takes it back.
   */
  resting(forMs: number): Promise<void>
  busy(): Promise<void>
  close(): Promise<void>
}

/** What `openStep` is asked. */
export interface StepOpening {
  name: string
  /** What it is paid with; free steps are only looked up. */
  use?: AllowanceUse | undefined
  /** Pay again although it is not known whether the last call was billed (the operator's `retry` policy). */
  evenIfUnknown?: boolean | undefined
}

/** What became of a step that is open. */
export type StepChange =
  | { state: 'submitted'; providerId: string }
  | { state: 'settled'; result: Json }
  | { state: 'refunded'; reason: string }

/** A kind that no job is claimed of for now; `untilMs` null: until it is resumed. Instants are Unix ms. */
export interface PausedKind {
  kind: string
  reason: string
  sinceMs: number
  untilMs: number | null
}

/** Ages in ms. */
export interface Retention {
  finishedMs: number
  /** The horizon of J5, from the submission on. While its job is there, an operation id stays however old it is. */
  operationsMs: number
  /** Steps of jobs that are gone: paid results and the record of what was billed. */
  stepsMs: number
  limit: number
}

/** How many of each went. Equal to the limit: there may be more. */
export interface Pruned {
  jobs: number
  operations: number
  steps: number
}

/** A job to be, as the store takes it. `Jobs` makes it from a kind and a payload. */
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
  /** Smaller is served first, -100..100, default 0. Fairness between tenants holds within one priority. */
  priority?: number | undefined
  /** Not before this instant; default now. */
  runAtMs?: number | undefined
  /** No retry is planned later than this from now (and again from each repair). */
  deadlineMs: number
}

/** Who claims, how many jobs at most, of which kinds, and for how long. */
export interface ClaimRequest {
  worker: string
  limit: number
  /** 1_000..600_000. */
  leaseMs: number
  kinds: ClaimKind[]
}

/** The limits of a kind hold over all workers that say the same of it. */
export interface ClaimKind {
  kind: string
  /** At most this many jobs of one key at a time. */
  perKey?: number | undefined
  /** At most this many jobs of the kind at a time. */
  concurrency?: number | undefined
  /** Starts of one key are at least this far apart. Milliseconds. */
  spacingMs?: number | undefined
}

/** How a claim ends: the job's end, or back to `ready`. Reasons are kinds of errors, never their contents. */
export type Ending =
  | { state: 'succeeded'; result?: Json }
  | { state: 'degraded' | 'dead' | 'cancelled'; reason: string; result?: Json }
  /** `isUncounted`: the try does not count, as when it is released. */
  | { state: 'ready'; outcome: 'retried'; runAtMs: number; reason: string; isUncounted?: boolean }
  /** Given back unfinished: due at once, and the try does not count. */
  | { state: 'ready'; outcome: 'released' }

/** What a handler's writes may say; undefined: as meant. */
export type WriteAnswer = 'superseded' | 'discarded' | undefined

/** What `publish` answers; see there. */
export type PublishAnswer = 'published' | 'already-published' | 'superseded' | 'discarded' | 'stale-epoch'

/** Which jobs to list; what is left out does not narrow. */
export interface JobFilter {
  state?: JobState | undefined
  kind?: string | undefined
  after?: string | undefined
  limit: number
}

/** How many jobs of a kind are in a state now. */
export interface JobCounts {
  kind: string
  state: JobState
  count: number
  /** Only for `ready`: since when the longest-due job could have started, in ms; null when none is due. */
  oldestDueMs: number | null
}

/** One lifetime total. */
export interface JobTotals {
  kind: string
  /** `stale_publications`, `retries`, `schedule_skipped` (the queue had no room for a firing), or `finished:<state>`. */
  name: string
  value: number
}

export type { JobState }
