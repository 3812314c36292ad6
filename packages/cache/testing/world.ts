import type { Clock } from '@garner/db'

/** Seeded randomness (xorshift32): the same seed, the same world. */
export class Dice {
  #x: number

  constructor(seed: number) {
    this.#x = (seed * 2_654_435_761 + 12_345) | 0 || 1
    for (let n = 0; n < 8; n++) this.next()
  }

  /** 0 ≤ n < 1. */
  readonly next = (): number => {
    this.#x ^= this.#x << 13
    this.#x ^= this.#x >>> 17
    this.#x ^= this.#x << 5
    return (this.#x >>> 0) / 4_294_967_296
  }

  between(from: number, to: number): number {
    return from + this.next() * (to - from)
  }

  isHit(probability: number): boolean {
    return this.next() < probability
  }
}

interface Event {
  atMs: number
  order: number
  run: () => void
}

/** Virtual time: nothing happens between two events, and all that an event sets off without waiting happens at once. */
export class World {
  readonly dice: Dice
  nowMs = 0
  #order = 0
  #heap: Event[] = []

  constructor(seed: number) {
    this.dice = new Dice(seed)
  }

  at(atMs: number, run: () => void): void {
    const heap = this.#heap
    heap.push({ atMs: Math.max(atMs, this.nowMs), order: this.#order++, run })
    for (let n = heap.length - 1; n > 0; ) {
      const parent = (n - 1) >> 1
      if (!isBefore(heap[n]!, heap[parent]!)) break
      ;[heap[n], heap[parent]] = [heap[parent]!, heap[n]!]
      n = parent
    }
  }

  in(ms: number, run: () => void): void {
    this.at(this.nowMs + ms, run)
  }

  /** Resolves `ms` from now. */
  later(ms: number): Promise<void> {
    return new Promise((resolve) => this.in(ms, resolve))
  }

  async runUntil(untilMs: number): Promise<void> {
    await new Promise(setImmediate)
    while (this.#heap.length > 0 && this.#heap[0]!.atMs <= untilMs) {
      const event = this.#pop()
      this.nowMs = event.atMs
      event.run()
      await new Promise(setImmediate)
    }
    this.nowMs = untilMs
  }

  #pop(): Event {
    const heap = this.#heap
    const top = heap[0]!
    const last = heap.pop()!
    if (heap.length > 0) heap[0] = last
    for (let n = 0; ; ) {
      const [left, right] = [2 * n + 1, 2 * n + 2]
      let least = n
      if (left < heap.length && isBefore(heap[left]!, heap[least]!)) least = left
      if (right < heap.length && isBefore(heap[right]!, heap[least]!)) least = right
      if (least === n) return top
      ;[heap[n], heap[least]] = [heap[least]!, heap[n]!]
      n = least
    }
  }
}

function isBefore(a: Event, b: Event): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order)
}

/** One machine in the world, with clocks of its own: they drift, are off, jump, and stand still with the machine. */
export class Host implements Clock {
  readonly #world: World
  readonly #drift: number
  #skewMs: number
  #pausedUntilMs = 0
  #suspendedMs = 0
  /** When it was stopped, by its own monotonic clock. */
  readonly #pauses: { fromMs: number; endMs: number }[] = []
  isDead = false

  constructor(world: World, { drift = 1, skewMs = 0 }: { drift?: number; skewMs?: number } = {}) {
    this.#world = world
    this.#drift = drift
    this.#skewMs = skewMs
  }

  nowMs(): number {
    return Math.floor(this.#world.nowMs + this.#skewMs)
  }

  monotonicMs(): number {
    return (this.#world.nowMs - this.#suspendedMs) * this.#drift
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      signal?.addEventListener('abort', () => resolve(), { once: true })
      // A nanosecond more, or a sleep can end just before its own time for want of digits.
      this.#world.in(ms / this.#drift + 1e-6, () => this.run(resolve))
    })
  }

  /** How long it has been awake since its monotonic clock showed `sinceMs`: what it can be blamed for. */
  awakeMs(sinceMs: number): number {
    return (
      this.monotonicMs() -
      sinceMs -
      this.#pauses
        .filter(({ endMs }) => endMs > sinceMs)
        .reduce((sum, one) => sum + one.endMs - Math.max(one.fromMs, sinceMs), 0)
    )
  }

  /** Runs `work` on this machine: at once, or when it goes on; never when it is dead. */
  run(work: () => void): void {
    if (this.isDead) return
    if (this.#world.nowMs < this.#pausedUntilMs) this.#world.at(this.#pausedUntilMs, () => this.run(work))
    else work()
  }

  /** Stopped by a signal: its clocks go on. */
  pause(ms: number): void {
    const untilMs = Math.max(this.#pausedUntilMs, this.#world.nowMs + ms)
    const fromMs = this.monotonicMs()
    const startMs = Math.max(fromMs, this.#pauses.at(-1)?.endMs ?? 0)
    this.#pausedUntilMs = untilMs
    this.#pauses.push({ fromMs: startMs, endMs: fromMs + (untilMs - this.#world.nowMs) * this.#drift })
  }

  /** Suspended: its monotonic clock stands still, its wall clock is right when it goes on. */
  suspend(ms: number): void {
    if (this.#world.nowMs < this.#pausedUntilMs) return
    this.pause(ms)
    this.#suspendedMs += ms
  }

  /** Its wall clock is set. */
  jump(ms: number): void {
    this.#skewMs += ms
  }
}
