import { OriginBudget } from '../src/budget.ts'
import { type Answer, Cache } from '../src/cache.ts'
import { jsonCodec } from '../src/codec.ts'
import type { LoadContext, Loaded } from '../src/load.ts'
import { createMemoryEntries } from '../src/memory/entries.ts'
import { createMemoryLedger } from '../src/memory/ledger.ts'
import type { News, SharedEntries } from '../src/store.ts'
import { Host, World } from './world.ts'

const KEYS = ['list-a', 'list-b', 'list-c']
const WAIT_MS = 250
const LOAD_MS = 1_500
export const MAX_AGE_MS = 6_000
const LAG_MAX_MS = 800
/** News arrive within this: their receiver may be stopped meanwhile. */
const NEWS_MAX_MS = 10_000
/** What a clock that drifts, a timer's millisecond and a pause's end can add. */
const SLACK_MS = 5

/** What a save has written, and when. */
interface Saved {
  atMs: number
  version: number
}

/**
 * Readers and writers of a few keys on some instances, in a virtual world: real caches, real budgets; a shared cache
 * that is slow, fails, comes back empty or loses news; an origin that is slow, fails, and answers from a replica that
 * lags. Every answer is checked when it is given; what is wrong is in `wrongs`.
 */
export class Readership {
  readonly world: World
  readonly wrongs: string[] = []
  readonly ends = { answered: 0, refused: 0, own: 0, ownAnswered: 0 }
  readonly #database = new Map<string, Saved[]>()
  readonly #instances: { cache: Cache<string>; host: Host; forgottenAtMs: Map<string, number> }[] = []
  /** When the loads that are under way began, by instance, key and version needed. */
  readonly #loading = new Map<string, number[]>()
  readonly #forgottenAtMs = new Map<string, number>()
  #entries: SharedEntries
  #listeners = new Set<(news: News) => void>()
  #sharedIs: 'well' | 'slow' | 'down' = 'well'
  #originIs: 'well' | 'slow' | 'failing' = 'well'

  constructor(seed: number, { instances = 3, hasShared = true } = {}) {
    this.world = new World(seed)
    const { dice } = this.world
    for (const key of KEYS) this.#database.set(key, [{ atMs: 0, version: 1 }])
    const shared = new Host(this.world, { skewMs: 3_600_000 })
    const empty = () => createMemoryEntries({ clock: shared })
    this.#entries = empty()
    const ledger = createMemoryLedger({ clock: new Host(this.world) })
    for (let n = 0; n < instances; n++) {
      const host = new Host(this.world, {
        drift: 1 + dice.between(-2e-4, 2e-4),
        skewMs: dice.between(-3_600_000, 3_600_000),
      })
      const common = { clock: host, random: dice.next, incarnation: `life-${n}` }
      const budget = new OriginBudget({
        ...common,
        ledger,
        budget: 'reads',
        capacity: { rate: 40, concurrency: 12, loadMaxMs: LOAD_MS + 500 },
        holder: `host-${n}`,
      })
      void budget.run(new AbortController().signal)
      const cache = new Cache<string>({
        ...{ ...common, budget, codec: jsonCodec<string>(), freshMs: 1_000, maxAgeMs: MAX_AGE_MS },
        ...{ memoryMaxBytes: 10_000, shared: hasShared ? this.#link(host) : undefined },
        ...{ waitMs: WAIT_MS, loadMs: LOAD_MS },
      })
      this.#instances.push({ cache, host, forgottenAtMs: new Map() })
    }
    this.#every(12, () => this.#read())
    this.#every(60, () => this.#save())
    this.#every(700, () => this.#forget())
    this.#every(1_500, () => {
      this.#sharedIs = dice.isHit(0.5) ? 'well' : dice.isHit(0.5) ? 'slow' : 'down'
      if (dice.isHit(0.3)) this.#entries = this.#listened(empty())
    })
    this.#every(1_200, () => {
      this.#originIs = dice.isHit(0.6) ? 'well' : dice.isHit(0.5) ? 'slow' : 'failing'
    })
    this.#every(2_500, () => this.#someone().host.pause(dice.between(50, 2_000)))
    this.#every(5_000, () => this.#someone().host.suspend(dice.between(500, 8_000)))
    this.#listened(this.#entries)
  }

  async run(untilMs: number): Promise<void> {
    await this.world.runUntil(untilMs)
  }

  /** How many reads are still open, after everything has been still for long enough. */
  inFlight(): number {
    return this.#instances.reduce((sum, { cache }) => sum + cache.counters().inFlight, 0)
  }

  #read(): void {
    const { dice } = this.world
    const key = KEYS[Math.floor(dice.next() * KEYS.length)]!
    const instance = this.#someone()
    // One in five has just saved, anywhere, and knows the version.
    const minVersion = dice.isHit(0.2) ? this.#versionAt(key, this.world.nowMs) : 0
    const away = dice.isHit(0.05) ? new AbortController() : null
    if (away) this.world.in(dice.between(1, 200), () => away.abort(new Error('gone')))
    instance.host.run(() => {
      const { cache, host } = instance
      const beganMs = this.world.nowMs
      const beganOnHostMs = host.monotonicMs()
      const began = { beganMs, beganOnHostMs }
      if (minVersion > 0) this.ends.own++
      const load = (context: LoadContext) => this.#load(instance.host, key, context)
      const signal = away ? { signal: away.signal } : {}
      cache.get(key, { scope: 'group', minVersion, load, ...signal }).then(
        (answer) => {
          this.ends.answered++
          if (minVersion > 0) this.ends.ownAnswered++
          this.#check(answer, { instance, key, minVersion, ...began })
        },
        () => {
          this.ends.refused++
          this.#checkWait(instance.host, began)
        },
      )
      this.#checkSums(cache)
    })
  }

  #check(
    answer: Answer<string>,
    at: {
      instance: { host: Host; forgottenAtMs: Map<string, number> }
      key: string
      minVersion: number
      beganMs: number
      beganOnHostMs: number
    },
  ): void {
    const { key, minVersion, instance } = at
    const nowMs = this.world.nowMs
    const { version, ageMs } = answer
    const [what, readAtMs] = answer.body.split(' at ')
    if (what !== `${key} v${version}`) this.#wrong(`${key}: body ${what} of version ${version}`)
    if (version < minVersion) this.#wrong(`${key}: version ${version} for one who saved ${minVersion}`)
    if (ageMs > MAX_AGE_MS) this.#wrong(`${key}: ${ageMs} ms old`)
    // Its age is true: what it says was so no longer ago than that, but for the replica's lag.
    const then = this.#versionAt(key, nowMs - ageMs - LAG_MAX_MS - SLACK_MS)
    if (version < then)
      this.#wrong(`${key}: version ${version} is older than the ${ageMs} ms it says; then ${then}`)
    const forgottenAtMs = instance.forgottenAtMs.get(key) ?? Number.NEGATIVE_INFINITY
    if (at.beganMs > forgottenAtMs && Number(readAtMs) < forgottenAtMs)
      this.#wrong(`${key}: read before it was forgotten`)
    this.#checkWait(instance.host, at)
  }

  #checkWait(host: Host, { beganOnHostMs }: { beganOnHostMs: number }): void {
    const waitedMs = host.awakeMs(beganOnHostMs)
    if (waitedMs > WAIT_MS + SLACK_MS) this.#wrong(`waited ${waitedMs} ms`)
  }

  #checkSums(cache: Cache<string>): void {
    const { offered, hit, coalesced, origin, stale, rejected, inFlight, ...rest } = cache.counters()
    if (offered !== hit + coalesced + origin + stale + rejected + inFlight)
      this.#wrong('offered do not add up')
    if (rejected !== rest.refused + rest.late + rest.failed + rest.abandoned)
      this.#wrong('rejected do not add up')
  }

  async #load(host: Host, key: string, { minVersion, signal }: LoadContext): Promise<Loaded<string>> {
    const { dice } = this.world
    const place = `${this.#instances.findIndex((one) => one.host === host)} ${key} ${minVersion}`
    const beganMs = this.world.nowMs
    const under = this.#loading.get(place) ?? []
    // What was forgotten meanwhile is loaded anew; the news of it may take a while.
    const forgottenAtMs = this.#forgottenAtMs.get(key) ?? Number.NEGATIVE_INFINITY
    if (under.some((atMs) => atMs > forgottenAtMs + NEWS_MAX_MS)) this.#wrong(`two loads of ${place} at once`)
    this.#loading.set(place, [...under, beganMs])
    const over = () =>
      this.#loading.set(
        place,
        this.#loading.get(place)!.filter((atMs) => atMs !== beganMs),
      )
    signal.addEventListener('abort', over)
    try {
      const tookMs = this.#originIs === 'well' ? dice.between(1, 20) : dice.between(50, 2_500)
      // An own save's reader is sent to the primary, mostly.
      const lagMs = minVersion > 0 && dice.isHit(0.8) ? 0 : dice.isHit(0.5) ? 0 : dice.between(0, LAG_MAX_MS)
      const seenAfterMs = tookMs * dice.next()
      await this.world.later(seenAfterMs)
      const version = this.#versionAt(key, this.world.nowMs - lagMs)
      const body = `${key} v${version} at ${this.world.nowMs}`
      await this.world.later(tookMs - seenAfterMs)
      await new Promise<void>((resolve) => host.run(resolve))
      if (signal.aborted) throw signal.reason
      if (this.#originIs === 'failing' && dice.isHit(0.7)) throw new Error('the origin fails')
      return { body, version }
    } finally {
      over()
    }
  }

  #save(): void {
    const { dice } = this.world
    const key = KEYS[Math.floor(dice.next() * KEYS.length)]!
    const saved = this.#database.get(key)!
    const version = saved.at(-1)!.version + 1
    saved.push({ atMs: this.world.nowMs, version })
    const { cache, host } = this.#someone()
    // One save in ten is not followed up: its process died.
    if (dice.isHit(0.9)) host.run(() => void cache.invalidate(key, { scope: 'group', version }))
  }

  #forget(): void {
    const instance = this.#someone()
    const key = KEYS[Math.floor(this.world.dice.next() * KEYS.length)]!
    instance.host.run(() => {
      instance.forgottenAtMs.set(key, this.world.nowMs)
      this.#forgottenAtMs.set(key, this.world.nowMs)
      void instance.cache.forget(key, { scope: 'group' })
    })
  }

  /** The way to the shared cache. */
  #link(host: Host): SharedEntries {
    const call = async <T>(effect: () => Promise<T>): Promise<T> => {
      const { dice } = this.world
      const tripMs = () =>
        this.#sharedIs === 'slow' && dice.isHit(0.5) ? dice.between(30, 400) : dice.between(0.1, 2)
      if (this.#sharedIs === 'down') throw new Error('connection refused')
      await this.world.later(tripMs())
      const answer = await effect()
      await this.world.later(tripMs())
      await new Promise<void>((resolve) => host.run(resolve))
      return answer
    }
    return {
      look: (...args) => call(() => this.#entries.look(...args)),
      store: (...args) => call(() => this.#entries.store(...args)),
      release: (...args) => call(() => this.#entries.release(...args)),
      invalidate: (...args) => call(() => this.#entries.invalidate(...args)),
      forget: (...args) =>
        call(() => {
          // Said again, it can arrive long after it was said first.
          this.#forgottenAtMs.set(KEYS.find((key) => args[0].endsWith(key))!, this.world.nowMs)
          return this.#entries.forget(...args)
        }),
      listen: (hear) => {
        const listener = (news: News) => {
          if (this.#sharedIs === 'down' || this.world.dice.isHit(0.05)) return
          this.world.in(this.world.dice.between(0.1, 20), () => host.run(() => hear(news)))
        }
        this.#listeners.add(listener)
        return { isUp: true, close: async () => void this.#listeners.delete(listener) }
      },
    }
  }

  #listened(entries: SharedEntries): SharedEntries {
    entries.listen((news) => {
      for (const listener of this.#listeners) listener(news)
    })
    return entries
  }

  #versionAt(key: string, atMs: number): number {
    return this.#database.get(key)!.findLast((one) => one.atMs <= atMs)?.version ?? 0
  }

  #someone() {
    return this.#instances[Math.floor(this.world.dice.next() * this.#instances.length)]!
  }

  #every(ms: number, happen: () => void): void {
    const { world } = this
    const again = () => {
      happen()
      world.in(ms * world.dice.between(0.2, 1.8), again)
    }
    world.in(ms * world.dice.next(), again)
  }

  #wrong(what: string): void {
    this.wrongs.push(`at ${Math.round(this.world.nowMs)} ms: ${what}`)
  }
}
