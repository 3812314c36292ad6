import type pg from 'pg'
import type { Transaction, Value } from '../database.ts'
import { TransactionClosed } from '../errors.ts'
import { type Answer, ask, holdBack, type Statements } from './connection.ts'
import { translated } from './errors.ts'
import type { Use } from './watch.ts'

/** A transaction on PostgreSQL, with its connection for query builders. */
export interface PostgresTransaction extends Transaction {
  /**
   * The connection it runs on, for query builders (Kysely, Drizzle) in the caller's own code. Whatever is asked of it
   * is part of the transaction, and it must not be ended there; its `release` does nothing. Refuses with
   * TransactionClosed once the transaction has ended.
   */
  readonly client: pg.PoolClient
}

/** The same for whoever opened it, with control of what is sent when. */
export interface OwnTransaction extends PostgresTransaction {
  /**
   * Runs a statement and sends the commit right behind it, without waiting in between: for the last one, when nothing
   * that it may answer would change the caller's mind. If it fails, so does the commit, and nothing is stored.
   */
  last<R>(sql: string, ...params: Value[]): Promise<R[]>
  /** Keeps what is asked from being sent until what this answers is called: many statements then go out together. */
  hold(): () => void
}

/** Ends with the transaction. Two names of one hash share a turn, which costs them a wait and nothing else. */
export const TAKE_TURN = 'SELECT pg_advisory_xact_lock(hashtextextended(?, 0))'

/** What a transaction and its owner know of each other. */
export interface Seal extends Use {
  /** Why it may not be used any more. */
  closed: string | null
  /** The first statement that failed: PostgreSQL refuses all others from then on. */
  failure: { error: unknown } | null
  begin: Promise<unknown> | null
  commit: Promise<string> | null
  hooks: (() => void)[]
}

export interface TransactionDeps {
  client: pg.ClientBase
  statements: Statements
  monotonicMs: () => number
  /** Sends BEGIN; called before the first statement. */
  begin: () => Promise<unknown>
  /** Sends COMMIT and answers what the server made of it. */
  commit: () => Promise<string>
}

export function newSeal(nowMs: number): Seal {
  return {
    ...{ closed: null, failure: null, asked: 0, sinceMs: nowMs },
    ...{ begin: null, commit: null, hooks: [] },
  }
}

/** Something that is asked of the connection, and answered. */
export async function counted<T>(use: Use, monotonicMs: () => number, send: () => Promise<T>): Promise<T> {
  if (use.asked++ === 0) use.sinceMs = monotonicMs()
  try {
    return await send()
  } finally {
    use.asked--
    use.sinceMs = monotonicMs()
  }
}

export function transactionOn(deps: TransactionDeps, seal: Seal): OwnTransaction {
  const { client, statements, monotonicMs } = deps

  /** One statement of the transaction. BEGIN goes out with the first one and is not waited for by itself. */
  async function guarded<T>(send: () => Promise<T>): Promise<T> {
    if (seal.closed !== null) throw new TransactionClosed(seal.closed)
    // PostgreSQL refuses whatever follows, with words that hide what went wrong first.
    if (seal.failure) throw seal.failure.error
    if (!seal.begin) {
      seal.begin = deps.begin()
      seal.begin.catch(() => {}) // the statement behind it fails as well, and says so
    }
    try {
      return await counted(seal, monotonicMs, send)
    } catch (error) {
      seal.failure ??= { error: translated(error, 'running a statement') }
      throw seal.failure.error
    }
  }
  const run = <R>(sql: string, params: Value[]): Promise<Answer<R>> =>
    guarded(() => ask<R>(client, statements.of(sql, params)))

  return {
    client: guardedClient(client, guarded),
    all: async <R>(sql: string, ...params: Value[]) => (await run<R>(sql, params)).rows,
    get: async <R>(sql: string, ...params: Value[]) => (await run<R>(sql, params)).rows[0],
    run: async (sql, ...params) => ({ changes: (await run(sql, params)).changes }),
    async takeTurn(name) {
      await run(TAKE_TURN, [name])
    },
    async last<R>(sql: string, ...params: Value[]) {
      const answer = run<R>(sql, params)
      seal.closed = 'it is being committed'
      seal.commit = deps.commit()
      seal.commit.catch(() => {}) // awaited by the owner, once the work has ended
      return (await answer).rows
    },
    hold: () => holdBack(client),
    afterCommit(then) {
      if (seal.closed !== null) throw new TransactionClosed(seal.closed)
      seal.hooks.push(then)
    },
  }
}

/** The connection itself, except that its queries are statements of the transaction, and that it stays where it is. */
function guardedClient(
  client: pg.ClientBase,
  guarded: <T>(send: () => Promise<T>) => Promise<T>,
): pg.PoolClient {
  const query = (config: pg.QueryConfig, values?: unknown[]) => guarded(() => client.query(config, values))
  const stay = { value: () => {} }
  return Object.create(client, { query: { value: query }, release: stay, end: stay }) as pg.PoolClient
}
