import { type Clock, systemClock } from '@garner/db'

/** Where both processes' stores are in time. */
export interface Instant {
  nowMs: number
  monotonicMs: number
}

export function instantOf(clock: Clock): Instant {
  return { nowMs: clock.nowMs(), monotonicMs: clock.monotonicMs() }
}

/**
 * A store's clock that stands where `instant` says, also when that has gone back. Its sleepers sleep in real time:
 * what they wait for is done by another process, which goes on while this clock stands still.
 */
export function standingClock(instant: () => Instant): Clock {
  return {
    nowMs: () => instant().nowMs,
    monotonicMs: () => instant().monotonicMs,
    sleep: systemClock().sleep,
  }
}

/** Real time for a database, which sleeps only between two looks at a lock of the other process: `waits` counts them. */
export class LockClock implements Clock {
  readonly #system = systemClock()
  waits = 0
  readonly nowMs = this.#system.nowMs
  readonly monotonicMs = this.#system.monotonicMs

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (!signal) this.waits++
    return this.#system.sleep(ms, signal)
  }
}
