import type { Instance } from './actors/instance.ts'
import type { Happening } from './checks/happening.ts'
import { KEYS } from './plan/commands.ts'
import type { World } from './world/world.ts'

const SERVED = 'liveness: readers are served'
const USABLE = 'liveness: the budget follows the demand'
export const HEALING_PROMISES = [SERVED, USABLE]

/**
 * N: tries that one reader may need, coming back every 500 ms. What takes longest is a ledger that has changed its
 * history, and lends nothing for 6.25 s by a clock that is slow while few ask it.
 */
const TRIES_MOST = 60
const AGAIN_MS = 500
/** In this time the whole budget is there for one instance that wants it, whatever had been lent and lost before. */
const WHOLE_MS = 15_000
/** Demand that moves has `PART` of the budget where it is now within this. */
const SHIFT_MS = 3_000
const PART = 0.8
/** What is measured, after each of the two. */
const MEASURED_MS = 2_000
/**
 * In any stretch of this length there must be so many reads. Who has used up a share waits for the rest of a second, and
 * so reads in bursts that are a window (1,010 ms) and a read's way apart: a shorter one could lie between two of them.
 */
const STRETCH_MS = 1_100
/** More than the budget, so that it is never the demand that is too small. */
const DEMAND = 1.2

/**
 * What must be so once nothing goes wrong any more. Every key is read on every instance until it is served; then all
 * demand is at one instance until most of the budget is its own; then it moves to another, which must have it within
 * three seconds.
 */
export class Healing {
  isOver = false
  readonly most = { 'tries to be served': 0, 'ms until the whole budget was usable': 0 }
  readonly #world: World
  readonly #instances: Instance[]
  readonly #broken: (promise: string) => (story: string) => void
  /** When the origin was read by whom. */
  readonly #met: { atMs: number; by: string }[] = []
  #keys = 0

  constructor(
    world: World,
    { instances, broken }: { instances: Instance[]; broken: (promise: string) => (story: string) => void },
  ) {
    this.#world = world
    this.#instances = instances
    this.#broken = broken
  }

  see(happening: Happening): void {
    if (!this.#world.isHealed || happening.what !== 'met') return
    this.#met.push({ atMs: this.#world.nowMs, by: happening.load.life.machine.name })
  }

  begin(): void {
    void this.#play()
  }

  async #play(): Promise<void> {
    await Promise.all(this.#instances.flatMap((one) => KEYS.map((key) => this.#serve(one, key))))
    const from = this.#world.between(0, this.#instances.length - 1, 'demand')
    const first = this.#instances[from]!
    const second = this.#instances[(from + 1) % this.#instances.length]!
    await this.#whole(first)
    if (second !== first) await this.#shift(second)
    // Longer than any reader's patience and any load.
    await this.#later(this.#world.plan.capacity.loadMaxMs + 500)
    this.isOver = true
  }

  async #serve(instance: Instance, key: string): Promise<void> {
    for (let tries = 1; ; tries++) {
      if (await instance.read(key)) {
        this.most['tries to be served'] = Math.max(this.most['tries to be served'], tries)
        return
      }
      if (tries === TRIES_MOST) {
        this.#broken(SERVED)(`${key} on ${instance.name} is not served in ${tries} tries after the healing`)
        return
      }
      await this.#later(AGAIN_MS)
    }
  }

  async #whole(instance: Instance): Promise<void> {
    const sinceMs = this.#world.nowMs
    for (;;) {
      await this.#want(instance, 500)
      const tookMs = this.#world.nowMs - sinceMs
      this.most['ms until the whole budget was usable'] = tookMs
      if (tookMs >= MEASURED_MS && this.#fewest(instance) >= this.#wanted) return
      if (tookMs < WHOLE_MS) continue
      this.#broken(USABLE)(
        `${instance.name} alone reads ${this.#fewest(instance)} a second after ${tookMs} ms`,
      )
      return
    }
  }

  async #shift(instance: Instance): Promise<void> {
    await this.#want(instance, SHIFT_MS + MEASURED_MS)
    const fewest = this.#fewest(instance)
    if (fewest < this.#wanted)
      this.#broken(USABLE)(
        `the demand moved to ${instance.name}, which reads ${fewest} a second ${SHIFT_MS} ms later, ` +
          `of ${this.#world.plan.capacity.rate}`,
      )
  }

  get #wanted(): number {
    return PART * this.#world.plan.capacity.rate
  }

  /** The fewest reads of it that the origin met in any stretch of the time that is measured. */
  #fewest({ name }: Instance): number {
    const { nowMs } = this.#world
    const sinceMs = nowMs - MEASURED_MS
    const met = this.#met.filter(({ atMs, by }) => atMs > sinceMs && by === name).map(({ atMs }) => atMs)
    const stretches = [sinceMs, ...met].filter((fromMs) => fromMs + STRETCH_MS <= nowMs)
    const countFrom = (fromMs: number) =>
      met.filter((atMs) => atMs > fromMs && atMs <= fromMs + STRETCH_MS).length
    return Math.min(...stretches.map(countFrom))
  }

  /** Readers come evenly to one instance for a while, each for a key of their own. */
  async #want(instance: Instance, forMs: number): Promise<void> {
    const count = Math.ceil((this.#world.plan.capacity.rate * DEMAND * forMs) / 1_000)
    for (let n = 0; n < count; n++) {
      const key = `healed-${this.#keys++}`
      this.#world.timeline.after((n * forMs) / count, () => void instance.read(key))
    }
    await this.#later(forMs)
  }

  #later(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#world.timeline.after(ms, resolve))
  }
}
