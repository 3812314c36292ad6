import type { Clock, Database, Queryable, ReadBounds } from '@garner/db'
import { stampOf, standingOf } from './lists.ts'

/** 5 s: a replica that is gone costs one read in that time a wait, and a replica that is back is used soon. */
const LEFT_ALONE_MS = 5_000

/**
 * A copy of the database that may lag behind, or be gone: lists are read from it as long as it has what is needed. How far
 * it is says the list's own row on it, written in the same transaction as what the list shows.
 *
 * Cut anywhere, or without the tables yet: the primary is read instead, and the replica left alone for a while.
 */
export class Replica {
  readonly #db: Pick<Database, 'readWithin'>
  readonly #clock: Clock
  #askedAgainAtMs = Number.NEGATIVE_INFINITY

  constructor(db: Pick<Database, 'readWithin'>, clock: Clock) {
    this.#db = db
    this.#clock = clock
  }

  /**
   * What `read` finds on the replica; undefined when the primary has to be asked.
   * @param minStamp what the list must have reached
   */
  async read<T>(
    { group, minStamp, bounds }: { group: string; minStamp: number; bounds: ReadBounds },
    read: (query: Queryable) => Promise<T>,
  ): Promise<T | undefined> {
    if (this.#clock.monotonicMs() < this.#askedAgainAtMs) return undefined
    try {
      return await this.#db.readWithin(bounds, async (query) => {
        if (minStamp > 0 && stampOf(await standingOf(query, group)) < minStamp) return undefined
        return read(query)
      })
    } catch {
      // Whatever it is: if it is a fault of ours, the primary says so, too.
      this.#askedAgainAtMs = this.#clock.monotonicMs() + LEFT_ALONE_MS
      return undefined
    }
  }
}
