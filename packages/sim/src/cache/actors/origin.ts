import type { LoadContext, Loaded } from '@garner/cache'
import type { Life, Machine } from '../../world/machine.ts'
import type { Body, OriginRead } from '../checks/happening.ts'
import type { World } from '../world/world.ts'

/** A query's own timeout at the database: this much before `loadMaxMs`, which is all that the ledger counts with. */
const BEFORE_LOAD_MAX_MS = 10

/**
 * The database that the budget protects: a primary, and a replica that lags. It notes when each read meets it and when
 * it is through with it, whatever has become of who asked.
 */
export class Origin {
  readonly #world: World
  /** What was saved, and when, in order. */
  readonly #saved = new Map<string, { atMs: number; version: number }[]>()
  #reads = 0
  /** Stops a machine. */
  readonly #stall: (machine: string, forMs: number) => void

  constructor(world: World, { stall }: { stall: (machine: string, forMs: number) => void }) {
    this.#world = world
    this.#stall = stall
  }

  version(key: string): number {
    return this.#saved.get(key)?.at(-1)?.version ?? 1
  }

  versionAt(key: string, atMs: number): number {
    return this.#saved.get(key)?.findLast((one) => one.atMs <= atMs)?.version ?? 1
  }

  save(key: string): number {
    const version = this.version(key) + 1
    const saved = this.#saved.get(key) ?? []
    this.#saved.set(key, [...saved, { atMs: this.#world.nowMs, version }])
    this.#world.note('origin', `${key} is version ${version}`)
    this.#world.see({ what: 'saved', key, version })
    return version
  }

  /**
   * One read of a key, in the tick in which the budget let it through. It leaves its process a little later, unless that
   * stands still; it meets the database, and ends there; then its answer is on the way back.
   */
  load(life: Life, key: string, { minVersion, signal }: LoadContext): Promise<Loaded<Body>> {
    const world = this.#world
    const id = ++this.#reads
    const beganMs = world.nowMs
    const isGivenUp = () => signal.aborted
    const load: OriginRead = { id, life, key, floor: minVersion, beganMs, isGivenUp, isSentLate: false }
    world.note(life.name, `asks the origin for ${key}, version ${minVersion} or more`)
    world.see({ what: 'loading', load })
    const origin = world.holding('origin')
    const isSlow = origin.some(({ is }) => is === 'slow') || (!world.isHealed && this.#is(id, 'slow', 0.02))
    const isFailing = origin.some(({ is }) => is === 'failing') && this.#is(id, 'fails', 0.6)
    const { promise, resolve, reject } = Promise.withResolvers<Loaded<Body>>()
    const arrive = () => {
      world.see({ what: 'met', load })
      const lastMs = Math.max(1, beganMs + world.plan.capacity.loadMaxMs - BEFORE_LOAD_MAX_MS - world.nowMs)
      const tookMs = isSlow ? world.between(100, 3_000, 'origin', id) : world.between(1, 12, 'origin', id)
      const version = this.#seenBy(id, key, minVersion)
      let isThrough = false
      const leave = (how: () => void) => {
        if (isThrough) return
        isThrough = true
        world.see({ what: 'left', load })
        life.receive(world.between(0, 2, 'origin', id, 'back'), how)
      }
      world.timeline.after(Math.min(tookMs, lastMs), () => {
        if (isFailing || tookMs > lastMs) return leave(() => reject(new Error('the origin fails')))
        leave(() => resolve({ body: { key, version, askedAtMs: beganMs }, version }))
      })
      // Told to stop, it does within a moment; some databases do not listen.
      const cancel = () => {
        if (!this.#is(id, 'deaf', 0.3)) world.timeline.after(3, () => leave(() => reject(signal.reason)))
      }
      if (signal.aborted) cancel()
      else signal.addEventListener('abort', cancel, { once: true })
    }
    // The query is written in this tick, or, with a pool that has no connection at hand, in another.
    const caught = this.#catching(life.machine)
    const isWaiting = caught !== undefined || this.#is(id, 'pool', 0.1)
    const inMs = isWaiting ? world.between(1, 60, 'origin', id, 'pool for') : 0
    const send = () => {
      load.isSentLate = world.nowMs - beganMs > inMs
      world.timeline.after(world.between(0, 3, 'origin', id, 'there'), arrive)
    }
    if (inMs === 0) send()
    else life.receive(inMs, send)
    if (caught) this.#stall(life.machine.name, caught.forMs)
    return promise.finally(() => world.see({ what: 'loaded', load }))
  }

  /** What is to stop this machine at this read of its. */
  #catching(machine: Machine) {
    const call = machine.called('load')
    for (const one of this.#world.plan.faults) {
      if (one.do === 'catch' && one.machine === machine.name && one.call === call) return one
    }
    return undefined
  }

  /** The replica's version where that is enough, else the primary's; now and then the primary cannot be asked. */
  #seenBy(id: number, key: string, minVersion: number): number {
    const world = this.#world
    const lagMs = world.plan.lagMs + Math.max(0, ...world.holding('lag').map(({ byMs }) => byMs))
    const replica = this.versionAt(key, world.nowMs - lagMs)
    const isAlone = !world.isHealed && this.#is(id, 'no primary', 0.1)
    return replica >= minVersion || isAlone ? replica : this.version(key)
  }

  #is(id: number, what: string, probability: number): boolean {
    return this.#world.chance('origin', id, what) < probability
  }
}
