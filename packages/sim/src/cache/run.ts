import { createMemoryLedger } from '@garner/cache/memory'
import type { Report, Violation } from '../simulation.ts'
import type { Life } from '../world/machine.ts'
import { Instance } from './actors/instance.ts'
import { Origin } from './actors/origin.ts'
import { SharedCache } from './actors/shared-cache.ts'
import type { Checker } from './checks/checker.ts'
import type { Happening } from './checks/happening.ts'
import { CHECKERS } from './checks/index.ts'
import { HEALING_PROMISES, Healing } from './healing.ts'
import type { Mutation } from './mutants/mutant.ts'
import type { Command, Plan } from './plan/plan.ts'
import { signatureOf } from './signature.ts'
import { World } from './world/world.ts'

export { HEALING_PROMISES }

/**
 * Runs a plan to its end: first what it asks for and what goes wrong, under the eyes of all checkers (safety); then
 * everything heals, every reader must be served within so many tries, and the budget must be usable where the demand is
 * (liveness). The same plan gives the same report, line by line.
 */
export async function run(plan: Plan, mutation: Mutation = {}): Promise<Report> {
  return new Run(plan, mutation).play()
}

class Run {
  readonly #plan: Plan
  readonly #world: World
  readonly #origin: Origin
  readonly #shared: SharedCache
  readonly #instances = new Map<string, Instance>()
  readonly #checkers: { name: string; checker: Checker }[]
  readonly #seen = new Map<string, number>()
  readonly #healing: Healing
  readonly #touched = new Set<Life>()
  #violation: Violation | null = null
  #reads = 0
  #timeline = 'first'

  constructor(plan: Plan, mutation: Mutation) {
    this.#plan = plan
    const world = new World(plan)
    this.#world = world
    const stall = (name: string, forMs: number) => this.#instances.get(name)?.stall(forMs, false)
    this.#origin = new Origin(world, { stall })
    const view = { plan, origin: this.#origin, nowMs: () => world.nowMs }
    const broken = (name: string) => (story: string) => this.#broken(name, story)
    this.#checkers = CHECKERS.map(({ name, make }) => ({
      name,
      checker: make({ ...view, broken: broken(name) }),
    }))
    world.onlooker((happening) => this.#see(happening))
    this.#shared = new SharedCache(world, mutation.entries)
    const databaseClock = {
      nowMs: () => world.databaseClock.nowMs(),
      monotonicMs: () => world.nowMs,
      sleep: async () => {},
    }
    const honest = createMemoryLedger({ clock: databaseClock, timeline: () => this.#timeline })
    const ledger = { ...honest, ...mutation.ledger?.(honest) }
    const around = { world, ledger, shared: this.#shared, origin: this.#origin, mutation }
    for (const one of plan.instances) this.#instances.set(one.name, new Instance(around, one))
    this.#healing = new Healing(world, { instances: [...this.#instances.values()], broken })
    world.onlooker((happening) => this.#healing.see(happening))
  }

  async play(): Promise<Report> {
    const { timeline } = this.#world
    const { instances, commands, healAtMs } = this.#plan
    for (const { name, startAtMs } of instances)
      timeline.at(startAtMs, () => this.#instances.get(name)!.start())
    for (const one of commands) timeline.at(one.atMs, () => this.#obey(one))
    this.#bringFaults()
    timeline.at(healAtMs, () => this.#heal())
    await timeline.run(() => {
      this.#look()
      return this.#violation !== null || this.#healing.isOver
    })
    if (!this.#violation) for (const { checker } of this.#checkers) checker.end?.()
    for (const { machine } of this.#instances.values()) machine.crash()
    return {
      violation: this.#violation,
      trace: this.#world.trace,
      seen: this.#seen,
      sums: {
        ...{ events: timeline.ran, 'origin reads': this.#seen.get('met') ?? 0, reads: this.#reads },
      },
      most: this.#healing.most,
    }
  }

  #bringFaults(): void {
    const { timeline } = this.#world
    for (const fault of this.#plan.faults) {
      if (!('atMs' in fault)) continue
      const happen = () => {
        const instance = 'machine' in fault ? this.#instances.get(fault.machine ?? '') : undefined
        if (fault.do === 'stall' || fault.do === 'suspend')
          instance?.stall(fault.forMs, fault.do === 'suspend')
        else if (fault.do === 'crash') instance?.crash(fault.forMs)
        else if (fault.do === 'jump') (instance?.machine.wall ?? this.#world.databaseClock).jump(fault.byMs)
        else if (fault.do === 'failover') this.#timeline = `${this.#timeline}, another`
        else if (fault.do === 'shared' && fault.is === 'emptied') this.#shared.empty()
      }
      // A jump of a machine that is not in the plan any more is nobody's.
      if (fault.do === 'jump' && fault.machine !== null && !this.#instances.has(fault.machine)) continue
      timeline.at(fault.atMs, happen)
    }
  }

  #obey(command: Command): void {
    const { timeline } = this.#world
    const instance = this.#instances.get(command.at)
    switch (command.do) {
      case 'read':
      case 'flood':
        for (let n = 0; n < command.count; n++) {
          const afterMs = this.#world.between(0, command.overMs - 1, command.id, n)
          const key = command.do === 'read' ? command.key : `${command.id}-${n}`
          const isFickle = command.do === 'read' && command.isFickle
          const goesInMs = isFickle ? this.#world.between(0, 200, command.id, n, 'goes') : null
          timeline.after(afterMs, () => void instance?.read(key, { goesInMs }))
        }
        return
      case 'save': {
        if (!instance?.machine.life) return
        const { key, isTold, readers, withinMs } = command
        const version = this.#origin.save(key)
        if (isTold) instance.tell(key, { version, isForgotten: false })
        readers.forEach((name, n) => {
          const afterMs = this.#world.between(0, withinMs, command.id, n)
          timeline.after(afterMs, () => void this.#instances.get(name)?.read(key, { minVersion: version }))
        })
        return
      }
      case 'forget':
        instance?.tell(command.key, { version: 0, isForgotten: true })
        return
      case 'stop':
        instance?.stop(command.forMs)
    }
  }

  /** Everybody is up and well. */
  #heal(): void {
    this.#world.heal()
    for (const instance of this.#instances.values()) instance.start()
    this.#healing.begin()
  }

  #see(happening: Happening): void {
    if (happening.what === 'began') this.#reads++
    const life = lifeOf(happening)
    if (life) this.#touched.add(life)
    for (const one of signatureOf(happening)) this.#seen.set(one, (this.#seen.get(one) ?? 0) + 1)
    for (const { checker } of this.#checkers) checker.see(happening)
  }

  /** After each step: what those say of themselves to whom something has happened. Who stands still says nothing. */
  #look(): void {
    for (const { machine, cache } of this.#instances.values()) {
      const { life } = machine
      if (!life || !cache || life.isStalled || !this.#touched.has(life)) continue
      const counters = cache.counters()
      for (const { checker } of this.#checkers) checker.look?.(life, counters)
    }
    this.#touched.clear()
    for (const { checker } of this.#checkers) checker.step?.()
  }

  #broken(promise: string, story: string): void {
    this.#violation ??= { promise, story, atMs: this.#world.nowMs }
    this.#world.note(promise, `is broken: ${story}`)
  }
}

function lifeOf(happening: Happening): Life | null {
  if ('read' in happening) return happening.read.life
  if ('load' in happening) return happening.load.life
  return 'life' in happening ? happening.life : null
}
