export { SchemaMismatch, StoreUnavailable } from '@garner/db'

/** Why the budget refused: no share is held; the share is used up; too many wait already; it took too long. */
export type SpentReason = 'no-share' | 'spent' | 'crowded' | 'late'

/**
 * The origin may not be asked now, and there is no copy that is young enough. Nothing was read. HTTP: 503 with
 * Retry-After.
 */
export class BudgetSpent extends Error {
  readonly code = 'BUDGET_SPENT'
  readonly reason: SpentReason
  /** When it is worth asking again; an estimate. */
  readonly retryAfterMs: number
  constructor(reason: SpentReason, retryAfterMs: number) {
    super(`The origin's budget is spent (${reason}); try again in ${retryAfterMs} ms.`)
    this.name = 'BudgetSpent'
    this.reason = reason
    this.retryAfterMs = retryAfterMs
  }
}

/** The read of the origin has begun and is not through within the reader's wait. It goes on. HTTP: 503. */
export class LoadLate extends Error {
  readonly code = 'LOAD_LATE'
  readonly retryAfterMs: number
  constructor(waitedMs: number, retryAfterMs: number) {
    super(`The origin has not answered within ${waitedMs} ms; try again in ${retryAfterMs} ms.`)
    this.name = 'LoadLate'
    this.retryAfterMs = retryAfterMs
  }
}

/** The read of the origin did not end within its own deadline: its signal was aborted. HTTP: 503. */
export class LoadTimedOut extends Error {
  readonly code = 'LOAD_TIMED_OUT'
  readonly retryAfterMs: number
  constructor(loadMs: number, retryAfterMs: number) {
    super(`The origin did not answer within ${loadMs} ms and was given up; try again in ${retryAfterMs} ms.`)
    this.name = 'LoadTimedOut'
    this.retryAfterMs = retryAfterMs
  }
}

/** The origin answered something older than the reader must see: a replica that lags. HTTP: 503. */
export class VersionBehind extends Error {
  readonly code = 'VERSION_BEHIND'
  readonly wanted: number
  readonly found: number
  readonly retryAfterMs: number
  constructor({ wanted, found, retryAfterMs }: { wanted: number; found: number; retryAfterMs: number }) {
    super(
      `The origin answered version ${found}, version ${wanted} is needed; try again in ${retryAfterMs} ms.`,
    )
    this.name = 'VersionBehind'
    this.wanted = wanted
    this.found = found
    this.retryAfterMs = retryAfterMs
  }
}

/** The budget is not in the ledger: `configure` was never called on it. */
export class UnknownBudget extends Error {
  readonly code = 'UNKNOWN_BUDGET'
  constructor(budget: string) {
    super(`The ledger has no budget ${budget}; configure it first.`)
    this.name = 'UnknownBudget'
  }
}
