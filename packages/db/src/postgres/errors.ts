import {
  ConstraintViolation,
  LostRace,
  StoreUnavailable,
  type UnavailableReason,
  UnstorableText,
} from '../errors.ts'

/** SQLSTATE codes and classes, from https://www.postgresql.org/docs/15/errcodes-appendix.html. */
const REASONS: Record<string, UnavailableReason> = {
  '08': 'missing', // connection exception
  '25006': 'readonly', // read-only transaction: a standby that is not the primary any more
  '28': 'missing', // not let in
  '3D000': 'missing', // no such database
  '40': 'busy', // deadlock or serialization failure, after some more tries
  '53': 'busy', // too many connections, out of memory
  '53100': 'full', // disk full
  '55P03': 'busy', // lock not available in time
  '57': 'missing', // shut down, crashed, or starting up
  '57014': 'busy', // canceled by statement_timeout
  '58': 'io', // a system call failed
  XX001: 'corrupt',
  XX002: 'corrupt',
}
/** What Node says of a server that cannot be reached, or went away. */
const NETWORK = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND'],
  ...['EAI_AGAIN', 'ENOENT', 'ECONNABORTED'],
])
/** What pg and its pool say, without a code. */
const LOST =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|Query read timeout|timeout)/

const RETRYABLE = new Set(['40001', '40P01'])

export function codeOf(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : undefined
}

/** A conflict with another transaction that ran at the same time: the same work may go through the next time. */
export function isConflict(error: unknown): boolean {
  return error instanceof LostRace || RETRYABLE.has(codeOf(error) ?? '')
}

/** Whether the connection is gone, so that what it was doing may or may not have been done. */
export function isLost(error: unknown): boolean {
  const code = codeOf(error)
  if (code !== undefined) return NETWORK.has(code) || code.startsWith('08') || code.startsWith('57P')
  return error instanceof Error && LOST.test(error.message)
}

/** The error as StoreUnavailable if it means that the database could not work, else undefined. */
export function unavailable(error: unknown, doing: string): StoreUnavailable | undefined {
  if (error instanceof StoreUnavailable) return error
  if (error instanceof LostRace) return new StoreUnavailable('busy', doing, error)
  const code = codeOf(error)
  const reason =
    (code !== undefined && (REASONS[code] ?? REASONS[code.slice(0, 2)])) || (isLost(error) && 'missing')
  return reason ? new StoreUnavailable(reason, doing, error) : undefined
}

/** What a statement's error means to its caller. Unknown errors pass unchanged: they are bugs. */
export function translated(error: unknown, doing: string): unknown {
  const code = codeOf(error)
  if (code?.startsWith('23')) {
    const kind = code === '23505' ? 'unique' : code === '23503' ? 'foreign-key' : 'other'
    return new ConstraintViolation(kind, error)
  }
  if (code === '22021') return new UnstorableText(error)
  return unavailable(error, doing) ?? error
}
