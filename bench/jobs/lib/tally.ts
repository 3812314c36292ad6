import { nowMs } from './clock.ts'
import type { Worked } from './messages.ts'
import type { Handler } from './peer.ts'

/** A mark for so many starts: 500 numbers for a long drain. */
export const MARK_EACH = 50

/** Counts the starts of jobs in one process. */
export class Tally {
  #count = 0
  #firstMs = 0
  #lastMs = 0
  readonly #marksMs: number[] = []
  readonly #latenciesMs: number[] = []

  /** `then` is called after each start. */
  handler(then: () => void): Handler {
    return ({ sentMs }) => {
      const startedMs = nowMs()
      if (this.#count === 0) this.#firstMs = startedMs
      this.#count++
      this.#lastMs = startedMs
      if (this.#count % MARK_EACH === 0) this.#marksMs.push(startedMs)
      if (sentMs !== undefined) this.#latenciesMs.push(startedMs - sentMs)
      then()
    }
  }

  get count(): number {
    return this.#count
  }

  get firstMs(): number {
    return this.#firstMs
  }

  get timed(): number {
    return this.#latenciesMs.length
  }

  worked(): Worked {
    return {
      type: 'worked',
      count: this.#count,
      firstMs: this.#firstMs,
      lastMs: this.#lastMs,
      marksMs: this.#marksMs,
      latenciesMs: this.#latenciesMs,
      peakBytes: peakBytes(),
    }
  }
}

/** The most memory that this process has had at any time, in bytes. Node says it in KiB. */
export function peakBytes(): number {
  return process.resourceUsage().maxRSS * 1024
}
