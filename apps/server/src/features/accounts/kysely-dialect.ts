import { type Database, StoreUnavailable, type Transaction, type Value } from '@garner/db'
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import { authCall } from './auth-call.ts'

/**
 * Lets Better Auth work on Garner's own database: its reads go to the read side, its writes through group commit
 * like everyone's. It has no connection of its own, so it never waits for, or holds, a lock against the writer.
 *
 * Assumes that inside a transaction it awaits next to nothing but its statements (better-auth.ts hashes
 * passwords before). Cut anywhere: its transaction is a transaction of `@garner/db`, there whole or not at all.
 */
export function garnerDialect(db: Database): Dialect {
  return {
    createDriver: () => new GarnerDriver(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: () => new SqliteAdapter(),
    createIntrospector: (kysely: Kysely<unknown>) => new SqliteIntrospector(kysely),
  }
}

class GarnerDriver implements Driver {
  readonly #db: Database

  constructor(db: Database) {
    this.#db = db
  }

  async init() {}

  // A connection is only a place to keep an open transaction in, so everyone gets their own.
  async acquireConnection() {
    return new GarnerConnection(this.#db)
  }

  beginTransaction(connection: DatabaseConnection) {
    return (connection as GarnerConnection).begin()
  }

  commitTransaction(connection: DatabaseConnection) {
    return (connection as GarnerConnection).commit()
  }

  rollbackTransaction(connection: DatabaseConnection) {
    return (connection as GarnerConnection).rollback()
  }

  async releaseConnection() {}

  async destroy() {}
}

class RolledBack extends Error {}

class GarnerConnection implements DatabaseConnection {
  readonly #db: Database
  #open: { tx: Transaction; end: () => void; abandon: (why: Error) => void; done: Promise<void> } | null =
    null

  constructor(db: Database) {
    this.#db = db
  }

  executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return noting(() => {
      if (this.#open) return execute<R>(this.#open.tx, query)
      if (query.query.kind === 'SelectQueryNode') return rows<R>(this.#db.read, query)
      return this.#db.transaction((tx) => execute<R>(tx, query))
    })
  }

  // biome-ignore lint/correctness/useYield: it is part of the interface, and nothing here streams.
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('Streaming is not used by Better Auth.')
  }

  begin(): Promise<void> {
    return noting(async () => {
      const opened = Promise.withResolvers<Transaction>()
      const ended = Promise.withResolvers<void>()
      // It is led from outside, statement by statement, so it cannot be run a second time by itself.
      const work = (tx: Transaction) => {
        opened.resolve(tx)
        return ended.promise
      }
      const done = this.#db.transaction(work, { runsOnce: true })
      done.catch(opened.reject)
      const tx = await opened.promise
      this.#open = { tx, end: ended.resolve, abandon: ended.reject, done }
    })
  }

  commit(): Promise<void> {
    return noting(async () => {
      const open = this.#open!
      this.#open = null
      open.end()
      await open.done
    })
  }

  async rollback(): Promise<void> {
    const open = this.#open
    this.#open = null
    open?.abandon(new RolledBack())
    await open?.done.catch(() => {})
  }
}

async function execute<R>(tx: Transaction, query: CompiledQuery): Promise<QueryResult<R>> {
  const { query: node } = query
  const givesRows = node.kind === 'SelectQueryNode' || ('returning' in node && node.returning !== undefined)
  if (givesRows) return rows<R>(tx, query)
  const { changes } = await tx.run(query.sql, ...valuesOf(query))
  return { rows: [], numAffectedRows: BigInt(changes) }
}

async function rows<R>(on: Pick<Transaction, 'all'>, query: CompiledQuery): Promise<QueryResult<R>> {
  return { rows: await on.all<R>(query.sql, ...valuesOf(query)) }
}

function valuesOf({ parameters }: CompiledQuery): Value[] {
  return parameters as Value[]
}

/** Tells the caller of Better Auth about database trouble, which Better Auth itself would turn into a 4xx. */
async function noting<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const call = authCall.getStore()
    if (call && error instanceof StoreUnavailable) call.trouble = error
    throw error
  }
}
