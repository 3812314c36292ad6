import type { Clock } from '../clock.ts'
import type { Seal } from './transaction.ts'

/** A transaction whose caller awaits something else for so long is a bug: it holds locks that others wait for. */
export const IDLE_MAX_MS = 5_000

interface Open {
  seal: Seal
  giveUp: () => void
}

/**
 * Gives up transactions in which nothing is asked for IDLE_MAX_MS. One sleep for all of them: looking every second
 * makes that at most a second late.
 */
export class OpenTransactions {
  readonly #clock: Clock
  readonly #open = new Set<Open>()
  readonly #end = new AbortController()
  #isWatching = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Watches until what this answers is called. */
  add(seal: Seal, giveUp: () => void): () => void {
    const open = { seal, giveUp }
    this.#open.add(open)
    if (!this.#isWatching) void this.#watch()
    return () => this.#open.delete(open)
  }

  close(): void {
    this.#end.abort('closed')
  }

  async #watch(): Promise<void> {
    this.#isWatching = true
    while (this.#open.size > 0 && !this.#end.signal.aborted) {
      await this.#clock.sleep(IDLE_MAX_MS / 5, this.#end.signal)
      const nowMs = this.#clock.monotonicMs()
      for (const open of this.#open) {
        const { asked, idleSinceMs } = open.seal
        if (asked > 0 || nowMs - idleSinceMs < IDLE_MAX_MS) continue
        this.#open.delete(open)
        open.giveUp()
      }
    }
    this.#isWatching = false
  }
}
