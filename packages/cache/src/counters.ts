import type { BudgetCounters } from './budget.ts'
import type { Result } from './fill.ts'
import type { SharedCounters } from './shared-tier.ts'

/**
 * Plain numbers, since the start. At any moment
 * `offered = hit + coalesced + origin + stale + rejected + inFlight`, and
 * `rejected = refused + late + failed + abandoned`.
 */
export interface CacheCounters {
  offered: number
  hit: number
  coalesced: number
  origin: number
  stale: number
  rejected: number
  inFlight: number
  /** Of the rejected: the budget said no; it took too long; the load failed; the reader went away. */
  refused: number
  late: number
  failed: number
  abandoned: number
  /** Times that the origin was asked, by readers and refreshes; of these, failed. */
  loads: number
  loadsFailed: number
  /** Refreshes that were due and were refused or failed. */
  refreshesShed: number
  memory: { entries: number; bytes: number }
  /** null where there is no shared cache. */
  shared: SharedCounters | null
  budget: BudgetCounters
}

type Rejection = 'refused' | 'late' | 'failed' | 'abandoned'

/** Counts every read once when it comes and once when it goes. */
export class Reads {
  readonly #ends = { hit: 0, coalesced: 0, origin: 0, stale: 0 }
  readonly #rejections = { refused: 0, late: 0, failed: 0, abandoned: 0 }
  #offered = 0
  #rejected = 0
  #inFlight = 0
  loads = 0
  loadsFailed = 0
  refreshesShed = 0

  get inFlight(): number {
    return this.#inFlight
  }

  /** Came and went in the same moment. */
  served(result: Result): void {
    this.#offered++
    this.#ends[result]++
  }

  turnedAway(): void {
    this.#offered++
    this.#rejected++
    this.#rejections.refused++
  }

  came(): void {
    this.#offered++
    this.#inFlight++
  }

  ended(result: Result): void {
    this.#inFlight--
    this.#ends[result]++
  }

  rejected(why: Rejection): void {
    this.#inFlight--
    this.#rejected++
    this.#rejections[why]++
  }

  counters(): Omit<CacheCounters, 'memory' | 'shared' | 'budget'> {
    return {
      offered: this.#offered,
      ...this.#ends,
      rejected: this.#rejected,
      inFlight: this.#inFlight,
      ...this.#rejections,
      loads: this.loads,
      loadsFailed: this.loadsFailed,
      refreshesShed: this.refreshesShed,
    }
  }
}
