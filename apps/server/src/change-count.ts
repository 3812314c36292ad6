import type { Database } from '@garner/db'

/**
 * Whether anyone, in any process, has committed something since: a number to compare. On SQLite alone, where it costs
 * some microseconds; on PostgreSQL, where it would be a round trip per question, there is none, and messages tell.
 *
 * Asked once for all who ask in one callback of the event loop, as SQLite's snapshot is (packages/db): the next callback
 * may answer a person who has been told of a commit meanwhile.
 */
export class ChangeCount {
  readonly #db: Database
  #asked: Promise<number> | null = null

  constructor(db: Database) {
    this.#db = db
  }

  /** null where there is none. Errors: StoreUnavailable. */
  now(): Promise<number> | null {
    if (this.#db.dialect !== 'sqlite') return null
    if (this.#asked) return this.#asked
    this.#asked = this.#db.changeCounter()
    // After all promises that are ready by then, those that follow from this one included.
    queueMicrotask(() => process.nextTick(this.#forget))
    return this.#asked
  }

  readonly #forget = (): void => {
    this.#asked = null
  }
}
