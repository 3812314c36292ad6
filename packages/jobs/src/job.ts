/** Anything that JSON can say. Payloads and results are stored as JSON text. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/**
 * `ready` waits (for a slot, for its time, or for its key), `running` is claimed. The others are ends:
 * `succeeded`; `superseded`, its subject moved on, not an error; `degraded`, the useful part is saved and the
 * garnish is not; `dead`, kept and repairable; `cancelled`, given up on purpose.
 */
export type JobState = 'ready' | 'running' | 'succeeded' | 'superseded' | 'degraded' | 'dead' | 'cancelled'

/** The state table as data: what may follow what. Nothing else is written, in any store. */
export const TRANSITIONS: Record<JobState, readonly JobState[]> = {
  ready: ['running', 'superseded', 'cancelled'],
  running: ['ready', 'succeeded', 'superseded', 'degraded', 'dead', 'cancelled'],
  succeeded: ['ready'],
  superseded: [],
  degraded: ['ready'],
  dead: ['ready', 'cancelled'],
  cancelled: ['ready'],
}

/** What counts against the bounds. */
export const PENDING_STATES: readonly JobState[] = ['ready', 'running']

/** The durable row. Instants are Unix ms by the store's clock. */
export interface Job {
  id: string
  kind: string
  /** Who it is done for: the unit of fairness and of the queue's bound. */
  tenant: string
  payload: Json
  /** What the job is about, and its version when the job was submitted; null for jobs about nothing. */
  subject: string | null
  subjectVersion: number | null
  /** What at most a few jobs at a time may touch, such as a remote host; null for none. */
  key: string | null
  state: JobState
  /** Smaller is served first; rank decides among equals. */
  priority: number
  /** Start tag of fair queueing, in RANK_UNIT; smaller is served first. */
  rank: number
  runAtMs: number
  /** Tries of this generation that have started. */
  attempt: number
  /** Fencing token: +1 at each claim, never reset, refunded or reused. */
  epoch: number
  /** +1 at each repair: a new life with new tries and a new deadline. */
  generation: number
  leaseUntilMs: number | null
  submittedAtMs: number
  /** No further try starts after this instant; the first one always does. */
  deadlineAtMs: number
  finishedAtMs: number | null
  /** The kind of the last error (`timeout`, `http_503`, …), never its contents; null when it was ended from outside. */
  lastError: string | null
  result: Json
  /** What the attempt under way last said of itself, or the last one did; null when nothing was said. */
  progress: Json
}

/** One try, kept for people to see. */
export interface AttemptRecord {
  generation: number
  attempt: number
  epoch: number
  worker: string
  startedAtMs: number
  endedAtMs: number | null
  outcome: AttemptOutcome | null
  error: string | null
}

/** How a try ended: as its job did, or without ending it (`retried`, `released`, `lease_expired`). */
export type AttemptOutcome =
  | 'succeeded'
  | 'superseded'
  | 'degraded'
  | 'dead'
  | 'cancelled'
  | 'retried'
  | 'released'
  | 'lease_expired'

/** The right to work on a job until `leaseUntilMs`, and to publish under `epoch`. */
export interface Claim {
  job: Job
  epoch: number
  /** When, by the store's clock: what a worker whose own clock is wrong reckons from. */
  claimedAtMs: number
}
