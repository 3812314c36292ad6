import { ManualClock, StoreUnavailable } from '@garner/db'
import { describe, expect, onTestFinished, test } from 'vitest'
import { OriginBudget, type OriginBudgetOptions } from './budget.ts'
import { createMemoryLedger } from './memory/ledger.ts'
import type { Ask } from './share.ts'
import type { BudgetLedger } from './store.ts'

const CAPACITY = { rate: 100, concurrency: 20, loadMaxMs: 2_500 }

/** One instance on a ledger whose answers the test may hold back. */
class Scene {
  readonly clock = new ManualClock()
  readonly ledger = createMemoryLedger({ clock: this.clock })
  readonly asks: (Ask & { atMs: number })[] = []
  readonly faults: unknown[] = []
  releases = 0
  /** How the ledger answers; `late` says how late, in ms. */
  way: 'works' | 'fails' | 'hangs' | { lateMs: number } = 'works'
  readonly stop = new AbortController()
  #running: Promise<void> | null = null

  budget(part: Partial<OriginBudgetOptions> = {}): OriginBudget {
    const ledger: BudgetLedger = {
      ...this.ledger,
      lease: async (budget, ask) => {
        const { way } = this
        this.asks.push({ ...ask, atMs: this.clock.monotonicMs() })
        if (way === 'fails') throw new StoreUnavailable('busy', 'testing')
        const lease = await this.ledger.lease(budget, ask)
        if (way === 'hangs') return new Promise(() => {})
        if (typeof way === 'object') await this.clock.sleep(way.lateMs)
        return lease
      },
      release: async (budget, parting) => {
        this.releases++
        await this.ledger.release(budget, parting)
      },
    }
    return new OriginBudget({
      ...{ ledger, budget: 'reads', capacity: CAPACITY, holder: 'host-1', incarnation: 'life-1' },
      ...{ clock: this.clock, random: () => 0.5, onFault: (error) => this.faults.push(error) },
      ...part,
    })
  }

  async running(part: Partial<OriginBudgetOptions> = {}): Promise<OriginBudget> {
    const budget = this.budget(part)
    this.#running = budget.run(this.stop.signal)
    onTestFinished(() => this.stop.abort())
    await this.pass(0)
    return budget
  }

  async stopped(): Promise<void> {
    this.stop.abort()
    await this.#running
  }

  async pass(ms: number): Promise<void> {
    const untilMs = this.clock.monotonicMs() + ms
    const settle = async () => {
      for (let n = 0; n < 8; n++) await new Promise(setImmediate)
    }
    for (;;) {
      await settle()
      const nextMs = this.clock.nextWakeInMs
      if (nextMs === null || this.clock.monotonicMs() + nextMs > untilMs) break
      this.clock.advance(nextMs)
    }
    this.clock.advance(untilMs - this.clock.monotonicMs())
    await settle()
  }

  /** Asks for `count` reads over a second, which take no time; answers how many were let through. */
  async demand(budget: OriginBudget, count: number): Promise<number> {
    let admitted = 0
    for (let n = 0; n < count; n++) {
      const ticket = budget.enter({ rank: 'read', untilMs: this.clock.monotonicMs() })
      ticket.admitted.then(
        () => {
          admitted++
          budget.end()
        },
        () => {},
      )
      await this.pass(1_000 / count)
    }
    return admitted
  }
}

describe('a share', () => {
  test('is renewed three times in its life', async () => {
    const scene = new Scene()
    const budget = await scene.running()
    await scene.pass(10_000)
    expect(scene.asks.map((one) => one.atMs)).toEqual([
      0, 1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000, 8_000, 9_000, 10_000,
    ])
    expect(budget.counters()).toMatchObject({ renewals: 11, renewalFailures: 0 })
  })

  test('follows demand up at once, and down when it has gone', async () => {
    const scene = new Scene()
    const budget = await scene.running()
    expect(budget.counters().rate).toBe(1)
    expect(await scene.demand(budget, 50)).toBeGreaterThan(35)
    expect(budget.counters().rate).toBeGreaterThan(40)
    await scene.pass(2_100)
    expect(budget.counters().rate).toBe(1)
  })

  test('is let run out where nobody reads, and is there again for the first who does', async () => {
    const scene = new Scene()
    const budget = await scene.running({ idleMs: 10_000 })
    await scene.demand(budget, 1)
    await scene.pass(15_000)
    const asks = scene.asks.length
    expect(budget.counters().rate).toBe(0)
    await scene.pass(3_600_000)
    expect(scene.asks.length).toBe(asks)
    const first = budget.enter({ rank: 'read', untilMs: scene.clock.monotonicMs() + 250 })
    await scene.pass(0)
    await first.admitted
    expect(scene.asks.length).toBe(asks + 1)
    budget.end()
    await scene.pass(5_000)
    expect(scene.asks.length).toBeGreaterThan(asks + 4)
  })

  test('for a burst of misses is asked for once, not once per miss', async () => {
    const scene = new Scene()
    const budget = await scene.running()
    await scene.pass(500)
    const before = scene.asks.length
    for (let n = 0; n < 500; n++) budget.enter({ rank: 'read', untilMs: 0 }).admitted.catch(() => {})
    await scene.pass(50)
    expect(scene.asks.length - before).toBe(1)
  })

  test('for demand that grows all the time is asked for ten times a second at most', async () => {
    const scene = new Scene()
    const budget = await scene.running()
    scene.asks.length = 0
    for (let ms = 0; ms < 1_000; ms += 10) {
      for (let n = 0; n < ms / 50; n++) budget.enter({ rank: 'read', untilMs: 0 }).admitted.catch(() => {})
      await scene.pass(10)
    }
    expect(scene.asks.length).toBeGreaterThan(4)
    expect(scene.asks.length).toBeLessThanOrEqual(10)
  })

  test('that becomes smaller is confirmed at once', async () => {
    const scene = new Scene()
    const budget = await scene.running()
    await scene.demand(budget, 50)
    await scene.pass(2_500)
    const [shrinking, confirming] = scene.asks.filter((one) => one.wantRate === 0).slice(1)
    expect(confirming!.atMs - shrinking!.atMs).toBe(0)
    expect(confirming!.generation).toBeGreaterThan(shrinking!.generation)
    expect((await scene.ledger.standing('reads'))!.reserved.rate).toBe(1)
  })

  test('that others still use is asked for again soon', async () => {
    const scene = new Scene()
    await scene.ledger.configure('reads', CAPACITY)
    const taken = {
      incarnation: 'other',
      holder: 'other',
      generation: 0,
      recent: 0,
      wantOwn: 0,
      wantConcurrency: 1,
    }
    await scene.ledger.lease('reads', { ...taken, wantRate: 100 })
    const budget = await scene.running()
    scene.asks.length = 0
    for (let n = 0; n < 200; n++) budget.enter({ rank: 'read', untilMs: 0 }).admitted.catch(() => {})
    await scene.pass(2_000)
    expect(budget.counters().rate).toBeLessThan(45)
    expect(scene.asks.length).toBeGreaterThan(5)
  })

  test('is given back when the instance leaves', async () => {
    const scene = new Scene()
    const budget = await scene.running()
    await scene.demand(budget, 50)
    await scene.stopped()
    expect(scene.releases).toBe(1)
    expect(budget.counters().rate).toBe(0)
    await expect(budget.enter({ rank: 'own', untilMs: 0 }).admitted).rejects.toMatchObject({
      reason: 'no-share',
    })
  })

  test('given back, whoever waited for more of it is refused, and no timer is left', async () => {
    const scene = new Scene()
    const budget = await scene.running()
    await scene.pass(500)
    const waiting = [0, 1, 2, 3].map(() =>
      budget.enter({ rank: 'read', untilMs: scene.clock.monotonicMs() + 250 }),
    )
    waiting[0]!.admitted.then(() => budget.end())
    const ends = Promise.allSettled(waiting.map((one) => one.admitted))
    expect(budget.counters().waiting).toBe(3)
    await scene.stopped()
    expect((await ends).map((one) => one.status)).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected'])
    expect(budget.counters().waiting).toBe(0)
    expect(scene.clock.nextWakeInMs).toBeNull()
  })

  test('is of whole numbers', () => {
    const scene = new Scene()
    for (const rate of [0, -1, 1.5, Number.NaN])
      expect(() => scene.budget({ capacity: { ...CAPACITY, rate } })).toThrow(RangeError)
  })

  test('lost at the ledger’s side of a leaver comes back by itself: leaving does not fail', async () => {
    const scene = new Scene()
    await scene.running({
      ledger: { ...scene.ledger, release: () => Promise.reject(new StoreUnavailable('io', 'testing')) },
    })
    await expect(scene.stopped()).resolves.toBeUndefined()
  })
})

describe('when the ledger', () => {
  const allowed = (budget: OriginBudget) => budget.counters().rate > 0

  test('fails, the share goes on until its own end and then everything is refused; never unlimited', async () => {
    const scene = new Scene()
    const budget = await scene.running()
    scene.way = 'fails'
    await scene.pass(2_899)
    expect(allowed(budget)).toBe(true)
    await scene.pass(1)
    expect(allowed(budget)).toBe(false)
    expect(await scene.demand(budget, 100)).toBe(0)
    expect(scene.faults[0]).toMatchObject({ code: 'STORE_UNAVAILABLE' })
    expect(budget.counters().renewalFailures).toBe(scene.faults.length)
  })

  test('hangs, the same, and it is not asked more and more', async () => {
    const scene = new Scene()
    const budget = await scene.running()
    scene.way = 'hangs'
    await scene.pass(2_900)
    expect(allowed(budget)).toBe(false)
    await scene.pass(30_000)
    // One before, and two that hang.
    expect(scene.asks).toHaveLength(3)
  })

  test('is back, the share is', async () => {
    const scene = new Scene()
    const budget = await scene.running()
    scene.way = 'fails'
    await scene.pass(20_000)
    scene.way = 'works'
    await scene.pass(1_100)
    expect(allowed(budget)).toBe(true)
    expect(await scene.demand(budget, 50)).toBeGreaterThan(30)
  })

  test('answers late, the lease is counted from before it was asked', async () => {
    const scene = new Scene()
    const budget = await scene.running()
    scene.way = { lateMs: 900 }
    await scene.pass(1_000)
    scene.way = 'fails'
    await scene.pass(2_899)
    expect(allowed(budget)).toBe(true)
    await scene.pass(1)
    expect(allowed(budget)).toBe(false)
  })

  test('answers an ask after a later one, the older answer is left alone', async () => {
    const scene = new Scene()
    const budget = await scene.running()
    scene.way = { lateMs: 1_500 }
    await scene.pass(1_000)
    scene.way = 'works'
    await scene.pass(1_300)
    const { validForMs } = budget.counters()
    await scene.pass(200)
    expect(budget.counters().validForMs).toBe(validForMs - 200)
  })

  test('is asked by a machine that was suspended, its old share is gone at once', async () => {
    const scene = new Scene()
    const budget = await scene.running()
    expect(allowed(budget)).toBe(true)
    scene.clock.jump(60_000)
    expect(allowed(budget)).toBe(false)
  })

  test('comes back after an outage, a fleet does not ask in step', async () => {
    const scene = new Scene()
    scene.way = 'fails'
    let turn = 0
    await scene.running({ random: () => (turn++ % 2 ? 0.9 : 0.1) })
    await scene.pass(5_000)
    const gaps = scene.asks.slice(1).map(({ atMs }, n) => Math.round(atMs - scene.asks[n]!.atMs))
    expect(gaps.slice(0, 6)).toEqual([221, 518, 662, 1_037, 920, 1_080])
  })
})
