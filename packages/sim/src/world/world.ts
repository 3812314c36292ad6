import type { Happening, Instant } from '../checks/happening.ts'
import type { Aim, CallFault, Fault, Plan } from '../plan/plan.ts'
import { WallClock } from './machine.ts'
import { chanceOf } from './random.ts'
import { Timeline } from './timeline.ts'

/** Told of everything that happens, in order. */
export type Onlooker = (happening: Happening, at: Instant) => void

/** What a world without faults needs of a plan. */
export type Surroundings = Pick<Plan, 'seed' | 'startMs' | 'latency' | 'hints' | 'faults'>

/** 5 s: longer than the shorter leases of plans, so a lease may run out while its holder is writing. */
const HELD_OPEN_MS = 5_000

export interface WorldOptions {
  /** See Timeline. */
  isSelfRunning?: boolean
  heldOpenMs?: number
}

/**
 * The surroundings that all machines of a run share: time, the way between them, what goes wrong, and what is
 * written down. Everything that differs from one run to another comes from the plan.
 */
export class World {
  readonly surroundings: Surroundings
  readonly timeline: Timeline
  /** The store's own clock. */
  readonly storeClock: WallClock
  /** One line for each thing that happened: two runs of a seed have the same. */
  readonly trace: string[] = []
  /** How long the store lets a transaction stay open in which nothing is said. ms */
  readonly heldOpenMs: number
  readonly #faults = new Map<string, CallFault>()
  readonly #outages: Extract<Fault, { do: 'outage' }>[] = []
  readonly #onlookers: Onlooker[] = []
  #isHealed = false

  constructor(
    surroundings: Surroundings,
    { isSelfRunning = false, heldOpenMs = HELD_OPEN_MS }: WorldOptions = {},
  ) {
    this.surroundings = surroundings
    this.heldOpenMs = heldOpenMs
    this.timeline = new Timeline({ isSelfRunning })
    this.storeClock = new WallClock(this.timeline, surroundings.startMs)
    for (const fault of surroundings.faults) {
      if ('call' in fault) this.#faults.set(aimOf(fault), fault)
      if (fault.do === 'outage') this.#outages.push(fault)
    }
  }

  get isHealed(): boolean {
    return this.#isHealed
  }

  /** From now on nothing goes wrong any more. */
  heal(): void {
    this.#isHealed = true
    this.note('world', 'heals')
  }

  onlooker(look: Onlooker): void {
    this.#onlookers.push(look)
  }

  see(happening: Happening): void {
    const at = { atMs: this.timeline.nowMs, storeMs: this.storeClock.nowMs() }
    for (const look of this.#onlookers) look(happening, at)
  }

  note(who: string, what: string): void {
    this.trace.push(`${this.timeline.nowMs} ${who} ${what}`)
  }

  /** What goes wrong with this call. An outage is a failure of every call; which kind is chance. */
  faultOf({ machine, call, op, callOfOp }: Call): CallFault | undefined {
    if (this.#isHealed) return undefined
    const ofAny = this.#faults.get(aimOf({ machine, call }))
    const aimed = ofAny ?? this.#faults.get(aimOf({ machine, call: callOfOp, op }))
    if (aimed || !this.#isAway) return aimed
    const when = this.chance(machine, call, 'outage') < 0.8 ? 'before' : 'after'
    const inMs = this.chance(machine, call, 'patience') < 0.7 ? 1 : 3_000
    return { do: 'fail', machine, call, when, inMs }
  }

  get #isAway(): boolean {
    const { nowMs } = this.timeline
    return this.#outages.some(({ atMs, forMs }) => atMs <= nowMs && nowMs < atMs + forMs)
  }

  /** How long one way takes. ms */
  latencyMs(...name: (string | number)[]): number {
    const { mostMs, slowMs, slowOneIn } = this.surroundings.latency
    const isSlow = !this.#isHealed && this.chance(...name, 'slow') < 1 / slowOneIn
    return Math.floor(this.chance(...name, 'way') * ((isSlow ? slowMs : mostMs) + 1))
  }

  chance(...name: (string | number)[]): number {
    return chanceOf(this.surroundings.seed, ...name)
  }
}

/** A call as faults are aimed at it: the n-th of all, and the n-th of its method. */
export interface Call {
  machine: string
  call: number
  op: string
  callOfOp: number
}

function aimOf({ machine, call, op = 'call' }: Aim): string {
  return `${machine} ${op} ${call}`
}
