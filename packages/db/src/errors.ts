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

/**
 * Thrown by a transaction's work when what it has read was changed by somebody else before it could write: the
 * transaction is rolled back and run again, as after a deadlock. Never happens in SQLite, where nobody else writes
 * meanwhile. Lost over and over, or in a transaction that runs once, it comes out as StoreUnavailable (busy).
 */
export class LostRace extends Error {
  readonly code = 'LOST_RACE'
  constructor(over: string) {
    super(`Somebody else has changed ${over} meanwhile.`)
    this.name = 'LostRace'
  }
}

/** A text that PostgreSQL cannot hold: one with a NUL character. Nothing that is stored there can equal it either. */
export class UnstorableText extends Error {
  readonly code = 'UNSTORABLE_TEXT'
  constructor(cause: unknown) {
    super('A text with a NUL character was to be stored or looked for.', { cause })
    this.name = 'UnstorableText'
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
