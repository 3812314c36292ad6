import type { Clock } from '@garner/db'
import { type Parked, type ParkReason, VisionError } from './vision.ts'

/**
 * Parks the provider, not the photo: when its quota is used up or it refuses the key, every photo would be refused
 * alike. Then one call an hour is let through to see whether that has changed, and all others are told when.
 *
 * In memory: another process, or this one started again, finds out by a call of its own, which is refused and costs
 * nothing; the photos that were told to wait wait all the same, by their jobs.
 */
export class Parking {
  readonly #clock: Clock
  #parked: Parked | null = null

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get parked(): Parked | null {
    return this.#parked && { ...this.#parked }
  }

  /** Before a call. Errors: VisionError with the reason and the rest of the time. Whoever gets through is the hour's one try. */
  enter(): void {
    if (!this.#parked) return
    const nowMs = this.#clock.nowMs()
    if (nowMs < this.#parked.untilMs) throw parkedFor(this.#parked.reason, this.#parked.untilMs - nowMs)
    this.#parked = { ...this.#parked, untilMs: nowMs + PARK_MS }
  }

  /** The error to end the call with. */
  park(reason: ParkReason): VisionError {
    const nowMs = this.#clock.nowMs()
    const sinceMs = this.#parked?.reason === reason ? this.#parked.sinceMs : nowMs
    this.#parked = { reason, sinceMs, untilMs: nowMs + PARK_MS }
    return parkedFor(reason, PARK_MS)
  }

  /** The provider has taken a call, or had another trouble. */
  clear(): void {
    this.#parked = null
  }
}

function parkedFor(reason: ParkReason, retryAfterMs: number): VisionError {
  return new VisionError(reason, { retryAfterMs })
}

/** An hour: accounts are topped up by people; asked oftener, a used-up account was seen to be asked for days. */
export const PARK_MS = 3_600_000
