import type { ReadBounds } from './read-bounds.ts'

/**
 * One SQL surface over two databases. SQL is written with `?` placeholders in both dialects; where a statement
 * must differ, the caller keeps one constant per dialect.
 */
export type Value = string | number | bigint | null | Uint8Array
export type Row = Record<string, unknown>

/** Somewhere statements can be run: a transaction, or the read side. */
export interface Queryable {
  /** Every row. Column names are as in the SQL; booleans come back as 0 and 1 in SQLite. */
  all<R = Row>(sql: string, ...params: Value[]): Promise<R[]>
  /** The first row, or undefined. */
  get<R = Row>(sql: string, ...params: Value[]): Promise<R | undefined>
}

export interface Transaction extends Queryable {
  /**
   * Runs a statement that returns no rows.
   * Errors: ConstraintViolation; StoreUnavailable (the whole transaction is then rolled back).
   */
  run(sql: string, ...params: Value[]): Promise<{ changes: number }>
  /**
   * Waits until no other open transaction has this turn, and has it until it ends: what it looks for from now on,
   * nobody of the same name adds or takes away meanwhile. For what no unique key can say. At once in SQLite, where
   * transactions run one after the other anyway.
   * Whoever takes several takes them in a fixed order; else two wait for each other, and one of them is run again.
   * Errors: StoreUnavailable (busy) when the turn does not come.
   */
  takeTurn(name: string): Promise<void>
  /** Calls `then` once the transaction is durable; never if it is rolled back. For hints, not for work. */
  afterCommit(then: () => void): void
}

export interface Database {
  readonly dialect: 'sqlite' | 'postgres'
  /**
   * Committed rows only. Each call sees every commit of this process, and those of other processes that were
   * there when the running callback of the event loop began.
   */
  readonly read: Queryable
  /**
   * Runs `work` with the read side for an answer that nobody waits for any more after `maxMs`: no read is begun from then
   * on, and one that is under way is ended by the server itself, whatever becomes of this process. In SQLite a read ends
   * in the callback that it was asked in, so it is not interrupted.
   * `work` must await nothing but its own reads, one after the other: it may have a connection to itself.
   * Errors: StoreUnavailable (busy) when the time is over; the signal's reason.
   */
  readWithin<T>(bounds: ReadBounds, work: (query: Queryable) => Promise<T>): Promise<T>
  /**
   * Runs `work` in one transaction and resolves when it is committed AND synced to disk.
   *
   * If `work` rejects, nothing of it is stored and the rejection is passed on. Others' transactions are not
   * touched by it. `work` must await nothing but its own statements: others wait while it is open, and one held
   * open for more than a few seconds is rolled back (TransactionClosed). It may be run more than once, and only
   * its last run counts: what it changes outside `tx` must bear repeating. Where it cannot, say `runsOnce`.
   * Errors: StoreUnavailable (busy, missing file, disk trouble): nothing was stored.
   * If the process dies before this resolves, the transaction is there whole or not at all.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>, options?: { runsOnce?: boolean }): Promise<T>
  /**
   * A number that changes when anyone, in any process, has committed. For noticing, not for ordering.
   * Errors: StoreUnavailable.
   */
  changeCounter(): Promise<number>
  /** Waits for transactions under way, then closes. */
  close(): Promise<void>
}

/**
 * Points where tests and drills may break things: `around(point, effect)` may refuse to run the effect, run it
 * late, or run it and then say that it failed. The default runs it.
 */
export type Around = <T>(point: string, effect: () => T | Promise<T>) => Promise<T>
