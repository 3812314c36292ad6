import type { Clock } from '@garner/db'
import type { Now } from './held-share.ts'

/** Differences below this are the two clocks' own graininess and slow correction. */
const STEP_MS = 50

/**
 * Time for ages and leases: goes on whenever either of the machine's clocks does. The monotonic one alone stands still
 * while a virtual machine is suspended, and everything in it would seem as young as before; the wall clock alone can
 * be set back. A wall clock that is set forward makes things look older than they are: they are read again.
 *
 * Not seen: a suspension during which the wall clock was also set back by as much.
 */
export class AgeClock {
  readonly #clock: Clock
  /** Wall minus monotonic, as last accepted. */
  #offsetMs: number
  #aheadMs = 0

  constructor(clock: Clock) {
    this.#clock = clock
    this.#offsetMs = clock.nowMs() - clock.monotonicMs()
  }

  nowMs(): number {
    const monotonicMs = this.#clock.monotonicMs()
    this.#look(monotonicMs)
    return monotonicMs + this.#aheadMs
  }

  now(): Now {
    const atLeastMs = this.#clock.monotonicMs()
    this.#look(atLeastMs)
    return { atLeastMs, atMostMs: atLeastMs + this.#aheadMs }
  }

  #look(monotonicMs: number): void {
    const offsetMs = this.#clock.nowMs() - monotonicMs
    const steppedMs = offsetMs - this.#offsetMs
    if (steppedMs <= STEP_MS && steppedMs >= -STEP_MS) return
    this.#offsetMs = offsetMs
    if (steppedMs > 0) this.#aheadMs += steppedMs
  }
}
