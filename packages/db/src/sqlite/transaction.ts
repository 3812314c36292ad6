import type { Transaction, Value } from '../database.ts'
import { StoreUnavailable, TransactionClosed } from '../errors.ts'
import type { Seal } from './group-commit.ts'
import type { Statement, Statements } from './statements.ts'

/**
 * The statements of a SQLite transaction without a promise for each: SQLite answers at once, and a batch of a thousand
 * statements would otherwise wait for a thousand turns of the microtask queue. For stores that run on SQLite alone;
 * what is promised of them is what Transaction promises, thrown instead of rejected.
 */
export interface SyncStatements {
  all<R>(sql: string, ...params: Value[]): R[]
  get<R>(sql: string, ...params: Value[]): R | undefined
  /** Every row as an array of its columns: a fifth cheaper than objects when there are twenty columns. */
  rows<R extends unknown[]>(sql: string, ...params: Value[]): R[]
  run(sql: string, ...params: Value[]): { changes: number }
}

/** The statements of `tx` without promises. Errors: TypeError when it is not a transaction of `openSqlite`. */
export function syncOf(tx: Transaction): SyncStatements {
  if (tx instanceof SqliteTransaction) return tx.sync
  throw new TypeError('Not a transaction of openSqlite: its statements cannot be run without promises.')
}

export class SqliteTransaction implements Transaction {
  readonly sync: SyncStatements
  readonly #seal: Seal

  constructor(statements: Statements, seal: Seal) {
    this.sync = new Guarded(statements, seal)
    this.#seal = seal
  }

  async all<R>(sql: string, ...params: Value[]): Promise<R[]> {
    return this.sync.all(sql, ...params)
  }

  async get<R>(sql: string, ...params: Value[]): Promise<R | undefined> {
    return this.sync.get(sql, ...params)
  }

  async run(sql: string, ...params: Value[]): Promise<{ changes: number }> {
    return this.sync.run(sql, ...params)
  }

  afterCommit(then: () => void): void {
    this.#seal.hooks.push(then)
  }
}

/**
 * Statements as long as the transaction may run them. After a full or failing disk SQLite has rolled everything back,
 * and a further statement would be committed by itself: whoever catches the error and goes on must not get that far.
 */
class Guarded implements SyncStatements {
  readonly #statements: Statements
  readonly #seal: Seal

  constructor(statements: Statements, seal: Seal) {
    this.#statements = statements
    this.#seal = seal
  }

  all<R>(sql: string, ...params: Value[]): R[] {
    return this.#guarded(sql, (statement) => statement.all<R>(params))
  }

  get<R>(sql: string, ...params: Value[]): R | undefined {
    return this.#guarded(sql, (statement) => statement.get<R>(params))
  }

  rows<R extends unknown[]>(sql: string, ...params: Value[]): R[] {
    return this.#guarded(sql, (statement) => statement.rows<R>(params))
  }

  run(sql: string, ...params: Value[]): { changes: number } {
    return this.#guarded(sql, (statement) => statement.run(params))
  }

  #guarded<T>(sql: string, use: (statement: Statement) => T): T {
    const seal = this.#seal
    if (seal.closed) throw new TransactionClosed(seal.closed)
    if (seal.failed) throw seal.failed
    try {
      const statement = this.#statements.of(sql)
      if (!statement.onlyReads) seal.hasWritten = true
      return use(statement)
    } catch (error) {
      if (error instanceof StoreUnavailable) seal.failed = error
      throw error
    }
  }
}
