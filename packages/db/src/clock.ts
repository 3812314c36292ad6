/**
 * Time, as the rest of Garner is allowed to see it. Only composition roots make a real one; tests and
 * simulations hand in their own, so no test waits for the wall clock.
 */
export interface Clock {
  /** Wall-clock time, Unix milliseconds. May jump; use it for instants that are stored or shown. */
  nowMs(): number
  /** Never goes back, unrelated to the wall clock; use it for durations and deadlines inside one process. */
  monotonicMs(): number
  /** Resolves after `ms` milliseconds, or at once when `signal` aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/**
 * The machine's clock.
 * @param advanceMs added to every instant (not to durations): a process that lives in the future, for tests.
 */
export function systemClock(advanceMs = 0): Clock {
  return {
    nowMs: () => Date.now() + advanceMs,
    monotonicMs: () => performance.now(),
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve()
        const done = () => {
          clearTimeout(timer)
          signal?.removeEventListener('abort', done)
          resolve()
        }
        const timer = setTimeout(done, ms)
        signal?.addEventListener('abort', done, { once: true })
      }),
  }
}

/** A clock that stands still until it is told to move; sleepers wake in the order of their times. */
export class ManualClock implements Clock {
  #nowMs: number
  #monotonicMs = 0
  #sleepers: { atMs: number; wake: () => void }[] = []

  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#nowMs = startMs
  }

  nowMs(): number {
    return this.#nowMs
  }

  monotonicMs(): number {
    return this.#monotonicMs
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const sleeper = { atMs: this.#monotonicMs + ms, wake: resolve }
      this.#sleepers.push(sleeper)
      signal?.addEventListener(
        'abort',
        () => {
          this.#sleepers = this.#sleepers.filter((one) => one !== sleeper)
          resolve()
        },
        { once: true },
      )
    })
  }

  /** How far it is to the time of the next sleeper, in ms; null when nobody sleeps. */
  get nextWakeInMs(): number | null {
    if (this.#sleepers.length === 0) return null
    return Math.max(0, Math.min(...this.#sleepers.map((one) => one.atMs)) - this.#monotonicMs)
  }

  /** Moves both clocks `ms` milliseconds on and wakes everyone whose time has come. */
  advance(ms: number): void {
    this.#nowMs += ms
    this.#monotonicMs += ms
    const due = this.#sleepers.filter((one) => one.atMs <= this.#monotonicMs)
    this.#sleepers = this.#sleepers.filter((one) => one.atMs > this.#monotonicMs)
    for (const one of due.sort((a, b) => a.atMs - b.atMs)) one.wake()
  }

  /** Moves the wall clock alone, as a correction by the system would. */
  jump(ms: number): void {
    this.#nowMs += ms
  }
}
