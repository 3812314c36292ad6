import type { Clock } from '@garner/db'
import { Ring } from './ring.ts'

interface Entry {
  atMs: number
  isOver: () => void
}

/**
 * What must be over by when, with one sleep for all of it. Entries of one duration end in the order they were
 * added, so each duration is a queue and the earliest of all is found without a sort.
 */
export class Deadlines {
  readonly #clock: Clock
  /** By duration in ms; there are as many as there are kinds, at most. */
  readonly #queues = new Map<number, Ring<Entry>>()
  #size = 0
  #isWatching = false
  #untilMs = Number.POSITIVE_INFINITY
  #wake = new AbortController()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Calls `isOver` after `ms`, unless what this answers is called first. */
  add(ms: number, isOver: () => void): () => void {
    let queue = this.#queues.get(ms)
    if (!queue) {
      queue = new Ring()
      this.#queues.set(ms, queue)
    }
    const entry: Entry = { atMs: this.#clock.monotonicMs() + ms, isOver }
    const place = queue.add(entry)
    this.#size++
    if (!this.#isWatching) void this.#watch()
    else if (entry.atMs < this.#untilMs) this.#wake.abort('earlier')
    return () => {
      if (!place.leave()) return
      this.#size--
      if (this.#size === 0) this.#wake.abort('none')
    }
  }

  async #watch(): Promise<void> {
    this.#isWatching = true
    while (this.#size > 0) {
      this.#wake = new AbortController()
      this.#untilMs = this.#earliestMs()
      await this.#clock.sleep(Math.max(0, this.#untilMs - this.#clock.monotonicMs()), this.#wake.signal)
      this.#endThoseOver()
    }
    this.#isWatching = false
  }

  #earliestMs(): number {
    let earliestMs = Number.POSITIVE_INFINITY
    for (const queue of this.#queues.values()) {
      const { member } = queue.first ?? {}
      if (member) earliestMs = Math.min(earliestMs, member.atMs)
    }
    return earliestMs
  }

  #endThoseOver(): void {
    const nowMs = this.#clock.monotonicMs()
    for (const queue of this.#queues.values()) {
      for (let first = queue.first; first && first.member!.atMs <= nowMs; first = queue.first) {
        const over = first.leave()
        this.#size--
        over?.isOver()
      }
    }
  }
}
