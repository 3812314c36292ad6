import type { AllowanceUse } from '@garner/jobs'

/**
 * A whole run as data: who is there, what is asked of them and when, and what goes wrong. `generate` makes one from a
 * seed; the same plan always gives the same run; taking commands and faults out of it (`shrink`) gives a plan too.
 * Times are true time, in ms since the world began.
 */
export interface Plan {
  seed: number
  /** Unix ms by a clock that is right. */
  startMs: number
  /** Commands and faults come before this; then all heals, and every job must end. */
  healAtMs: number
  bounds: { perTenant: number; total: number }
  latency: Latency
  hints: Hints
  workers: WorkerPlan[]
  kinds: KindPlan[]
  tenants: TenantPlan[]
  commands: Command[]
  faults: Fault[]
}

/** One way of a call or an answer, in ms; `slowMs` for one of `slowOneIn`. */
export interface Latency {
  mostMs: number
  slowMs: number
  slowOneIn: number
}

/** What becomes of each hint that something may be due (J2). Probabilities. */
export interface Hints {
  lost: number
  repeated: number
  mostDelayMs: number
}

export interface WorkerPlan {
  name: string
  slots: number
  claimMax: number
  leaseMs: number
  pollMs: number
  /** How wrong its wall clock is. ms */
  skewMs: number
}

export interface KindPlan {
  kind: string
  perKey?: number
  concurrency?: number
  spacingMs?: number
  /** Handles its jobs together, this many at most. */
  batchMax?: number
  attemptsMax: number
  deadlineMs: number
  baseMs: number
  maxMs: number
  attemptMs: number
  canDegrade: boolean
  /** Has a part that is done once, free of charge. */
  hasPart: boolean
  paid?: PaidPlan
}

export interface PaidPlan {
  use: AllowanceUse
  /** The provider tells its own id for a call, and gives the result by it. */
  canResume: boolean
  ifUnknown: 'degrade' | 'retry'
}

export interface TenantPlan {
  tenant: string
  weight: number
}

/** What a handler does in one try. */
export interface Act {
  workMs: number
  /** Goes on although it has been told to stop. */
  isDeaf: boolean
  tellsProgress: boolean
  provider: ProviderAct
  ends: ActEnd
}

/** What the provider of the paid step does with a call. */
export type ProviderAct =
  | 'answers'
  /** Does the work, bills it, and the connection is cut. */
  | 'bills-and-cuts'
  /** The connection is cut before it has seen anything; the caller cannot tell which of the two it was. */
  | 'cuts'
  /** Says that it will not, and does not bill. */
  | 'refuses'
  /** Bills, and answers when nobody waits any more. */
  | 'bills-and-dawdles'

export type ActEnd =
  | 'writes'
  | 'writes-nothing'
  | 'retry'
  | 'retry-after'
  | 'retry-uncounted'
  | 'degrade'
  | 'permanent'
  | 'bug'
  | 'store-trouble'
  | 'writing-fails'
  | 'never'

export interface NewJobPlan {
  kind: string
  tenant: string
  operation?: string
  /** Another content under the same operation. */
  isOther?: boolean
  subject?: string
  key?: string
  priority?: number
  inMs?: number
  acts: Act[]
}

export type Command = { atMs: number } & (
  | {
      do: 'submit'
      by: string
      jobs: NewJobPlan[]
      through: 'row' | 'many' | 'accept'
      isRolledBack: boolean
    }
  /** The subject's next version; its older jobs are superseded in the same transaction. */
  | { do: 'bump'; subject: string }
  | { do: 'forget'; subject: string }
  | { do: 'forget-tenant'; tenant: string }
  /** The account may not be worked for any more (J9), or may again. */
  | { do: 'revoke' | 'allow'; tenant: string }
  /** `which`: the job that was submitted as the n-th, from 0, counted round; -1 is the newest. */
  | { do: 'cancel' | 'discard'; which: number }
  | { do: 'repair'; which: number; isBounded: boolean }
  | { do: 'pause'; kind: string; forMs?: number }
  | { do: 'resume'; kind: string }
  | { do: 'weigh'; tenant: string; weight: number }
  | {
      do: 'schedule'
      name: string
      kind: string
      tenant: string
      cron: string
      missed: 'skip' | 'once' | 'all'
    }
  | { do: 'unschedule'; name: string }
  | { do: 'prune'; finishedMs: number }
  /** A worker is asked to stop, and is started again. */
  | { do: 'stop'; worker: string; graceMs: number; forMs: number }
)

/** The n-th call of a machine to the store, over all its lives; with `op`, its n-th call of that method. */
export interface Aim {
  machine: string
  call: number
  op?: string
}

/** A fault is aimed at a call, or at an instant. */
export type Fault =
  /** Cut off before the call leaves, or after it has landed and before its answer. */
  | ({ do: 'crash'; when: 'before' | 'after'; forMs: number } & Aim)
  | { do: 'crash'; machine: string; atMs: number; forMs: number }
  | ({ do: 'stall'; when: 'before' | 'after'; forMs: number } & Aim)
  | { do: 'stall'; machine: string; atMs: number; forMs: number }
  /** StoreUnavailable, and nothing has happened; or although it has. Answered after `inMs`. */
  | ({ do: 'fail'; when: 'before' | 'after'; inMs: number } & Aim)
  | ({ do: 'slow'; byMs: number } & Aim)
  /** The store is away from all. */
  | { do: 'outage'; atMs: number; forMs: number }
  /** `machine: null` is the store's own clock. */
  | { do: 'jump'; machine: string | null; atMs: number; byMs: number }

export type CallFault = Extract<Fault, { call: number }>
