import { ConstraintViolation, StoreUnavailable, type UnavailableReason } from '../errors.ts'

/** SQLite's primary result codes (the low byte of `errcode`), from https://www.sqlite.org/rescode.html. */
const REASONS: Record<number, UnavailableReason> = {
  5: 'busy', // SQLITE_BUSY
  6: 'busy', // SQLITE_LOCKED
  7: 'io', // SQLITE_NOMEM: like a failing disk it rolls everything back
  8: 'readonly', // SQLITE_READONLY: also when the file was moved away under us
  10: 'io', // SQLITE_IOERR
  11: 'corrupt', // SQLITE_CORRUPT
  13: 'full', // SQLITE_FULL
  14: 'missing', // SQLITE_CANTOPEN
  26: 'corrupt', // SQLITE_NOTADB
}
const CONSTRAINT = 19
const UNIQUE = 2067
const PRIMARY_KEY = 1555
const FOREIGN_KEY = 787

function errcode(error: unknown): number | undefined {
  return typeof error === 'object' &&
    error !== null &&
    'errcode' in error &&
    typeof error.errcode === 'number'
    ? error.errcode
    : undefined
}

/** The error as StoreUnavailable if it means that the database could not work, else undefined. */
export function unavailable(error: unknown, doing: string): StoreUnavailable | undefined {
  if (error instanceof StoreUnavailable) return error
  const code = errcode(error)
  const reason = code === undefined ? undefined : REASONS[code & 0xff]
  return reason && new StoreUnavailable(reason, doing, error)
}

/** What a statement's error means to its caller. Unknown errors pass unchanged: they are bugs. */
export function translated(error: unknown): unknown {
  const code = errcode(error)
  if (code !== undefined && (code & 0xff) === CONSTRAINT) {
    const kind =
      code === UNIQUE || code === PRIMARY_KEY ? 'unique' : code === FOREIGN_KEY ? 'foreign-key' : 'other'
    return new ConstraintViolation(kind, error)
  }
  return unavailable(error, 'running a statement') ?? error
}
