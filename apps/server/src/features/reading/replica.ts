import type { Clock, Queryable } from '@garner/db'
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
  readonly #query: Queryable
  readonly #clock: Clock
  #askedAgainAtMs = Number.NEGATIVE_INFINITY

  constructor(query: Queryable, clock: Clock) {
    this.#query = query
    this.#clock = clock
  }

  /**
   * What `read` finds on the replica; undefined when the primary has to be asked.
   * @param minStamp what the list must have reached
   */
  async read<T>(
    { group, minStamp }: { group: string; minStamp: number },
    read: (query: Queryable) => Promise<T>,
  ): Promise<T | undefined> {
    if (this.#clock.monotonicMs() < this.#askedAgainAtMs) return undefined
    try {
      if (minStamp > 0 && stampOf(await standingOf(this.#query, group)) < minStamp) return undefined
      return await read(this.#query)
    } catch {
      // Whatever it is: if it is a fault of ours, the primary says so, too.
      this.#askedAgainAtMs = this.#clock.monotonicMs() + LEFT_ALONE_MS
      return undefined
    }
  }
}
