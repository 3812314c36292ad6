/** Five in a row: one lost packet or a slow moment is not an outage. */
const FAILURES = 5
const OPEN_MS = 1_000
/** A cache that is back is found within this. */
const OPEN_MAX_MS = 10_000

/**
 * Keeps a dependency that is down from costing a timeout for every call: after some failures in a row nobody is let
 * through for a while, then one call to try. The time given is the caller's own monotonic one.
 */
export class Breaker {
  #failures = 0
  #openUntilMs = Number.NEGATIVE_INFINITY
  #openMs = OPEN_MS
  #isTrying = false

  isOpen(nowMs: number): boolean {
    return nowMs < this.#openUntilMs
  }

  /** Whether a call may be made. Who was let through says how it ended. */
  lets(nowMs: number): boolean {
    if (this.#failures < FAILURES) return true
    if (this.isOpen(nowMs) || this.#isTrying) return false
    this.#isTrying = true
    return true
  }

  succeeded(): void {
    this.#failures = 0
    this.#isTrying = false
    this.#openMs = OPEN_MS
    this.#openUntilMs = Number.NEGATIVE_INFINITY
  }

  failed(nowMs: number): void {
    this.#failures++
    this.#isTrying = false
    // Calls that were under way when it opened fail, too; they do not open it any longer.
    if (this.#failures < FAILURES || this.isOpen(nowMs)) return
    this.#openUntilMs = nowMs + this.#openMs
    this.#openMs = Math.min(OPEN_MAX_MS, this.#openMs * 2)
  }
}
