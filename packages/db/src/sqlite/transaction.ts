import type { Transaction, Value } from '../database.ts'
import { StoreUnavailable, TransactionClosed } from '../errors.ts'
import { translated } from './errors.ts'
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

  async takeTurn(): Promise<void> {}

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
    try {
      return this.#statement(sql).objects.all(...params) as R[]
    } catch (error) {
      throw this.#meant(error)
    }
  }

  get<R>(sql: string, ...params: Value[]): R | undefined {
    try {
      return this.#statement(sql).objects.get(...params) as R | undefined
    } catch (error) {
      throw this.#meant(error)
    }
  }

  rows<R extends unknown[]>(sql: string, ...params: Value[]): R[] {
    try {
      return this.#statement(sql).arrays.all(...params) as unknown as R[]
    } catch (error) {
      throw this.#meant(error)
    }
  }

  run(sql: string, ...params: Value[]): { changes: number } {
    try {
      return this.#statement(sql).objects.run(...params) as { changes: number }
    } catch (error) {
      throw this.#meant(error)
    }
  }

  #statement(sql: string): Statement {
    const seal = this.#seal
    if (seal.closed) throw new TransactionClosed(seal.closed)
    if (seal.failed) throw seal.failed
    const statement = this.#statements.of(sql)
    if (!statement.onlyReads) seal.hasWritten = true
    return statement
  }

  #meant(error: unknown): unknown {
    const meant = translated(error)
    if (meant instanceof StoreUnavailable) this.#seal.failed = meant
    return meant
  }
}
