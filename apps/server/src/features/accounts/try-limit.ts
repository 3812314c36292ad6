import type { Clock } from '@garner/db'

/**
 * How many tries an address has before it must wait, in the memory of this process.
 * Cut by a restart: the count starts anew, which costs a guesser the time the restart takes and gains them a few
 * tries. Several processes count each for themselves.
 */
export class TryLimit {
  readonly #clock: Clock
  readonly #windows = new Map<string, { count: number; endsAtMs: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Counts a try. `retryAfter` in seconds, the form that Better Auth asks for. */
  async consume(
    key: string,
    { window: windowS, max }: { window: number; max: number },
  ): Promise<{ allowed: boolean; retryAfter: number | null }> {
    const nowMs = this.#clock.monotonicMs()
    const open = this.#windows.get(key)
    if (!open || open.endsAtMs <= nowMs) {
      this.#makeRoom(nowMs)
      this.#windows.set(key, { count: 1, endsAtMs: nowMs + windowS * 1000 })
      return { allowed: true, retryAfter: null }
    }
    if (open.count >= max) {
      return { allowed: false, retryAfter: Math.ceil((open.endsAtMs - nowMs) / 1000) }
    }
    open.count++
    return { allowed: true, retryAfter: null }
  }

  /** 10,000 addresses, about 2 MB: someone with more of them pushes out the oldest counts, not the process. */
  #makeRoom(nowMs: number): void {
    if (this.#windows.size < 10_000) return
    for (const [key, { endsAtMs }] of this.#windows) if (endsAtMs <= nowMs) this.#windows.delete(key)
    if (this.#windows.size >= 10_000) this.#windows.delete(this.#windows.keys().next().value!)
  }
}
