import type { Bounds, JobStore } from '@garner/jobs'
import type { MemoryTransaction } from '@garner/jobs/memory'
import type { Plan } from '../plan/plan.ts'
import type { Mutant as AnyMutant } from '../simulation.ts'
import type { StoreClock } from '../store/server.ts'

export type Store = JobStore<MemoryTransaction>

/** What is taken out of a run's store or surroundings. The library's files stay as they are. */
export interface Mutation {
  bounds?: Bounds
  plan?: (plan: Plan) => Plan
  /** The methods that differ; they may ask the honest ones. */
  store?: (honest: Store, clock: StoreClock) => Partial<Store>
  /** What a process is told of an answer, where that differs. */
  hears?: ((op: string, answer: unknown) => unknown) | undefined
  /** Handlers ask once whether an account may be worked for, and remember it. */
  remembersAccounts?: true
}

/** One guard less. It says whether the checkers are any good. */
export type Mutant = AnyMutant<Mutation>
