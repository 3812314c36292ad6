import type { Capacity } from '@garner/cache'

/**
 * A whole run as data: which instances there are, who reads and saves what and when, and what goes wrong. `generate`
 * makes one from a seed; the same plan always gives the same run; taking commands, faults and instances out of it
 * (`shrink`) gives a plan too. Times are true time, in ms since the world began.
 */
export interface Plan {
  seed: number
  /** Unix ms by a clock that is right. */
  startMs: number
  /** Commands and faults begin before this; then all heals, and the budget must be usable where the demand is. */
  healAtMs: number
  capacity: Capacity
  rules: Rules
  hasShared: boolean
  /** How far the replica is behind when nothing is wrong. ms */
  lagMs: number
  ledger: Latency
  instances: InstancePlan[]
  commands: Command[]
  faults: Fault[]
}

export interface Rules {
  freshMs: number
  maxAgeMs: number
  waitMs: number
  loadMs: number
}

/** One way to the ledger or back, in ms; `slowMs` for one of `slowOneIn`. Later calls overtake slow ones. */
export interface Latency {
  mostMs: number
  slowMs: number
  slowOneIn: number
}

export interface InstancePlan {
  name: string
  startAtMs: number
  /** How wrong its wall clock is. ms */
  skewMs: number
  /** By how much its monotonic clock is too fast, in millionths. */
  driftPpm: number
}

/** `id`: what its chance belongs to, whatever else is taken out of the plan. `at`: an instance. */
export type Command = { id: string; atMs: number; at: string } & (
  | { do: 'read'; key: string; count: number; overMs: number; isFickle: boolean }
  /** Each of another key, so that each is a miss. */
  | { do: 'flood'; count: number; overMs: number }
  /** `readers`: where its writer reads it next, and how soon. `isTold` false: nobody lives to invalidate it. */
  | { do: 'save'; key: string; readers: string[]; withinMs: number; isTold: boolean }
  | { do: 'forget'; key: string }
  /** The instance is asked to stop, and is started again. */
  | { do: 'stop'; forMs: number }
)

export type Fault =
  /** SIGSTOP: its clocks go on. */
  | { do: 'stall'; machine: string; atMs: number; forMs: number }
  /** The same, in the moment in which the machine's n-th origin read has its place in the budget, and is not sent. */
  | { do: 'catch'; machine: string; call: number; forMs: number }
  /** Its monotonic clock stands still with it. */
  | { do: 'suspend'; machine: string; atMs: number; forMs: number }
  | { do: 'crash'; machine: string; atMs: number; forMs: number }
  /** `machine: null` is the database's clock. */
  | { do: 'jump'; machine: string | null; atMs: number; byMs: number }
  /** One instance's asks fail, before the ledger has heard them or after. */
  | { do: 'cut'; machine: string; atMs: number; forMs: number; when: 'before' | 'after' }
  /** All answers to one instance come late. */
  | { do: 'late'; machine: string; atMs: number; forMs: number; byMs: number }
  /** The n-th ask of a machine: its answer is lost, or comes late. */
  | { do: 'lose' | 'delay'; machine: string; call: number; byMs: number }
  /** Another database takes over, which may miss what the last one lent. */
  | { do: 'failover'; atMs: number }
  | { do: 'shared'; is: SharedTrouble; atMs: number; forMs: number }
  | { do: 'origin'; is: 'slow' | 'failing'; atMs: number; forMs: number }
  /** The replica falls behind by this much more. */
  | { do: 'lag'; atMs: number; forMs: number; byMs: number }

/** `emptied`: it is killed and comes back without its copies, and without knowing which versions exist. */
export type SharedTrouble = 'down' | 'slow' | 'emptied' | 'poisoned' | 'silent'
