import pg from 'pg'
import type { Clock } from '../clock.ts'
import type { Database, Queryable, Value } from '../database.ts'
import { StoreUnavailable, TransactionClosed } from '../errors.ts'
import { leftOf, type ReadBounds } from '../read-bounds.ts'
import { boundedRead } from './bounded-read.ts'
import { ask, cutOff, Statements, types } from './connection.ts'
import { isConflict, isLost, translated } from './errors.ts'
import { type Listener, listenOn } from './listen.ts'
import {
  counted,
  newSeal,
  type OwnTransaction,
  type PostgresTransaction,
  type Seal,
  transactionOn,
} from './transaction.ts'
import { IDLE_MAX_MS, type Use, Uses } from './watch.ts'

export { numbered } from './placeholders.ts'
export { TAKE_TURN } from './transaction.ts'
export type { Listener, OwnTransaction, PostgresTransaction }

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database?sslmode=…`, as pg reads it. */
  url: string
  clock: Clock
  /** Most connections at a time. Default 10. */
  connections?: number
  /**
   * The url leads to a transaction-mode pooler (pgbouncer, a cloud's proxy): each transaction may meet another server
   * process. Then statements are not prepared by name, no session is configured, and `listen` needs `listenUrl`.
   */
  isPooled?: boolean
  /** A way around the pooler for `listen`, which keeps one connection to itself. Default: `url`, unless `isPooled`. */
  listenUrl?: string
  /** How long connecting, or waiting for one of the connections, may take. Default 5_000 ms. */
  connectMs?: number
  /** A statement that takes longer, its waiting for locks included, is given up. Default 10_000 ms. */
  statementMs?: number
  /** The seam for slow and breaking connections: runs what commits. Default: just runs it. */
  aroundCommit?: <T>(effect: () => Promise<T>) => Promise<T>
}

export interface PostgresDatabase extends Database {
  readonly dialect: 'postgres'
  /** What it measures durations with. */
  readonly clock: Clock
  /** Most connections at a time. */
  readonly connections: number
  /**
   * Single statements, each a transaction by itself and durable when it resolves, in one round trip.
   * Errors: ConstraintViolation; StoreUnavailable, with reason `unanswered` when it may have been stored.
   */
  readonly autocommit: Queryable
  transaction<T>(work: (tx: OwnTransaction) => Promise<T>, options?: { runsOnce?: boolean }): Promise<T>
  /**
   * Calls `wake` when somebody has notified `channel`, and whenever the connection was lost meanwhile and is there
   * again. Null behind a pooler without `listenUrl`. Errors: StoreUnavailable.
   */
  listen(channel: string, wake: () => void): Promise<Listener | null>
}

/** 5: two transactions that meet in a deadlock go through at the second try; more is a crowd on one row. */
const TRIES_MAX = 5

/**
 * Opens PostgreSQL through a pool of connections, made as they are needed. A transaction that has resolved is as
 * durable as the server's `synchronous_commit` says (`on` by default: synced to its disk). Isolation: READ COMMITTED.
 *
 * Retries. A transaction that the server refused for a deadlock or a serialization failure is run again, unless it
 * `runsOnce`.
 * Cut while committing: the connection is lost after COMMIT was sent and before its answer came. Nobody here knows
 * whether it is stored: StoreUnavailable says `unanswered`. The caller repeats what bears repeating (an operation id, a
 * fenced publication) or looks.
 * Unlike SQLite, PostgreSQL refuses everything after a statement that failed: after a ConstraintViolation that was
 * caught, the transaction ends in that same error.
 */
export function openPostgres(options: PostgresOptions): PostgresDatabase {
  const { url, clock, connections = 10, isPooled = false, connectMs = 5_000, statementMs = 10_000 } = options
  const aroundCommit = options.aroundCommit ?? ((effect) => effect())
  const network = { connectionTimeoutMillis: connectMs, keepAlive: true, application_name: 'garner' }
  const session = {
    statement_timeout: statementMs,
    idle_in_transaction_session_timeout: 2 * IDLE_MAX_MS,
    options: '-c default_transaction_isolation=read\\ committed',
  }
  const pool = new pg.Pool({
    ...{ connectionString: url, max: connections, pipeline: true, types, ...network },
    ...(isPooled ? {} : session),
  })
  pool.on('error', () => {}) // an idle connection was lost: the pool has dropped it
  pool.on('connect', (client) => client.on('error', () => {})) // one in use: its statements fail and say so
  const statements = new Statements({ isPooled })
  // The server gives up a statement by itself; one that is gone without a word is given up a little later.
  const uses = new Uses({ clock, answerMs: statementMs + 2_000 })
  const monotonicMs = () => clock.monotonicMs()
  let isClosed = false

  async function connect(doing: string): Promise<pg.PoolClient> {
    if (isClosed) throw new StoreUnavailable('closed', doing)
    try {
      return await pool.connect()
    } catch (error) {
      throw translated(error, doing)
    }
  }

  async function single<R>(sql: string, params: Value[]): Promise<R[]> {
    const client = await connect('connecting for a statement')
    const unwatch = uses.add({
      use: { asked: 1, sinceMs: monotonicMs() },
      cutOff: () => cutOff(client),
    })
    let isBroken = false
    try {
      return (await ask<R>(client, statements.of(sql, params))).rows
    } catch (error) {
      isBroken = isLost(error)
      throw error
    } finally {
      unwatch()
      client.release(isBroken)
    }
  }

  const queryable = (query: <R>(sql: string, params: Value[]) => Promise<R[]>): Queryable => ({
    all: (sql, ...params) => query(sql, params),
    get: async <R>(sql: string, ...params: Value[]) => (await query<R>(sql, params))[0],
  })
  const read = queryable(async <R>(sql: string, params: Value[]) => {
    try {
      return await single<R>(sql, params)
    } catch (error) {
      throw translated(error, 'reading')
    }
  })
  const autocommit = queryable(async <R>(sql: string, params: Value[]) => {
    for (let tries = 1; ; tries++) {
      try {
        return await aroundCommit(() => single<R>(sql, params))
      } catch (error) {
        if (isConflict(error) && tries < TRIES_MAX) continue
        throw unanswered(error) ?? translated(error, 'running a statement')
      }
    }
  })

  async function readWithin<T>(bounds: ReadBounds, work: (query: Queryable) => Promise<T>): Promise<T> {
    const leftMs = leftOf(bounds, clock)
    const client = await connect('connecting to read')
    const use: Use = { asked: 0, sinceMs: monotonicMs() }
    const cut = () => cutOff(client)
    const unwatch = uses.add({ use, cutOff: cut, giveUp: cut })
    const query = boundedRead({
      ...{ client, statements, use, monotonicMs },
      leftMs: () => Math.min(leftMs(), statementMs),
    })
    try {
      return await work(query)
    } finally {
      // Nobody waits for the goodbye.
      const release = (isBroken: boolean) => {
        unwatch()
        client.release(isBroken)
      }
      query.end().then(
        () => release(false),
        () => release(true),
      )
    }
  }

  /** Once; what `work` or the server refused is thrown, with what the seal knows of it. */
  async function attempt<T>(seal: Seal, work: (tx: OwnTransaction) => Promise<T>): Promise<T> {
    const client = await connect('starting a transaction')
    // While it is open nothing of it is stored; from the moment that COMMIT is sent, that is not known.
    const begin = () => client.query('BEGIN ISOLATION LEVEL READ COMMITTED')
    const commit = () =>
      aroundCommit(() => counted(seal, monotonicMs, async () => (await client.query('COMMIT')).command))
    const { promise: givenUp, reject: giveUp } = Promise.withResolvers<never>()
    const unwatch = uses.add({
      use: seal,
      cutOff: () => cutOff(client),
      giveUp() {
        seal.closed = 'it was open for too long'
        giveUp(new TransactionClosed(`${seal.closed}: nothing was asked for ${IDLE_MAX_MS} ms`))
      },
    })
    /** Ends a transaction that has failed, so that its connection can be used again. */
    async function isOver(): Promise<boolean> {
      try {
        await (seal.commit ?? counted(seal, monotonicMs, () => client.query('ROLLBACK')))
        return true
      } catch {
        return false
      }
    }
    let isBroken = false
    try {
      const deps = { client, statements, begin, commit, monotonicMs }
      const value = await Promise.race([work(transactionOn(deps, seal)), givenUp])
      if (seal.failure) throw seal.failure.error
      seal.closed = 'it has ended'
      if (seal.begin) await committed(seal.commit ?? commit())
      return value
    } catch (error) {
      seal.closed ??= 'it has failed'
      const cause = causeOf(error)
      isBroken = isLost(cause) || (seal.begin !== null && !(await isOver()))
      // Lost with the statement that the commit was sent behind: both may have arrived.
      throw (seal.commit && unanswered(cause)) || error
    } finally {
      unwatch()
      // A broken connection is closed, and the server rolls back what it was in.
      client.release(isBroken)
    }
  }

  async function transaction<T>(
    work: (tx: OwnTransaction) => Promise<T>,
    { runsOnce = false }: { runsOnce?: boolean } = {},
  ): Promise<T> {
    for (let tries = 1; ; tries++) {
      const seal = newSeal(clock.monotonicMs())
      try {
        const value = await attempt(seal, work)
        for (const hook of seal.hooks) callHook(hook)
        return value
      } catch (error) {
        const first = seal.failure?.error ?? error
        if (!runsOnce && tries < TRIES_MAX && isConflict(causeOf(first))) continue
        throw translated(error, 'running a transaction')
      }
    }
  }

  return {
    dialect: 'postgres',
    clock,
    connections,
    read,
    readWithin,
    autocommit,
    transaction,
    async changeCounter() {
      // The snapshot names all transactions that it sees as ended; whatever ends changes it.
      const row = await read.get<{ n: number }>(
        "SELECT hashtextextended(pg_current_snapshot()::text, 0) & x'1fffffffffffff'::bigint AS n",
      )
      return row!.n
    },
    async listen(channel, wake) {
      const listenUrl = options.listenUrl ?? (isPooled ? undefined : url)
      if (listenUrl === undefined) return null
      return listenOn({ connectionString: listenUrl, ...network }, { channel, wake, clock })
    },
    async close() {
      if (isClosed) return
      isClosed = true
      await pool.end()
      uses.close()
    },
  }
}

/** The COMMIT of a transaction in which something had failed answers ROLLBACK instead of an error. */
async function committed(commit: Promise<string>): Promise<void> {
  let command: string
  try {
    command = await commit
  } catch (error) {
    throw unanswered(error) ?? error
  }
  if (command !== 'COMMIT') throw new StoreUnavailable('busy', 'committing a transaction that had failed')
}

/** For an answer that was lost: whether it is stored is not known. */
function unanswered(error: unknown): StoreUnavailable | undefined {
  return isLost(error) ? new StoreUnavailable('unanswered', 'committing', error) : undefined
}

function causeOf(error: unknown): unknown {
  return error instanceof StoreUnavailable ? error.cause : error
}

/** The transaction is durable: a hint that fails is worth a warning, and is nobody's failure. */
function callHook(hook: () => void): void {
  try {
    hook()
  } catch (error) {
    process.emitWarning(error as Error)
  }
}
