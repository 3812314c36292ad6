import { StoreUnavailable } from '@garner/db'
import { OriginBudget } from '../src/budget.ts'
import type { Rank } from '../src/held-share.ts'
import { type Capacity, emptyLedger, type Ledger, lend, partWith } from '../src/share.ts'
import type { BudgetLedger } from '../src/store.ts'
import { Host, World } from './world.ts'

/** Rules broken on purpose, to see that the checker finds each. */
export type Fault =
  | 'lease counted from the answer'
  | 'lease outlives the machine’s sleep'
  | 'nothing reserved after the end'
  | 'smaller share believed at once'
  | 'only the last earlier share remembered'
  | 'the database’s clock believed'
  | 'no learning after a failover'

/** What can happen, to one instance or to the database. */
export type Calamity =
  | 'stopped'
  | 'suspended'
  | 'wall clock set'
  | 'cut from the ledger'
  | 'database clock set'
  | 'failover'
  | 'restart'

export const EVERYTHING: Record<Calamity, number> = {
  stopped: 1_500,
  suspended: 4_000,
  'wall clock set': 2_500,
  'cut from the ledger': 3_000,
  'database clock set': 3_500,
  failover: 20_000,
  restart: 3_000,
}

export interface FleetOptions {
  seed: number
  instances: number
  capacity: Capacity
  /** Reads per second that the fleet wants of the origin, all instances together. */
  offered: number
  fault?: Fault | undefined
  /** How often what happens to the fleet, in ms on average; default nothing. */
  calamities?: Partial<Record<Calamity, number>>
  /** The part of calls to the ledger that are slow; default 0.04 where anything happens, else none. */
  slowLedger?: number
  /** The part of origin reads that are slow (up to the longest); default 0.02. */
  slow?: number
  /** How the demand is spread over the instances from a moment on; default shifting at random. */
  weight?: (instance: number, nowMs: number) => number
}

interface OriginRead {
  beganMs: number
  metMs: number
  endedMs: number
}

const WAIT_MS = 250

/**
 * A fleet on one ledger in a virtual world: real budgets, real rules, and everything around them failing. Every read
 * is noted with the moment at which the origin met it.
 */
export class Fleet {
  readonly world: World
  readonly reads: OriginRead[] = []
  readonly answered = { admitted: 0, refused: 0, lateMs: 0 }
  readonly #options: FleetOptions
  readonly #database: Host
  readonly #hosts: Host[] = []
  #ledger: Ledger
  #timeline = 'a'
  /** The ledger as it was, for failovers to a copy that is behind. */
  #history: { atMs: number; ledger: Ledger }[] = []
  #cutUntilMs = new Map<Host, number>()
  #stops = new Map<Host, AbortController>()
  #lives = 0

  constructor(options: FleetOptions) {
    this.#options = options
    this.world = new World(options.seed)
    this.#database = new Host(this.world, { skewMs: 5_000_000 })
    this.#ledger = emptyLedger(options.capacity, { nowMs: this.#database.nowMs(), timeline: 'a' })
    for (let n = 0; n < options.instances; n++) this.#start(n)
    this.#bring(options.calamities ?? {})
  }

  run(untilMs: number): Promise<void> {
    return this.world.runUntil(untilMs)
  }

  /** The most reads that the origin met in any one second, and the most it had under way at once. */
  worst(): { perSecond: number; atOnce: number } {
    const met = this.reads.map((one) => one.metMs).sort((a, b) => a - b)
    let perSecond = 0
    for (let last = 0, first = 0; last < met.length; last++) {
      while (met[last]! - met[first]! >= 1_000) first++
      perSecond = Math.max(perSecond, last - first + 1)
    }
    const changes = this.reads
      .flatMap(({ metMs, endedMs }) => [
        { atMs: metMs, by: 1 },
        { atMs: endedMs, by: -1 },
      ])
      .sort((a, b) => a.atMs - b.atMs || a.by - b.by)
    let under = 0
    let atOnce = 0
    for (const { by } of changes) {
      under += by
      atOnce = Math.max(atOnce, under)
    }
    return { perSecond, atOnce }
  }

  /** Reads that the origin met from `fromMs` to `toMs`, per second. */
  rate(fromMs: number, toMs: number): number {
    const met = this.reads.filter(({ metMs }) => metMs >= fromMs && metMs < toMs)
    return (met.length * 1_000) / (toMs - fromMs)
  }

  #start(instance: number): void {
    const { dice } = this.world
    const host = new Host(this.world, {
      drift: 1 + dice.between(-2e-4, 2e-4),
      // Up to an hour apart.
      skewMs: dice.between(-3_600_000, 3_600_000),
    })
    this.#hosts[instance] = host
    const { capacity, fault } = this.#options
    const clock =
      fault === 'lease outlives the machine’s sleep'
        ? { ...bound(host), nowMs: () => 1_000_000 + Math.floor(host.monotonicMs()) }
        : host
    const budget = new OriginBudget({
      ledger: this.#link(host),
      budget: 'reads',
      capacity,
      holder: `instance-${instance}`,
      incarnation: `${instance}-${this.#lives++}`,
      clock,
      random: dice.next,
    })
    const stop = new AbortController()
    this.#stops.set(host, stop)
    void budget.run(stop.signal)
    this.#demand(instance, host, budget)
  }

  /** Readers come at random, as often as the instance's weight says. */
  #demand(instance: number, host: Host, budget: OriginBudget): void {
    const { dice } = this.world
    const { offered, instances } = this.#options
    const weight = this.#options.weight ?? shifting(this.#options.seed)
    const next = () => {
      if (host.isDead) return
      const perSecond = (offered * weight(instance, this.world.nowMs)) / instances
      if (perSecond > 0) host.run(() => void this.#read(host, budget))
      const gapMs = perSecond > 0 ? (-Math.log(1 - dice.next()) * 1_000) / perSecond : 50
      this.world.in(Math.min(gapMs, 500), next)
    }
    this.world.in(dice.between(0, 20), next)
  }

  async #read(host: Host, budget: OriginBudget): Promise<void> {
    const { dice } = this.world
    const rank: Rank = dice.isHit(0.1) ? 'own' : dice.isHit(0.2) ? 'refresh' : 'read'
    const askedMs = host.monotonicMs()
    const beforeMs = this.world.nowMs
    try {
      await budget.enter({ rank, untilMs: askedMs + WAIT_MS }).admitted
    } catch {
      this.answered.refused++
      return
    }
    this.answered.admitted++
    this.answered.lateMs = Math.max(this.answered.lateMs, this.world.nowMs - beforeMs)
    const { loadMaxMs } = this.#options.capacity
    const tookMs = dice.isHit(this.#options.slow ?? 0.02) ? dice.between(100, loadMaxMs) : dice.between(1, 15)
    const beganMs = this.world.nowMs
    this.reads.push({ beganMs, metMs: beganMs + tookMs * dice.next(), endedMs: beganMs + tookMs })
    this.world.in(tookMs, () => host.run(() => budget.end()))
  }

  /** The way to the ledger: slow at times, cut at times; requests arrive whatever became of who sent them. */
  #link(host: Host): BudgetLedger {
    const { world } = this
    const call = async <T>(effect: () => T): Promise<T> => {
      const { dice } = world
      const isSlow = this.#isTroubled && dice.isHit(this.#options.slowLedger ?? 0.04)
      const tripMs = () => (isSlow ? dice.between(200, 7_500) : dice.between(0.5, 10))
      const thereMs = tripMs()
      if ((this.#cutUntilMs.get(host) ?? 0) > world.nowMs) {
        await world.later(thereMs)
        throw new StoreUnavailable('io', 'playing an outage')
      }
      await world.later(thereMs)
      const answer = effect()
      const isLost = this.#isTroubled && dice.isHit(0.02)
      await world.later(isLost ? dice.between(500, 6_000) : tripMs())
      await new Promise<void>((resolve) => host.run(resolve))
      if (isLost) throw new StoreUnavailable('io', 'losing an answer')
      return answer
    }
    return {
      configure: () => call(() => {}),
      lease: async (_budget, ask) => {
        const sentMs = world.nowMs
        const lease = await call(() => {
          const { ledger, lease } = lend(this.#before(ask.incarnation), this.#heard(ask), this.#databaseNow())
          this.#become(ledger)
          return lease
        })
        if (this.#options.fault !== 'lease counted from the answer') return lease
        return { ...lease, ttlMs: lease.ttlMs + world.nowMs - sentMs }
      },
      release: (_budget, parting) =>
        call(() => this.#become(partWith(this.#ledger, parting, this.#databaseNow()))),
      standing: async () => null,
    }
  }

  get #isTroubled(): boolean {
    return this.#options.calamities !== undefined
  }

  #databaseNow(): { nowMs: number; timeline: string } {
    const isOne = this.#options.fault === 'no learning after a failover'
    return { nowMs: this.#database.nowMs(), timeline: isOne ? 'a' : this.#timeline }
  }

  #become(ledger: Ledger): void {
    this.#history = this.#history.filter(({ atMs }) => atMs > this.world.nowMs - 2_000)
    this.#history.push({ atMs: this.world.nowMs, ledger })
    this.#ledger = ledger
  }

  /** The ledger, as the rule that is broken sees it. */
  #before(incarnation: string): Ledger {
    const { fault } = this.#options
    const ledger = this.#ledger
    if (fault === 'the database’s clock believed') {
      const { nowMs } = this.#databaseNow()
      return { ...ledger, timeMs: ledger.timeMs + Math.max(0, nowMs - ledger.seenAtMs), seenAtMs: nowMs }
    }
    if (fault === 'nothing reserved after the end') {
      const grants = ledger.grants.map((one) => ({
        ...one,
        rateUntilMs: Math.min(one.rateUntilMs, one.expiresAtMs),
        inFlightUntilMs: Math.min(one.inFlightUntilMs, one.expiresAtMs),
      }))
      return { ...ledger, grants }
    }
    if (fault === 'only the last earlier share remembered') {
      const mine = ledger.grants.filter((one) => one.incarnation === incarnation)
      const forgotten = new Set(mine.slice(0, -1))
      return { ...ledger, grants: ledger.grants.filter((one) => !forgotten.has(one)) }
    }
    return ledger
  }

  #heard<A extends { incarnation: string; generation: number; recent: number }>(ask: A): A {
    if (this.#options.fault !== 'smaller share believed at once') return ask
    return { ...ask, generation: this.#ledger.generation + 1, recent: 0 }
  }

  #bring(calamities: Partial<Record<Calamity, number>>): void {
    const { world } = this
    const { dice } = world
    const someone = () => Math.floor(dice.next() * this.#hosts.length)
    const host = () => this.#hosts[someone()]!
    const happen: Record<Calamity, () => void> = {
      stopped: () => host().pause(dice.between(200, 5_500)),
      suspended: () => host().suspend(dice.between(500, 9_000)),
      'wall clock set': () => host().jump(dice.between(-600_000, 600_000)),
      'cut from the ledger': () => this.#cutUntilMs.set(host(), world.nowMs + dice.between(500, 7_000)),
      'database clock set': () => this.#database.jump(dice.between(-10_000, 10_000)),
      failover: () => this.#failOver(),
      restart: () => this.#restart(someone()),
    }
    for (const [name, everyMs] of Object.entries(calamities)) {
      const again = () => {
        happen[name as Calamity]()
        world.in(everyMs * dice.between(0.5, 1.5), again)
      }
      world.in(everyMs * dice.between(0.5, 1.5), again)
    }
  }

  /** Half are asked to stop, half are gone at once. */
  #restart(instance: number): void {
    const host = this.#hosts[instance]!
    if (this.world.dice.isHit(0.5)) this.#stops.get(host)!.abort()
    else host.isDead = true
    this.#start(instance)
  }

  /** The database goes on as a copy that has not seen the last grants. */
  #failOver(): void {
    const seenUntilMs = this.world.nowMs - this.world.dice.between(0, 800)
    const copy = this.#history.findLast(({ atMs }) => atMs <= seenUntilMs)
    if (!copy) return
    this.#timeline = `${this.#timeline}b`
    this.#become(copy.ledger)
  }
}

/** Every two seconds or so the demand goes elsewhere; now and then an instance has none. */
function shifting(seed: number): (instance: number, nowMs: number) => number {
  return (instance, nowMs) => {
    const phase = Math.floor(nowMs / 2_300)
    const noise = Math.abs(Math.sin(seed * 12.9898 + instance * 78.233 + phase * 37.719) * 43_758.5453) % 1
    return noise < 0.3 ? 0 : noise < 0.8 ? 0.5 : 3
  }
}

function bound(host: Host) {
  return {
    monotonicMs: () => host.monotonicMs(),
    sleep: (ms: number, signal?: AbortSignal) => host.sleep(ms, signal),
  }
}
