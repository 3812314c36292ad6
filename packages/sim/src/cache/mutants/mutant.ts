import type {
  BudgetLedger,
  Cache,
  CacheOptions,
  Lease,
  Load,
  OriginBudget,
  OriginBudgetOptions,
  SharedEntries,
} from '@garner/cache'
import type { Mutant as AnyMutant } from '../../simulation.ts'
import type { Body } from '../checks/happening.ts'

/** What is taken out of a run's stores, surroundings or callers. The library's files stay as they are. */
export interface Mutation {
  /** The methods of the ledger that differ; they may ask the honest ones. */
  ledger?: (honest: BudgetLedger) => Partial<BudgetLedger>
  /** What a holder takes the ledger's answer for. */
  hears?: ((lease: Lease, at: { sentMs: number; nowMs: number }) => Lease) | undefined
  /** The methods of the shared cache that differ. */
  entries?: ((honest: SharedEntries) => Partial<SharedEntries>) | undefined
  budget?: (options: OriginBudgetOptions) => OriginBudget
  cache?: (options: CacheOptions<Body>) => Cache<Body>
  load?: (honest: Load<Body>) => Load<Body>
}

/** One guard less. It says whether the checkers are any good. */
export type Mutant = AnyMutant<Mutation>
