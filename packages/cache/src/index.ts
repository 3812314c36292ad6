export { AgeClock } from './age-clock.ts'
export { type BudgetCounters, OriginBudget, type OriginBudgetOptions } from './budget.ts'
export { type Answer, Cache, type CacheOptions, type GetOptions } from './cache.ts'
export { bytesCodec, type Codec, jsonCodec } from './codec.ts'
export type { CacheCounters } from './counters.ts'
export * from './errors.ts'
export type { Result } from './fill.ts'
export type { Need, Ticket } from './gate.ts'
export type { Rank } from './held-share.ts'
export type { Load, LoadContext, Loaded } from './load.ts'
export type { Ask, Capacity, Lease, Parting } from './share.ts'
export type { SharedCounters } from './shared-tier.ts'
export type {
  BudgetLedger,
  BudgetStanding,
  Listening,
  Look,
  LookRequest,
  News,
  SharedEntries,
  StoreRequest,
} from './store.ts'
