import type { Clock } from '@garner/db'

/**
 * Courtesy towards other people's servers: at most two of our requests at a time to one host and port, and a
 * pause between their starts. First come, first served. In memory and per process: a crash forgets it, and the
 * first request after it is simply not delayed.
 */

/** 2, as RFC 2616 once asked of clients: 1 lets one hanging page block its host, 6 (browsers) is a small flood. */
const AT_ONCE = 2
/** 250 ms: a member who saves forty links of one blog is a reader to that blog, not an attack. */
const GAP_MS = 250
/** Idle hosts are forgotten once the table holds more than this many. */
const SWEEP_AT = 256

interface Lane {
  active: number
  waiting: number
  nextStartMs: number
  /** Resolves when whoever came last has been let in or has given up. */
  tail: Promise<void>
  freed: PromiseWithResolvers<void>
}

export class HostGate {
  readonly #clock: Clock
  readonly #atOnce: number
  readonly #gapMs: number
  readonly #lanes = new Map<string, Lane>()

  constructor(clock: Clock, { atOnce = AT_ONCE, gapMs = GAP_MS }: { atOnce?: number; gapMs?: number } = {}) {
    this.#clock = clock
    this.#atOnce = atOnce
    this.#gapMs = gapMs
  }

  /**
   * Waits for a turn at `host` (any key; the fetcher uses host:port).
   * Returns what gives the turn back; calling it twice is harmless.
   * Errors: the signal's reason, when it aborts while waiting.
   */
  async enter(host: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    const lane = this.#lane(host)
    const before = lane.tail
    const turn = Promise.withResolvers<void>()
    lane.tail = turn.promise
    lane.waiting++
    try {
      await orAbort(before, signal)
      while (lane.active >= this.#atOnce) await orAbort(lane.freed.promise, signal)
      const waitMs = lane.nextStartMs - this.#clock.monotonicMs()
      if (waitMs > 0) await this.#clock.sleep(waitMs, signal)
      signal.throwIfAborted()
      lane.active++
      lane.nextStartMs = this.#clock.monotonicMs() + this.#gapMs
    } finally {
      lane.waiting--
      // One who gives up in the middle of the queue passes the turn on only when it would have come.
      before.then(turn.resolve)
    }
    let isIn = true
    return () => {
      if (!isIn) return
      isIn = false
      lane.active--
      lane.freed.resolve()
      lane.freed = Promise.withResolvers()
    }
  }

  /** How many hosts are remembered. */
  get size(): number {
    return this.#lanes.size
  }

  #lane(host: string): Lane {
    if (this.#lanes.size > SWEEP_AT) this.#sweep()
    let lane = this.#lanes.get(host)
    if (!lane) {
      lane = {
        active: 0,
        waiting: 0,
        nextStartMs: 0,
        tail: Promise.resolve(),
        freed: Promise.withResolvers(),
      }
      this.#lanes.set(host, lane)
    }
    return lane
  }

  #sweep(): void {
    const now = this.#clock.monotonicMs()
    for (const [host, lane] of this.#lanes) {
      if (lane.active === 0 && lane.waiting === 0 && lane.nextStartMs <= now) this.#lanes.delete(host)
    }
  }
}

function orAbort(wait: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason)
    if (signal.aborted) return onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    wait.then(() => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    })
  })
}
