/**
 * The reads of one holder that may have met the origin within the last window: all that are under way, and those that
 * ended less than a window ago. A read meets the origin at some unknown moment between its beginning and its end, so
 * with at most n of these at any time, the origin sees at most n in any window, however slow the way to it is.
 *
 * Exact: no fixed windows (twice the rate across a boundary), no saved-up tokens, no spacing alone (a burst after a
 * lull slips through). It outlives leases: a new one does not begin with an empty window.
 */
export class SlidingLog {
  readonly #windowMs: number
  #inFlight = 0
  /** When reads ended, ascending, from `#first` on. */
  #endedAtMs: number[] = []
  #first = 0

  constructor(windowMs: number) {
    this.#windowMs = windowMs
  }

  get inFlight(): number {
    return this.#inFlight
  }

  begin(): void {
    this.#inFlight++
  }

  end(nowMs: number): void {
    this.#inFlight--
    this.#endedAtMs.push(nowMs)
  }

  /** A read that was begun here and was never sent. */
  giveBack(): void {
    this.#inFlight--
  }

  count(nowMs: number): number {
    this.#forget(nowMs)
    return this.#inFlight + this.#endedAtMs.length - this.#first
  }

  /** How long until `n` more of the ended ones are out of the window; null when that takes ones still under way. */
  freedInMs(n: number, nowMs: number): number | null {
    this.#forget(nowMs)
    if (n <= 0) return 0
    const atMs = this.#endedAtMs[this.#first + n - 1]
    return atMs === undefined ? null : atMs + this.#windowMs - nowMs
  }

  #forget(nowMs: number): void {
    const ended = this.#endedAtMs
    while (this.#first < ended.length && ended[this.#first]! <= nowMs - this.#windowMs) this.#first++
    if (this.#first > 64 && this.#first * 2 > ended.length) {
      this.#endedAtMs = ended.slice(this.#first)
      this.#first = 0
    }
  }
}
