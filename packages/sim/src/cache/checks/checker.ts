import type { CacheCounters } from '@garner/cache'
import type { Life } from '../../world/machine.ts'
import type { Origin } from '../actors/origin.ts'
import type { Plan } from '../plan/plan.ts'
import type { Happening } from './happening.ts'

/** What a checker may look at beside what it is told. */
export interface View {
  plan: Plan
  origin: Pick<Origin, 'versionAt'>
  nowMs: () => number
  /** Says that the promise is broken, in words that name who and what. */
  broken: (story: string) => void
}

/** One promise, watched from outside: it knows what has happened and nothing of how it is done. */
export interface Checker {
  see(happening: Happening): void
  /** After each step of the world in which something has happened to a life: what that says of itself. */
  look?(life: Life, counters: CacheCounters): void
  /** After each step. */
  step?(): void
  /** Once all has healed and every reader has gone. */
  end?(): void
}

export interface NamedChecker {
  /** `C3 fleet budget`. */
  name: string
  make: (view: View) => Checker
}
