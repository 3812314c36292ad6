export { createMemoryEntries } from './entries.ts'
export { createMemoryLedger } from './ledger.ts'
