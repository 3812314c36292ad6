import { WallClock } from '../../world/machine.ts'
import { chanceOf } from '../../world/random.ts'
import { Timeline } from '../../world/timeline.ts'
import type { Happening } from '../checks/happening.ts'
import type { Fault, Plan } from '../plan/plan.ts'

type Lasting = Extract<Fault, { forMs: number; atMs: number }>

/**
 * The surroundings that all instances of a run share: time, what goes wrong, and what is written down. Everything that
 * differs from one run to another comes from the plan.
 */
export class World {
  readonly plan: Plan
  readonly timeline = new Timeline()
  /** The database's clock, by which the ledger lends. */
  readonly databaseClock: WallClock
  /** One line for each thing that happened: two runs of a seed have the same. */
  readonly trace: string[] = []
  readonly #lasting: Lasting[]
  readonly #onlookers: ((happening: Happening) => void)[] = []
  #isHealed = false

  constructor(plan: Plan) {
    this.plan = plan
    this.databaseClock = new WallClock(this.timeline, plan.startMs)
    this.#lasting = plan.faults.filter((one): one is Lasting => 'forMs' in one && 'atMs' in one)
  }

  get nowMs(): number {
    return this.timeline.nowMs
  }

  get isHealed(): boolean {
    return this.#isHealed
  }

  /** From now on nothing goes wrong any more. */
  heal(): void {
    this.#isHealed = true
    this.note('world', 'heals')
  }

  onlooker(look: (happening: Happening) => void): void {
    this.#onlookers.push(look)
  }

  see(happening: Happening): void {
    for (const look of this.#onlookers) look(happening)
  }

  note(who: string, what: string): void {
    this.trace.push(`${this.nowMs} ${who} ${what}`)
  }

  /** The faults that last, of those that `isMeant` picks, which hold now. */
  holding<F extends Lasting['do']>(what: F): Extract<Lasting, { do: F }>[] {
    if (this.#isHealed) return []
    return this.#lasting.filter(
      (one): one is Extract<Lasting, { do: F }> =>
        one.do === what && one.atMs <= this.nowMs && this.nowMs < one.atMs + one.forMs,
    )
  }

  chance(...name: (string | number)[]): number {
    return chanceOf(this.plan.seed, ...name)
  }

  /** A whole number from `least` to `most`, by the chance of a name. */
  between(least: number, most: number, ...name: (string | number)[]): number {
    return least + Math.floor(this.chance(...name) * (most - least + 1))
  }
}
