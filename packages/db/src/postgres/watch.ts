import type { Clock } from '../clock.ts'

/** A transaction whose caller awaits something else for so long is a bug: it holds locks that others wait for. */
export const IDLE_MAX_MS = 5_000

/** A connection in somebody's hand. */
export interface Use {
  /** Statements that have not been answered. */
  asked: number
  /** When it was asked first or answered last, by the monotonic clock. */
  sinceMs: number
}

interface Watched {
  use: Use
  /** Nothing was answered for too long: the server is gone without a word. */
  cutOff: () => void
  /** Nothing was asked for IDLE_MAX_MS. */
  giveUp?: (() => void) | undefined
}

/**
 * Who waits too long: for a server that does not answer any more, or with a transaction open for something that is not
 * the database. One sleep for all of them: looking every second makes that at most a second late, and costs a statement
 * nothing, while a timer of its own would cost it more than its parameters.
 */
export class Uses {
  readonly #clock: Clock
  readonly #answerMs: number
  readonly #watched = new Set<Watched>()
  readonly #end = new AbortController()
  #isWatching = false

  /** @param answerMs how long an answer may take */
  constructor({ clock, answerMs }: { clock: Clock; answerMs: number }) {
    this.#clock = clock
    this.#answerMs = answerMs
  }

  /** Watches until what this answers is called. */
  add(watched: Watched): () => void {
    this.#watched.add(watched)
    if (!this.#isWatching) void this.#watch()
    return () => this.#watched.delete(watched)
  }

  close(): void {
    this.#end.abort('closed')
  }

  async #watch(): Promise<void> {
    this.#isWatching = true
    while (this.#watched.size > 0 && !this.#end.signal.aborted) {
      await this.#clock.sleep(IDLE_MAX_MS / 5, this.#end.signal)
      const nowMs = this.#clock.monotonicMs()
      for (const one of this.#watched) this.#look(one, nowMs)
    }
    this.#isWatching = false
  }

  #look(watched: Watched, nowMs: number): void {
    const { use, cutOff, giveUp } = watched
    const waitedMs = nowMs - use.sinceMs
    if (waitedMs < (use.asked > 0 ? this.#answerMs : IDLE_MAX_MS)) return
    this.#watched.delete(watched)
    if (use.asked > 0) cutOff()
    else giveUp?.()
  }
}
