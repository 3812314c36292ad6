/** Why the database could not do what was asked. Safe to log: never holds SQL parameters. */
export type UnavailableReason =
  | 'busy'
  | 'missing'
  | 'io'
  | 'full'
  | 'readonly'
  | 'corrupt'
  | 'closed'
  | 'unanswered'
  | 'injected'

/**
 * The database did not take the work: nothing of it is stored, and the same call may be made again. Except when the
 * reason is `unanswered`: the connection was lost after the commit was sent, and nobody here knows whether it is stored.
 * Whoever runs a loop waits; whoever answers a person says 503 and claims no success.
 */
export class StoreUnavailable extends Error {
  readonly code = 'STORE_UNAVAILABLE'
  readonly reason: UnavailableReason
  constructor(reason: UnavailableReason, doing: string, cause?: unknown) {
    const fate = reason === 'unanswered' ? 'it may have been stored' : 'nothing was stored, try again'
    super(`The database is unavailable (${reason}) while ${doing}; ${fate}.`, { cause })
    this.name = 'StoreUnavailable'
    this.reason = reason
  }
}

/** The files on disk and the program disagree about migrations: an operator has to act, the program stops. */
export class SchemaMismatch extends Error {
  readonly code = 'SCHEMA_MISMATCH'
  constructor(message: string) {
    super(message)
    this.name = 'SchemaMismatch'
  }
}

/** A transaction was used after it ended, or held open longer than it may. A bug in the caller. */
export class TransactionClosed extends Error {
  readonly code = 'TRANSACTION_CLOSED'
  constructor(why: string) {
    super(`The transaction is closed: ${why}.`)
    this.name = 'TransactionClosed'
  }
}

/** The row breaks a UNIQUE, FOREIGN KEY, NOT NULL or CHECK rule of the schema. */
export class ConstraintViolation extends Error {
  readonly code = 'CONSTRAINT_VIOLATION'
  readonly kind: 'unique' | 'foreign-key' | 'other'
  constructor(kind: 'unique' | 'foreign-key' | 'other', cause: unknown) {
    super(`A ${kind} constraint refused the row.`, { cause })
    this.name = 'ConstraintViolation'
    this.kind = kind
  }
}
