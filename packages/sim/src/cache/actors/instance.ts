import {
  type BudgetLedger,
  Cache,
  type CacheOptions,
  jsonCodec,
  OriginBudget,
  type OriginBudgetOptions,
} from '@garner/cache'
import { type Life, Machine, WallClock } from '../../world/machine.ts'
import type { Body, Read } from '../checks/happening.ts'
import type { Mutation } from '../mutants/mutant.ts'
import type { InstancePlan } from '../plan/plan.ts'
import { HostClock } from '../world/host-clock.ts'
import type { World } from '../world/world.ts'
import { SCOPE } from './keys.ts'
import { ledgerLink } from './ledger-link.ts'
import type { Origin } from './origin.ts'
import type { SharedCache } from './shared-cache.ts'

export interface Surroundings {
  world: World
  ledger: BudgetLedger
  shared: SharedCache
  origin: Origin
  mutation: Mutation
}

/** What one life of an instance consists of: the library as it is. */
interface Running {
  life: Life
  clock: HostClock
  cache: Cache<Body>
  stop: AbortController
}

/** 8 MB: all keys of a run, so that no version that is known is lost with a slot that had to make room. */
const MEMORY_MAX_BYTES = 8 * 1024 * 1024
/** A process that was asked to stop and has not after this is killed. */
const STOP_MS = 3_000

/** One process of the fleet, which reads and saves for whoever comes. Each of its lives is a new incarnation. */
export class Instance {
  readonly machine: Machine
  readonly #around: Surroundings
  readonly #plan: InstancePlan
  #running: Running | null = null
  #reads = 0

  constructor(around: Surroundings, plan: InstancePlan) {
    const { world } = around
    const { timeline } = world
    this.#around = around
    this.#plan = plan
    const wall = new WallClock(timeline, world.plan.startMs + plan.skewMs)
    this.machine = new Machine({ name: plan.name, timeline, wall })
    this.machine.onDown = (forMs) => {
      this.#running = null
      timeline.after(forMs, () => this.start())
    }
  }

  get name(): string {
    return this.#plan.name
  }

  get cache(): Cache<Body> | null {
    return this.#running?.cache ?? null
  }

  /** Starts a life, unless one is being lived. */
  start(): void {
    if (this.machine.life) return
    const { world, ledger, shared, mutation } = this.#around
    const { capacity, rules, hasShared } = world.plan
    const life = this.machine.start()
    const clock = new HostClock(life, this.#plan.driftPpm)
    let draws = 0
    const common = { clock, random: () => world.chance(life.name, draws++), incarnation: life.name }
    const ofBudget: OriginBudgetOptions = {
      ...common,
      ledger: ledgerLink(world, life, { ledger, hears: mutation.hears }),
      ...{ budget: 'reads', capacity, holder: this.name },
    }
    const budget = mutation.budget?.(ofBudget) ?? new OriginBudget(ofBudget)
    const ofCache: CacheOptions<Body> = {
      ...{ ...common, ...rules, budget, codec: jsonCodec<Body>(), memoryMaxBytes: MEMORY_MAX_BYTES },
      shared: hasShared ? shared.link(life) : undefined,
    }
    const cache = mutation.cache?.(ofCache) ?? new Cache<Body>(ofCache)
    const stop = new AbortController()
    this.#running = { life, clock, cache, stop }
    world.note(life.name, 'starts')
    world.see({ what: 'started', life })
    life.onDeath(() => world.see({ what: 'died', life }))
    void budget.run(stop.signal).then(() => cache.close())
  }

  /** Asked to stop: it takes no more readers, gives its share back, and is gone. */
  stop(forMs: number): void {
    const running = this.#running
    if (!running) return
    const { world } = this.#around
    world.note(running.life.name, 'is asked to stop')
    world.see({ what: 'stopping', life: running.life })
    this.#running = null
    running.life.whenRunning(() => running.stop.abort())
    world.timeline.after(STOP_MS, () => {
      if (this.machine.life === running.life) this.#goDown(forMs)
    })
  }

  crash(forMs: number): void {
    const { life } = this.machine
    if (!life) return
    this.#around.world.note(life.name, 'crashes')
    this.#goDown(forMs)
  }

  /** SIGSTOP; suspended, its monotonic clock stands still, too. It goes on when all heals, at the latest. */
  stall(longestMs: number, isSuspended: boolean): void {
    const running = this.#running
    const { world } = this.#around
    const forMs = Math.min(longestMs, world.plan.healAtMs - world.nowMs)
    if (!running || running.life.isStalled || world.isHealed) return
    world.note(running.life.name, isSuspended ? 'is suspended' : 'stands still')
    world.see({ what: 'stalled', life: running.life })
    running.life.stall(forMs)
    if (isSuspended) running.clock.suspended(forMs)
  }

  /**
   * Reads once, when the life of now goes on; answers whether there was an answer. Never, if its process
   * dies meanwhile.
   */
  read(key: string, { minVersion = 0, goesInMs }: { minVersion?: number; goesInMs?: number | null } = {}) {
    return new Promise<boolean>((resolve) => {
      const running = this.#running
      if (!running) return resolve(false)
      running.life.whenRunning(() => {
        if (this.#running !== running) return resolve(false)
        void this.#read(running, { key, minVersion, goesInMs: goesInMs ?? null }).then(resolve)
      })
    })
  }

  /** Tells the cache of a save that is committed, or of what must not be seen any more. */
  tell(key: string, { version, isForgotten }: { version: number; isForgotten: boolean }): void {
    const running = this.#running
    const { world } = this.#around
    running?.life.whenRunning(() => {
      if (this.#running !== running) return
      const { life, cache } = running
      world.note(life.name, `${isForgotten ? 'forgets' : 'invalidates'} ${key} ${version}`)
      world.see({ what: 'told', life, key, version, isForgotten })
      void (isForgotten
        ? cache.forget(key, { scope: SCOPE })
        : cache.invalidate(key, { scope: SCOPE, version }))
    })
  }

  #goDown(forMs: number): void {
    this.machine.crash()
    this.machine.onDown?.(forMs)
  }

  async #read(
    { life, cache }: Running,
    { key, minVersion, goesInMs }: { key: string; minVersion: number; goesInMs: number | null },
  ): Promise<boolean> {
    const { world, origin, mutation } = this.#around
    const id = ++this.#reads
    const read: Read = { id, life, key, minVersion, beganMs: world.nowMs, beganActiveMs: life.activeMs }
    world.see({ what: 'began', read })
    const away = goesInMs === null ? null : new AbortController()
    if (away) life.receive(goesInMs!, () => away.abort('gone'))
    const honest: Parameters<Cache<Body>['get']>[1]['load'] = (context) => origin.load(life, key, context)
    const load = mutation.load?.(honest) ?? honest
    const signal = away ? { signal: away.signal } : {}
    try {
      const answer = await cache.get(key, { scope: SCOPE, minVersion, load, ...signal })
      const { body, result } = answer
      world.note(life.name, `${id} ${key}: ${result}, version ${body.version} of ${body.askedAtMs} ms`)
      world.see({ what: 'ended', read, answer, error: null, isAway: false })
      return true
    } catch (error) {
      world.note(life.name, `${id} ${key}: ${codeOf(error)}`)
      world.see({ what: 'ended', read, answer: null, error, isAway: error === 'gone' })
      return false
    }
  }
}

function codeOf(error: unknown): string {
  if (error instanceof Error && 'code' in error) return String(error.code)
  return String(error)
}
