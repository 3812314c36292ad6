import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { StoreUnavailable } from '../errors.ts'

/** 500: lists with a varying number of placeholders would otherwise grow the map without end. */
const KEPT_MAX = 500
/** What surely writes nothing; anything else counts as if it had (`INSERT … RETURNING` is read with `get`, too). */
const ONLY_READS = /^\s*SELECT\b/i

/** Prepared statements by their text. SQL is constant text in this code base, so the map stays small. */
export class Statements {
  readonly #db: DatabaseSync
  readonly #kept = new Map<string, Statement>()

  constructor(db: DatabaseSync) {
    this.#db = db
  }

  /** Errors: StoreUnavailable when the database was closed; SQLite's own for SQL that is none. */
  of(sql: string): Statement {
    if (!this.#db.isOpen) throw new StoreUnavailable('closed', 'preparing a statement')
    let statement = this.#kept.get(sql)
    if (!statement) {
      statement = new Statement(this.#db, sql)
      if (this.#kept.size >= KEPT_MAX) this.#kept.delete(this.#kept.keys().next().value!)
      this.#kept.set(sql, statement)
    }
    return statement
  }
}

/** One statement. Its errors are SQLite's own: what they mean is `translated`'s to say. */
export class Statement {
  readonly onlyReads: boolean
  readonly #db: DatabaseSync
  readonly #sql: string
  #asObjects: StatementSync | undefined
  #asArrays: StatementSync | undefined

  constructor(db: DatabaseSync, sql: string) {
    this.#db = db
    this.#sql = sql
    this.onlyReads = ONLY_READS.test(sql)
  }

  /** As it is prepared. */
  get objects(): StatementSync {
    this.#asObjects ??= this.#db.prepare(this.#sql)
    return this.#asObjects
  }

  /** Prepared apart: whether rows come as objects or as arrays belongs to the prepared statement. */
  get arrays(): StatementSync {
    if (!this.#asArrays) {
      this.#asArrays = this.#db.prepare(this.#sql)
      this.#asArrays.setReturnArrays(true)
    }
    return this.#asArrays
  }
}
