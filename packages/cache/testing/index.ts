export {
  type BudgetLedgerSuite,
  describeBudgetLedger,
  type LedgerUnderTest,
} from './budget-ledger.suite.ts'
export {
  describeSharedEntries,
  type EntriesUnderTest,
  type SharedEntriesSuite,
} from './shared-entries.suite.ts'
