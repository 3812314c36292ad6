import type { Clock } from '@garner/db'
import type { Scheduled, Timeline } from './timeline.ts'

/** A wall clock that may be wrong and may be set while it runs. Unix ms. */
export class WallClock {
  readonly #timeline: Timeline
  #offsetMs: number

  constructor(timeline: Timeline, startMs: number) {
    this.#timeline = timeline
    this.#offsetMs = startMs
  }

  nowMs(): number {
    return this.#timeline.nowMs + this.#offsetMs
  }

  jump(byMs: number): void {
    this.#offsetMs += byMs
  }
}

/**
 * A place where a process runs: a worker, a web server, an operator's shell. It is started, crashes and is started
 * again under the same name; each of its lives has objects of its own and knows nothing of the one before.
 */
export class Machine {
  readonly name: string
  readonly timeline: Timeline
  readonly wall: WallClock
  /** Calls to the store so far, over all lives: what faults are aimed at. */
  calls = 0
  readonly #callsOf = new Map<string, number>()
  lives = 0
  /** Called when a crash has taken it down, with how long it stays so. */
  onDown: ((forMs: number) => void) | null = null
  #life: Life | null = null

  constructor({ name, timeline, wall }: { name: string; timeline: Timeline; wall: WallClock }) {
    this.name = name
    this.timeline = timeline
    this.wall = wall
  }

  /** The life that is being lived; null while it is down. */
  get life(): Life | null {
    return this.#life
  }

  /** Counts a call of the method `op`; answers which of its calls this is. */
  called(op: string): number {
    this.calls++
    const count = (this.#callsOf.get(op) ?? 0) + 1
    this.#callsOf.set(op, count)
    return count
  }

  /** Starts a life; the one before is over. */
  start(): Life {
    this.crash()
    this.#life = new Life(this)
    return this.#life
  }

  /** Cuts the life off: nothing that it waits for comes any more, and nothing that it says is heard. */
  crash(): void {
    const life = this.#life
    this.#life = null
    life?.end()
  }
}

/**
 * One run of a process. All that comes in (answers, timers, hints) and all that goes out (calls) passes here, so a
 * stall holds both back, in order, and a death ends both.
 */
export class Life {
  readonly machine: Machine
  /** Which life of its machine this is, from 1. */
  readonly number: number
  readonly clock: Clock
  readonly #timeline: Timeline
  readonly #deaths = new Set<() => void>()
  #isAlive = true
  #stalledUntilMs = 0
  #heldBack: (() => void)[] = []
  /** Time that it did not stand still, up to `#countedAtMs`. */
  #activeMs = 0
  #countedAtMs: number

  constructor(machine: Machine) {
    this.machine = machine
    this.number = ++machine.lives
    this.#timeline = machine.timeline
    this.#countedAtMs = this.#timeline.nowMs
    const bornMs = this.#timeline.nowMs
    this.clock = {
      nowMs: () => machine.wall.nowMs(),
      monotonicMs: () => this.#timeline.nowMs - bornMs,
      sleep: (ms, signal) => this.#sleep(ms, signal),
    }
  }

  get name(): string {
    return `${this.machine.name}.${this.number}`
  }

  get isAlive(): boolean {
    return this.#isAlive
  }

  get isStalled(): boolean {
    return this.#timeline.nowMs < this.#stalledUntilMs
  }

  /** How long it has lived without the time that it stood still. ms */
  get activeMs(): number {
    return this.#activeMs + Math.max(0, this.#timeline.nowMs - this.#countedAtMs)
  }

  /** Stands still from now on for `ms`, and then goes on as if nothing had been. */
  stall(ms: number): void {
    const untilMs = this.#timeline.nowMs + ms
    if (!this.#isAlive || untilMs <= this.#stalledUntilMs) return
    this.#activeMs = this.activeMs
    this.#countedAtMs = untilMs
    this.#stalledUntilMs = untilMs
    this.#timeline.at(untilMs, () => this.#goOn())
  }

  /** Ends a stall now. */
  wakeUp(): void {
    if (!this.isStalled) return
    this.#stalledUntilMs = this.#timeline.nowMs
    this.#countedAtMs = this.#timeline.nowMs
    this.#goOn()
  }

  /** Something for this life happens in `ms`; it takes it in when it is not standing still. */
  receive(ms: number, run: () => void): Scheduled {
    return this.#timeline.after(ms, () => this.whenRunning(run))
  }

  /** Now, or when it no longer stands still; never if it is dead. */
  whenRunning(run: () => void): void {
    if (!this.#isAlive) return
    if (this.isStalled || this.#heldBack.length > 0) this.#heldBack.push(run)
    else run()
  }

  /** Calls `then` when the life is cut off. Answers how to take that back. */
  onDeath(then: () => void): () => void {
    this.#deaths.add(then)
    return () => this.#deaths.delete(then)
  }

  end(): void {
    if (!this.#isAlive) return
    this.#isAlive = false
    this.#heldBack = []
    for (const then of this.#deaths) then()
  }

  /** What was held back comes one after the other, each as an event of its own, as it would from a socket. */
  #goOn(): void {
    if (!this.#isAlive || this.isStalled) return
    const next = this.#heldBack[0]
    if (!next) return
    next()
    this.#heldBack.shift()
    if (this.#heldBack.length > 0) this.#timeline.after(0, () => this.#goOn())
  }

  #sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve()
    if (!this.#isAlive) return new Promise(() => {})
    return new Promise((resolve) => {
      const cut = () => {
        timer.cancel()
        resolve()
      }
      const timer = this.receive(ms, () => {
        signal?.removeEventListener('abort', cut)
        resolve()
      })
      signal?.addEventListener('abort', cut, { once: true })
    })
  }
}
