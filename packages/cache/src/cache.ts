import type { Clock } from '@garner/db'
import { AgeClock } from './age-clock.ts'
import type { OriginBudget } from './budget.ts'
import type { Codec } from './codec.ts'
import { type CacheCounters, Reads } from './counters.ts'
import { Deadlines } from './deadlines.ts'
import { addressOf, type Entry, standing } from './entry.ts'
import { BudgetSpent, LoadLate } from './errors.ts'
import { Fill, Fills, type Reader, type Result } from './fill.ts'
import { Filler } from './filler.ts'
import type { Rank } from './held-share.ts'
import { type Load, Loader } from './load.ts'
import { MemoryTier } from './memory-tier.ts'
import { SharedTier } from './shared-tier.ts'
import type { News, SharedEntries } from './store.ts'

export interface CacheOptions<Body> {
  budget: OriginBudget
  codec: Codec<Body>
  clock: Clock
  /** 0 ≤ n < 1. */
  random: () => number
  /** This life of this process: never used before, by anybody (a random id). */
  incarnation: string
  /** Up to this age a copy is served as it is. */
  freshMs: number
  /** No copy older than this is ever served, counted from before the origin was asked. */
  maxAgeMs: number
  /** The bound of this process's own copies, in bytes; 0 for none. */
  memoryMaxBytes: number
  /** The second tier, if there is one. */
  shared?: SharedEntries | undefined
  /** The longest that one call of the shared cache may take; default 75 ms, a third of a reader's usual patience. */
  sharedMs?: number
  /** A reader's patience where `get` states none; default 250 ms. */
  waitMs?: number
  /** A load's own deadline; default 2_000 ms. With 500 ms to end in, it is within the budget's `loadMaxMs`. */
  loadMs?: number
  /** How far a copy's time of being fresh may be shortened, as a part of it; default 0.1. */
  spread?: number
  /** How long a version that was said to exist is remembered; default 60_000. Longer than any load and any lag. */
  floorMs?: number
  /** The most readers that wait at once; default 10_000. */
  readersMax?: number
}

export interface GetOptions<Body> {
  /** Whose data this is (a group, a tenant), with whatever makes it another space of keys. Not an access check. */
  scope: string
  /** The reader must not get anything older: their own last save. Default 0. */
  minVersion?: number
  /**
   * A version that the caller knows to exist, from anywhere: as if `invalidate` had told this instance so just now. Older
   * copies are served only to those who wait in vain. Default 0.
   */
  floor?: number
  /** Asks the origin. Not called unless the budget allows it. Must end when its signal aborts. */
  load: Load<Body>
  /** The reader goes away when it aborts: `get` rejects with its reason; load and other readers go on. */
  signal?: AbortSignal
  /** This reader's patience, for everything together. */
  waitMs?: number
  /** Default `own` with a `minVersion`, else `read`. */
  rank?: Exclude<Rank, 'refresh'>
}

export interface Answer<Body> {
  /** Shared with other readers: not to be changed. */
  body: Body
  version: number
  /** Counted from before the origin was asked. */
  ageMs: number
  /** `stale` when it is older than fresh, or known to be outdated. */
  result: Result
}

/**
 * Cache-aside whose misses never exceed a budget that the whole fleet shares.
 *
 * The path of a read: this process's copy → one fill per key, which others join → the shared cache, whose fill lease
 * lets one instance through → a place in the origin's budget → the load → kept in both tiers. A reader leaves that path
 * as soon as there is something for it: a copy that is fresh, a stale one (the fill goes on behind), an outdated one
 * when nothing better comes in its time; else a refusal that says when to come back.
 *
 * Cut at each seam. The shared cache fails: as if there were none, after `sharedMs` at most. The budget says no: stale,
 * or BudgetSpent. The load fails: everyone who waits hears of it, nothing is kept. The process dies with the fill
 * lease: others wait for it to run out, stale or refused meanwhile. A forgotten key: nothing that was read before is
 * kept or joined, here and where the news arrives; elsewhere it ends by its age.
 */
export class Cache<Body> {
  readonly #options: Required<CacheOptions<Body>>
  readonly #age: AgeClock
  readonly #memory: MemoryTier<Body>
  readonly #shared: SharedTier | null
  readonly #deadlines: Deadlines
  readonly #fills = new Fills<Body>()
  readonly #filler: Filler<Body>
  readonly #reads = new Reads()

  /** Errors: RangeError for bounds that contradict each other. */
  constructor(options: CacheOptions<Body>) {
    this.#options = {
      shared: undefined,
      ...{ sharedMs: 75, waitMs: 250, loadMs: 2_000, spread: 0.1, floorMs: 60_000, readersMax: 10_000 },
      ...options,
    }
    const { clock, budget, maxAgeMs, freshMs, loadMs, shared, sharedMs } = this.#options
    if (maxAgeMs < freshMs) throw new RangeError(`maxAgeMs=${maxAgeMs}: expected at least freshMs=${freshMs}`)
    this.#age = new AgeClock(clock)
    this.#memory = new MemoryTier(this.#options.memoryMaxBytes)
    this.#deadlines = new Deadlines(clock)
    this.#shared = shared
      ? new SharedTier({
          ...{ entries: shared, clock, deadlines: this.#deadlines, timeoutMs: sharedMs },
          onNews: (news) => this.#hear(news),
        })
      : null
    this.#filler = new Filler({
      ...this.#options,
      ...{
        age: this.#age,
        memory: this.#memory,
        shared: this.#shared,
        fills: this.#fills,
        reads: this.#reads,
      },
      loader: new Loader({ budget, deadlines: this.#deadlines, loadMs }),
    })
  }

  /**
   * One body, from wherever it may come.
   * Errors: BudgetSpent, LoadLate, LoadTimedOut, VersionBehind (each with `retryAfterMs`); what `load` threw; the
   * reason of `signal`. All within the reader's patience.
   */
  get(key: string, options: GetOptions<Body>): Promise<Answer<Body>> {
    const address = addressOf(options.scope, key)
    const minVersion = options.minVersion ?? 0
    const slot = this.#memory.get(address)
    const floor = Math.max(slot?.floor ?? 0, options.floor ?? 0)
    // For whoever comes next, and for loads that have begun before.
    if (slot) slot.floor = floor
    const entry = slot?.entry
    if (!entry || entry.version < minVersion) return this.#wait(address, options, null, floor)

    const nowMs = this.#age.nowMs()
    switch (standing(entry, { nowMs, maxAgeMs: this.#options.maxAgeMs, floor: slot.floor })) {
      case 'fresh':
        this.#reads.served('hit')
        return Promise.resolve(answered(entry, nowMs, 'hit'))
      case 'stale': {
        const isRefreshDue = nowMs >= slot.refreshAtMs
        // Known to be outdated: worth waiting for the new one, with this one to fall back on.
        if (entry.version < slot.floor && isRefreshDue) return this.#wait(address, options, entry, slot.floor)
        if (isRefreshDue && !this.#fills.has(address))
          this.#filler.start(new Fill<Body>(address, slot.floor, null), options.load)
        this.#reads.served('stale')
        return Promise.resolve(answered(entry, nowMs, 'stale'))
      }
      case 'expired':
        return this.#wait(address, options, null, slot.floor)
    }
  }

  /**
   * Says that `version` exists: from now on older copies are served only to those who wait in vain, and no load that
   * has not seen it is kept. To be called once a save is committed. Resolves when the shared cache has heard it, or has
   * not within its time (false): then the writer's own `minVersion` still holds, and others see it when copies age.
   */
  async invalidate(key: string, { scope, version }: { scope: string; version: number }): Promise<boolean> {
    const address = addressOf(scope, key)
    this.#memory.put(address, { floor: version })
    const request = { isForgotten: false, version, keepMs: this.#options.floorMs }
    return (await this.#shared?.invalidate(address, request)) ?? true
  }

  /**
   * Removes every copy, also as a fallback, and keeps nothing of loads that have begun; for what must not be seen any
   * more, and for data without versions. Resolves as `invalidate`; instances that do not hear of it serve their copies
   * up to `maxAgeMs`.
   */
  async forget(key: string, { scope, version = 0 }: { scope: string; version?: number }): Promise<boolean> {
    const address = addressOf(scope, key)
    this.#forgetHere(address, version)
    const request = { isForgotten: true, version, keepMs: this.#options.floorMs }
    return (await this.#shared?.invalidate(address, request)) ?? true
  }

  /** See CacheCounters for what they add up to. */
  counters(): CacheCounters {
    return {
      ...this.#reads.counters(),
      memory: this.#memory.counters(),
      shared: this.#shared?.counters() ?? null,
      budget: this.#options.budget.counters(),
    }
  }

  /** For the end of a process: readers that still wait are refused, loads aborted, and all timers let go. */
  async close(): Promise<void> {
    this.#deadlines.close()
    await this.#shared?.close()
  }

  /** Joins the fill of this key, or starts one. */
  #wait(
    address: string,
    options: GetOptions<Body>,
    fallback: Entry<Body> | null,
    known: number,
  ): Promise<Answer<Body>> {
    const { minVersion = 0, waitMs = this.#options.waitMs, signal, load } = options
    const { clock, readersMax } = this.#options
    if (this.#reads.inFlight >= readersMax) return this.#turnAway(fallback)
    this.#reads.came()
    const rank = options.rank ?? (minVersion > 0 ? 'own' : 'read')
    const floor = Math.max(minVersion, known)
    const found = this.#fills.find(address, floor)
    return new Promise((resolve, reject) => {
      const over = () => {
        reader.deadline?.drop()
        signal?.removeEventListener('abort', leave)
      }
      const reader: Reader<Body> = {
        ...{
          minVersion,
          rank,
          isStarter: !found,
          fallback,
          untilMs: clock.monotonicMs() + waitMs,
          deadline: null,
        },
        settle: (entry, result) => {
          over()
          const nowMs = this.#age.nowMs()
          // A copy to fall back on may have become too old while its reader waited.
          if (nowMs - entry.readAtMs > this.#options.maxAgeMs)
            return reader.fail(new BudgetSpent('late', 1_000))
          this.#reads.ended(result)
          resolve(answered(entry, nowMs, result))
        },
        fail: (error) => {
          over()
          this.#reads.rejected(rejectionOf(error))
          reject(error)
        },
      }
      const fill = found ?? new Fill(address, floor, reader)
      const leave = () => {
        fill.leave(reader)
        over()
        this.#reads.rejected('abandoned')
        reject(signal!.reason)
      }
      if (found) found.join(reader, floor)
      else this.#filler.start(fill, load)
      reader.deadline = this.#deadlines.in(waitMs, () =>
        fill.giveUp(reader, fill.hasBegun ? new LoadLate(waitMs, waitMs) : new BudgetSpent('late', waitMs)),
      )
      if (signal?.aborted) leave()
      else signal?.addEventListener('abort', leave, { once: true })
    })
  }

  /** Too many wait already. */
  #turnAway(fallback: Entry<Body> | null): Promise<Answer<Body>> {
    if (fallback) {
      this.#reads.served('stale')
      return Promise.resolve(answered(fallback, this.#age.nowMs(), 'stale'))
    }
    this.#reads.turnedAway()
    return Promise.reject(new BudgetSpent('crowded', 1_000))
  }

  /** News of keys that nobody here has read take no memory. */
  #hear(news: News): void {
    const { address, kind } = news
    if (!this.#memory.get(address) && !this.#fills.has(address)) return
    this.#fills.hear(address)
    if (kind === 'outdated') this.#memory.put(address, { floor: news.version })
    else if (kind === 'forgotten') this.#forgetHere(address, news.version)
  }

  #forgetHere(address: string, version: number): void {
    this.#memory.forget(address, version)
    this.#fills.overtake(address)
  }
}

function answered<Body>(entry: Entry<Body>, nowMs: number, result: Result): Answer<Body> {
  return { body: entry.body, version: entry.version, ageMs: nowMs - entry.readAtMs, result }
}

function rejectionOf(error: unknown): 'refused' | 'late' | 'failed' {
  if (error instanceof LoadLate) return 'late'
  if (error instanceof BudgetSpent) return error.reason === 'late' ? 'late' : 'refused'
  return 'failed'
}
