import { ManualClock } from '@garner/db'
import { expect, onTestFinished } from 'vitest'
import { OriginBudget, type OriginBudgetOptions } from '../src/budget.ts'
import { type Answer, Cache, type CacheOptions, type GetOptions } from '../src/cache.ts'
import { jsonCodec } from '../src/codec.ts'
import type { Loaded } from '../src/load.ts'
import { createMemoryEntries } from '../src/memory/entries.ts'
import { type Capacity, TTL_MS } from '../src/share.ts'
import type { BudgetLedger, SharedEntries } from '../src/store.ts'

export const FRESH_MS = 2_000
export const MAX_AGE_MS = 60_000
export const WAIT_MS = 250
export const LOAD_MS = 2_000

/** A load that the test holds in its hand. */
export interface HeldLoad {
  key: string
  minVersion: number
  signal: AbortSignal
  answer: (body: string, version?: number) => void
  fail: (error: Error) => void
}

/** What became of one call of `get`, as soon as it is known. */
export interface Seen {
  answer: Answer<string> | null
  error: (Error & { code?: string; retryAfterMs?: number }) | null
}

/** A fleet of caches in one process, on one clock that stands still until it is moved. */
export class Place {
  readonly clock = new ManualClock()
  readonly ledger: BudgetLedger
  readonly entries: SharedEntries
  readonly loads: HeldLoad[] = []
  /** What `random` answers. */
  random = 0
  #lives = 0

  constructor() {
    this.ledger = everythingToEveryone()
    this.entries = createMemoryEntries({ clock: this.clock })
  }

  /** A budget whose share is kept alive until the test ends. */
  async budget(capacity: Partial<Capacity> = {}, part: Partial<OriginBudgetOptions> = {}) {
    const budget = this.#budget(capacity, part)
    const stop = new AbortController()
    onTestFinished(() => stop.abort())
    void budget.run(stop.signal)
    await this.settle()
    return budget
  }

  #budget(capacity: Partial<Capacity>, part: Partial<OriginBudgetOptions>): OriginBudget {
    const life = this.#lives++
    return new OriginBudget({
      ledger: this.ledger,
      budget: `reads-${life}`,
      capacity: { rate: 100, concurrency: 20, loadMaxMs: LOAD_MS + 500, ...capacity },
      ...{ holder: `host-${life}`, incarnation: `life-${life}`, clock: this.clock, random: () => 0.5 },
      ...part,
    })
  }

  cache(budget: OriginBudget, part: Partial<CacheOptions<string>> = {}): Cache<string> {
    return new Cache<string>({
      ...{ budget, codec: jsonCodec<string>(), clock: this.clock, random: () => this.random },
      ...{ incarnation: `cache-${this.#lives++}`, freshMs: FRESH_MS, maxAgeMs: MAX_AGE_MS },
      ...{ memoryMaxBytes: 1_000_000, waitMs: WAIT_MS, loadMs: LOAD_MS },
      ...part,
    })
  }

  /** A cache with a budget of its own. */
  async alone(
    part: Partial<CacheOptions<string>> = {},
    capacity: Partial<Capacity> = {},
  ): Promise<Cache<string>> {
    return this.cache(await this.budget(capacity), part)
  }

  /** Several caches on one shared cache and one budget, each with its own share. */
  async fleet(count: number, part: Partial<CacheOptions<string>> = {}): Promise<Cache<string>[]> {
    const caches: Cache<string>[] = []
    for (let n = 0; n < count; n++) caches.push(await this.alone({ shared: this.entries, ...part }))
    return caches
  }

  /** A load that waits in `loads` for its answer. */
  readonly load = (key: string) => (context: { minVersion: number; signal: AbortSignal }) => {
    const { promise, resolve, reject } = Promise.withResolvers<Loaded<string>>()
    this.loads.push({
      key,
      ...context,
      answer: (body, version = 0) => resolve({ body, version }),
      fail: reject,
    })
    context.signal.addEventListener('abort', () => reject(context.signal.reason))
    return promise
  }

  /** Reads without waiting for it. */
  read(cache: Cache<string>, part: Partial<GetOptions<string>> = {}, key = 'list'): Seen {
    const seen: Seen = { answer: null, error: null }
    cache.get(key, { scope: 'group', load: this.load(key), ...part }).then(
      (answer) => {
        seen.answer = answer
      },
      (error) => {
        seen.error = error
      },
    )
    return seen
  }

  /** Reads, answers the load that this begins, and lets it go through. */
  async filled(cache: Cache<string>, body: string, version = 0, key = 'list'): Promise<Seen> {
    const seen = this.read(cache, {}, key)
    await this.settle()
    this.loads.at(-1)!.answer(body, version)
    await this.settle()
    return seen
  }

  /** Lets everything go as far as it can without time passing. */
  async settle(): Promise<void> {
    for (let n = 0; n < 8; n++) await new Promise(setImmediate)
  }

  /** Lets `ms` milliseconds pass, stopping wherever somebody wakes. */
  async pass(ms: number): Promise<void> {
    const untilMs = this.clock.monotonicMs() + ms
    for (;;) {
      await this.settle()
      const nextMs = this.clock.nextWakeInMs
      if (nextMs === null || this.clock.monotonicMs() + nextMs > untilMs) break
      this.clock.advance(nextMs)
    }
    this.clock.advance(untilMs - this.clock.monotonicMs())
    await this.settle()
  }
}

/** Offered is what became of it, at this very moment. */
export function expectSumsToHold(cache: Cache<string>): void {
  const { offered, hit, coalesced, origin, stale, rejected, inFlight, ...rest } = cache.counters()
  expect(hit + coalesced + origin + stale + rejected + inFlight).toBe(offered)
  expect(rest.refused + rest.late + rest.failed + rest.abandoned).toBe(rejected)
}

/** A ledger that lends the whole capacity to whoever asks, so that tests of caches need not warm up a share. */
function everythingToEveryone(): BudgetLedger {
  const capacities = new Map<string, Capacity>()
  let generation = 0
  return {
    async configure(budget, capacity) {
      capacities.set(budget, capacity)
    },
    async lease(budget) {
      const { rate, concurrency } = capacities.get(budget)!
      return { generation: ++generation, rate, ownRate: 0, concurrency, ttlMs: TTL_MS, isOwed: false }
    },
    release: async () => {},
    standing: async () => null,
  }
}
