import type { Clock } from '@garner/db'
import type { Life } from '../../world/machine.ts'

/**
 * The clocks of one life as its process sees them: the wall clock may be wrong and be set; the monotonic one drifts, and
 * stands still while the machine is suspended (`suspended`), as CLOCK_MONOTONIC does.
 */
export class HostClock implements Clock {
  readonly #life: Life
  readonly #speed: number
  #suspendedMs = 0

  constructor(life: Life, driftPpm: number) {
    this.#life = life
    this.#speed = 1 + driftPpm / 1_000_000
  }

  nowMs(): number {
    return this.#life.clock.nowMs()
  }

  monotonicMs(): number {
    return (this.#life.clock.monotonicMs() - this.#suspendedMs) * this.#speed
  }

  /** Never shorter than `ms` by the monotonic clock. */
  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const untilMs = this.monotonicMs() + ms
    for (let leftMs = ms; leftMs > 0 && !signal?.aborted; leftMs = untilMs - this.monotonicMs())
      await this.#life.clock.sleep(leftMs / this.#speed, signal)
  }

  /** The machine stands still for `ms`, and its monotonic clock with it. */
  suspended(ms: number): void {
    this.#suspendedMs += ms
  }
}
