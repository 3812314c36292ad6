import type { Answer, Ask, Lease, Look } from '@garner/cache'
import type { Life } from '../../world/machine.ts'

/** What the origin answers: the truth about itself, so that a checker need not believe what a cache says of it. */
export interface Body {
  key: string
  version: number
  /** True time before the origin was asked. */
  askedAtMs: number
}

/** One call of `get`. */
export interface Read {
  id: number
  life: Life
  key: string
  minVersion: number
  beganMs: number
  /** How long its life had lived without standing still. */
  beganActiveMs: number
}

/** One call of a `load`: a read of the origin. */
export interface OriginRead {
  id: number
  life: Life
  key: string
  /** What it has to reach. */
  floor: number
  beganMs: number
  /** It has been told to stop: nobody waits for it any more. */
  isGivenUp: () => boolean
  /** Sent when its process went on after a stop, in which its place in the budget may have run out. */
  isSentLate: boolean
}

/** What can be seen of a fleet from outside, in the order in which it happened. Checkers know nothing else. */
export type Happening =
  | { what: 'began'; read: Read }
  /** `error` null: an answer. `isAway`: the reader went away. */
  | { what: 'ended'; read: Read; answer: Answer<Body> | null; error: unknown; isAway: boolean }
  | { what: 'saved'; key: string; version: number }
  /** `invalidate` (or, `isForgotten`, `forget`) has been called. */
  | { what: 'told'; life: Life; key: string; version: number; isForgotten: boolean }
  /** The ledger has lent; `reserved`: what counts against the capacity since. */
  | { what: 'lent'; life: Life; ask: Ask; lease: Lease; reserved: { rate: number; concurrency: number } }
  /** The holder has heard it; `sentMs`: when it had asked. `lease`: as the ledger said it. */
  | { what: 'heard'; life: Life; lease: Lease; sentMs: number }
  | { what: 'loading' | 'met' | 'left' | 'loaded'; load: OriginRead }
  | { what: 'looked'; life: Life; key: string; floor: number; token: string; look: Look }
  | { what: 'stored' | 'released'; life: Life; key: string; token: string }
  /** The life has heard an answer of the shared cache. */
  | { what: 'answered'; life: Life }
  /** The shared cache has heard it. */
  | { what: 'outdated' | 'forgotten'; key: string; version: number }
  | { what: 'emptied' }
  | { what: 'started' | 'stopping' | 'died' | 'stalled'; life: Life }
