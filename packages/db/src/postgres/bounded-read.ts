import type pg from 'pg'
import type { Queryable, Value } from '../database.ts'
import { ask, type Statements } from './connection.ts'
import { translated } from './errors.ts'
import { counted } from './transaction.ts'
import type { Use } from './watch.ts'

/**
 * Reads whose end the server itself sees to, for whom nobody may wait any more: each statement is told how much of the time
 * is left. By the statement's own timeout and not by a cancellation that is sent when the time is over: this process may be
 * stopped or cut off by then, and what it began would go on.
 *
 * In a transaction, since a timeout that is set outside of one would stay with the connection, and behind a pooler with
 * somebody else's. It holds no locks that a writer would wait for.
 * Cut anywhere: the server ends the statement by its timeout, and the transaction with the connection.
 */
export interface BoundedRead extends Queryable {
  /** Ends the transaction, if one was begun. Errors: whatever the connection has; it is not to be used any more. */
  end(): Promise<void>
}

/**
 * 200 ms: told anew once so much has passed since it was told last. A statement then ends so much late at the most; told
 * before each, it would be twice as many statements.
 */
const TELL_EVERY_MS = 200

export interface BoundedReadDeps {
  client: pg.ClientBase
  statements: Statements
  use: Use
  monotonicMs: () => number
  /** What is left now, more than 0; throws when nothing is. */
  leftMs: () => number
}

export function boundedRead({ client, statements, use, monotonicMs, leftMs }: BoundedReadDeps): BoundedRead {
  let toldMs: number | null = null
  let failure: unknown = null

  /** Goes out with the statement behind it, which fails as well if this does. */
  function tell(ms: number): void {
    const begin = toldMs === null ? 'BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY; ' : ''
    client.query(`${begin}SET LOCAL statement_timeout = ${Math.ceil(ms)}`).catch(() => {})
    toldMs = ms
  }

  async function all<R>(sql: string, params: Value[]): Promise<R[]> {
    const ms = leftMs()
    if (toldMs === null || toldMs - ms >= TELL_EVERY_MS) tell(ms)
    try {
      const answer = await counted(use, monotonicMs, () => ask<R>(client, statements.of(sql, params)))
      return answer.rows
    } catch (error) {
      // PostgreSQL refuses whatever follows, with words that hide what went wrong first.
      failure ??= translated(error, 'reading')
      throw failure
    }
  }
  return {
    all: (sql, ...params) => all(sql, params),
    get: async <R>(sql: string, ...params: Value[]) => (await all<R>(sql, params))[0],
    async end() {
      // Of a transaction in which something has failed it is a ROLLBACK.
      if (toldMs !== null) await counted(use, monotonicMs, () => client.query('COMMIT'))
    },
  }
}
