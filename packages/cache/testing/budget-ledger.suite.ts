import { ManualClock } from '@garner/db'
import { describe, expect, test } from 'vitest'
import { createMemoryLedger } from '../src/memory/ledger.ts'
import { type Ask, type Capacity, GUARD_MS, type Lease, STEP_MS, TTL_MS, WINDOW_MS } from '../src/share.ts'
import type { BudgetLedger } from '../src/store.ts'
import { Dice } from './world.ts'

export interface LedgerUnderTest {
  ledger: BudgetLedger
  /** The same budgets through another connection or process; none where there is only one. */
  second?: BudgetLedger | undefined
  /** What the ledger takes for the database's clock; the suite sets it. */
  clock: ManualClock
  /** From now on the database is in another history, as after a failover. */
  changeHistory: () => void
  close(): Promise<void>
}

export interface BudgetLedgerSuite {
  name: string
  /** Opens an empty ledger whose database's clock is `clock`. Called once for each test. */
  open: (clock: ManualClock) => Promise<LedgerUnderTest>
}

const CAPACITY: Capacity = { rate: 100, concurrency: 20, loadMaxMs: 2_000 }
const TAIL_MS = GUARD_MS + WINDOW_MS

/** The conformance suite of `BudgetLedger` (src/store.ts). Call it at the top of a Vitest file. */
export function describeBudgetLedger({ name, open }: BudgetLedgerSuite): void {
  describe(`budget ledger: ${name}`, () => {
    const holds = (title: string, body: (scene: LedgerScene) => Promise<void>) =>
      test(title, async () => {
        const opened = await open(new ManualClock())
        try {
          const scene = new LedgerScene(opened)
          await opened.ledger.configure('reads', CAPACITY)
          await body(scene)
        } finally {
          await opened.close()
        }
      })

    holds('a budget that was never configured has nothing to lend', async ({ ledger, ask }) => {
      await expect(ledger.lease('writes', ask('a'))).rejects.toMatchObject({ code: 'UNKNOWN_BUDGET' })
      await expect(
        ledger.release('writes', { incarnation: 'a', recent: 0, inFlight: 0 }),
      ).rejects.toMatchObject({ code: 'UNKNOWN_BUDGET' })
      expect(await ledger.standing('writes')).toBeNull()
    })

    holds('who is alone and wants all gets nine tenths, for a time that is a duration', async (scene) => {
      const lease = await scene.lease('a', { wantRate: 100, wantConcurrency: 20 })
      expect(lease).toEqual({
        generation: 1,
        rate: 90,
        ownRate: 0,
        concurrency: 18,
        ttlMs: TTL_MS,
        isOwed: false,
      })
    })

    holds('who wants nothing gets a floor, who wants little gets that', async (scene) => {
      expect(await scene.lease('a', { wantRate: 0, wantConcurrency: 0 })).toMatchObject({
        rate: 1,
        concurrency: 1,
      })
      expect(await scene.lease('b', { wantRate: 7, wantConcurrency: 2 })).toMatchObject({
        rate: 7,
        concurrency: 2,
      })
    })

    holds('every grant has a higher generation than all before it', async (scene) => {
      const generations: number[] = []
      for (const who of ['a', 'b', 'a', 'c', 'b']) generations.push((await scene.lease(who)).generation)
      expect(generations).toEqual([1, 2, 3, 4, 5])
    })

    holds('a newcomer finds what was kept back, and leaves half of it to the next', async (scene) => {
      await scene.lease('a', { wantRate: 100 })
      expect(await scene.lease('b', { wantRate: 100 })).toMatchObject({ rate: 5, isOwed: true })
      expect(await scene.lease('c', { wantRate: 100 })).toMatchObject({ rate: 3, isOwed: true })
      expect(await scene.reserved()).toBe(98)
    })

    holds(
      'a smaller share stays reserved in its old size until its holder has confirmed the new one',
      async (scene) => {
        const first = await scene.lease('a', { wantRate: 100 })
        await scene.lease('b', { wantRate: 100 })
        const second = await scene.lease('a', { generation: first.generation, recent: 90, wantRate: 100 })
        expect(second.rate).toBe(45)
        expect(await scene.lease('b', { generation: 2, wantRate: 100 })).toMatchObject({
          rate: 10,
          isOwed: true,
        })
        await scene.lease('a', { generation: second.generation, recent: 0, wantRate: 100 })
        expect(await scene.lease('b', { generation: 2, wantRate: 100 })).toMatchObject({
          rate: 45,
          isOwed: false,
        })
      },
    )

    holds('what it has just read with a larger share stays reserved for a window', async (scene) => {
      const first = await scene.lease('a', { wantRate: 100 })
      await scene.lease('b', { wantRate: 100 })
      const second = await scene.lease('a', { generation: first.generation, wantRate: 100 })
      await scene.lease('a', { generation: second.generation, recent: 70, wantRate: 100 })
      expect((await scene.lease('b', { wantRate: 100 })).rate).toBe(30)
      await scene.pass(TAIL_MS - 1)
      expect((await scene.lease('b', { wantRate: 100 })).rate).toBe(30)
      await scene.pass(1)
      expect((await scene.lease('b', { wantRate: 100 })).rate).toBe(45)
    })

    holds(
      'every earlier share counts, not only the last, when answers were lost in between',
      async (scene) => {
        const heard = await scene.lease('a', { wantRate: 90 })
        expect(heard.rate).toBe(90)
        for (let n = 0; n < 3; n++)
          await scene.lease('a', { generation: heard.generation, recent: 90, wantRate: 2 })
        expect((await scene.lease('b', { wantRate: 100 })).rate).toBe(5)
        expect(await scene.reserved()).toBe(95)
      },
    )

    holds('an answer that was lost costs capacity until it runs out, and not longer', async (scene) => {
      await scene.lease('a', { wantRate: 90 })
      await scene.pass(TTL_MS + TAIL_MS - 1)
      expect((await scene.lease('b', { wantRate: 100 })).rate).toBe(10)
      await scene.pass(1 + CAPACITY.loadMaxMs)
      expect((await scene.lease('b', { wantRate: 100 })).rate).toBe(90)
    })

    holds(
      'a restart is a new holder: it starts with nothing, and its former life keeps its share',
      async (scene) => {
        await scene.lease('a', { holder: 'host-1', wantRate: 100 })
        expect((await scene.lease('a2', { holder: 'host-1', wantRate: 100 })).rate).toBe(5)
      },
    )

    holds('a holder that leaves gives back at once what it has not just used', async (scene) => {
      await scene.lease('a', { wantRate: 100, wantConcurrency: 20 })
      await scene.ledger.release('reads', { incarnation: 'a', recent: 20, inFlight: 0 })
      expect(await scene.lease('b', { wantRate: 100, wantConcurrency: 20 })).toMatchObject({
        rate: 80,
        concurrency: 18,
      })
      await scene.pass(TAIL_MS)
      expect((await scene.lease('b', { wantRate: 100 })).rate).toBe(90)
    })

    holds('reads that a leaver has under way count until they must have ended', async (scene) => {
      await scene.lease('a', { wantRate: 100, wantConcurrency: 20 })
      await scene.ledger.release('reads', { incarnation: 'a', recent: 5, inFlight: 4 })
      expect(await scene.reservedConcurrency()).toBe(4)
      await scene.pass(TAIL_MS)
      await scene.lease('b')
      expect(await scene.reservedConcurrency()).toBe(4 + 1)
      await scene.pass(TTL_MS + CAPACITY.loadMaxMs)
      await scene.lease('b', { generation: 2 })
      expect(await scene.reservedConcurrency()).toBe(1)
    })

    holds('releasing what one does not have changes nothing', async (scene) => {
      await scene.lease('a', { wantRate: 50 })
      await scene.ledger.release('reads', { incarnation: 'nobody', recent: 0, inFlight: 0 })
      expect(await scene.reserved()).toBe(50)
    })

    holds(
      'concurrency is lent as rate is, and reserved until reads under way must have ended',
      async (scene) => {
        await scene.lease('a', { wantConcurrency: 20 })
        expect((await scene.lease('b', { wantConcurrency: 20 })).concurrency).toBe(1)
        await scene.pass(TTL_MS + TAIL_MS)
        expect((await scene.lease('c', { wantConcurrency: 20 })).concurrency).toBeLessThan(3)
        await scene.pass(CAPACITY.loadMaxMs)
        expect((await scene.lease('c', { wantConcurrency: 20 })).concurrency).toBe(18)
      },
    )

    holds('demand is divided fairly: nobody gets less than another who wants no less', async (scene) => {
      const wants: Record<string, number> = { a: 100, b: 10, c: 100, d: 100 }
      const generations: Record<string, number> = {}
      for (let round = 0; round < 12; round++) {
        for (const [who, wantRate] of Object.entries(wants)) {
          const { generation } = await scene.lease(who, { wantRate, generation: generations[who] ?? 0 })
          generations[who] = generation
        }
        await scene.pass(STEP_MS)
      }
      const { holders } = (await scene.ledger.standing('reads'))!
      expect(holders.map((one) => one.rate)).toEqual([26, 10, 27, 27])
    })

    holds('own saves that wait are lent more, out of what is kept back', async (scene) => {
      const { generation } = await scene.lease('a', { wantRate: 100 })
      const lease = await scene.lease('a', { generation, wantRate: 100, wantOwn: 3 })
      expect(lease).toMatchObject({ rate: 93, ownRate: 3 })
      expect(await scene.lease('a', { generation: 2, wantRate: 100, wantOwn: 50 })).toMatchObject({
        rate: 95,
        ownRate: 5,
      })
    })

    holds('a small fall in demand is not followed while nobody misses it', async (scene) => {
      const { generation } = await scene.lease('a', { wantRate: 40 })
      expect((await scene.lease('a', { generation, wantRate: 35 })).rate).toBe(40)
      expect((await scene.lease('a', { generation: 2, wantRate: 20 })).rate).toBe(20)
    })

    holds('a database clock that is set forward by an hour ends no lease', async (scene) => {
      await scene.lease('a', { wantRate: 100 })
      scene.clock.jump(3_600_000)
      expect((await scene.lease('b', { wantRate: 100 })).rate).toBe(5)
      await scene.pass(TTL_MS)
      expect(await scene.reserved()).toBe(95)
    })

    holds(
      'a database clock that is set back by an hour holds leases up by no more than that look',
      async (scene) => {
        await scene.lease('a', { wantRate: 100 })
        scene.clock.jump(-3_600_000)
        await scene.look()
        await scene.pass(TTL_MS + TAIL_MS + CAPACITY.loadMaxMs)
        expect((await scene.lease('b', { wantRate: 100 })).rate).toBe(90)
      },
    )

    holds('another capacity holds from then on; what exceeds it is not renewed', async (scene) => {
      const { generation } = await scene.lease('a', { wantRate: 100 })
      await scene.ledger.configure('reads', { ...CAPACITY, rate: 50 })
      expect((await scene.lease('b', { wantRate: 100 })).rate).toBe(0)
      const smaller = await scene.lease('a', { generation, wantRate: 100 })
      expect(smaller.rate).toBe(22)
      await scene.lease('a', { generation: smaller.generation, wantRate: 100 })
      expect((await scene.lease('b', { generation: 2, wantRate: 100 })).rate).toBe(23)
      expect((await scene.ledger.standing('reads'))!.capacity.rate).toBe(50)
    })

    holds('budgets know nothing of each other', async (scene) => {
      await scene.ledger.configure('other', { rate: 10, concurrency: 2, loadMaxMs: 1_000 })
      await scene.lease('a', { wantRate: 100 })
      expect((await scene.ledger.lease('other', scene.ask('a', { wantRate: 100 }))).rate).toBe(9)
      expect(await scene.reserved()).toBe(90)
    })

    holds('its standing names the holders and what counts as used', async (scene) => {
      await scene.lease('b', { wantRate: 10, wantConcurrency: 2 })
      await scene.lease('a', { wantRate: 5, wantConcurrency: 1 })
      expect(await scene.ledger.standing('reads')).toEqual({
        capacity: CAPACITY,
        reserved: { rate: 15, concurrency: 3 },
        holders: [
          { holder: 'host of a', incarnation: 'a', rate: 5, concurrency: 1, wantRate: 5 },
          { holder: 'host of b', incarnation: 'b', rate: 10, concurrency: 2, wantRate: 10 },
        ],
      })
    })

    holds(
      'holders that ask at the same moment, from all sides, never get more than there is',
      async (scene) => {
        const both = [scene.ledger, scene.second]
        const generations: Record<string, number> = {}
        for (let round = 0; round < 8; round++) {
          await Promise.all(
            Array.from({ length: 12 }, async (_, n) => {
              const who = `racer-${n}`
              const { generation } = await both[n % 2]!.lease(
                'reads',
                scene.ask(who, { wantRate: 100, wantConcurrency: 20, generation: generations[who] ?? 0 }),
              )
              generations[who] = generation
            }),
          )
          const { reserved } = (await scene.second.standing('reads'))!
          expect(reserved.rate).toBeLessThanOrEqual(CAPACITY.rate)
          expect(reserved.concurrency).toBeLessThanOrEqual(CAPACITY.concurrency)
          await scene.pass(STEP_MS)
        }
        expect(new Set(Object.values(generations)).size).toBe(12)
      },
    )

    holds('does, at every step of random ones, what the ledger in memory does', async (scene) => {
      for (const seed of [1, 2, 3]) await compare(scene, seed)
    })

    holds('in another history it lends nothing until whatever it misses has run out', async (scene) => {
      const { generation } = await scene.lease('a', { wantRate: 50 })
      scene.changeHistory()
      expect(await scene.lease('a', { generation, wantRate: 50 })).toMatchObject({ rate: 0, isOwed: true })
      await scene.pass(TTL_MS + TAIL_MS + CAPACITY.loadMaxMs - 1)
      expect((await scene.lease('b', { wantRate: 50 })).rate).toBe(0)
      await scene.pass(1)
      expect((await scene.lease('b', { wantRate: 50 })).rate).toBe(50)
    })
  })
}

/** One opened ledger, with short words for what tests do over and over. */
class LedgerScene {
  readonly ledger: BudgetLedger
  readonly second: BudgetLedger
  readonly clock: ManualClock
  readonly changeHistory: () => void

  constructor(opened: LedgerUnderTest) {
    this.ledger = opened.ledger
    this.second = opened.second ?? opened.ledger
    this.clock = opened.clock
    this.changeHistory = opened.changeHistory
  }

  readonly ask = (incarnation: string, part: Partial<Ask> = {}): Ask => ({
    incarnation,
    holder: `host of ${incarnation}`,
    generation: 0,
    recent: 0,
    wantRate: 0,
    wantOwn: 0,
    wantConcurrency: 0,
    ...part,
  })

  lease(incarnation: string, part: Partial<Ask> = {}): Promise<Lease> {
    return this.ledger.lease('reads', this.ask(incarnation, part))
  }

  async reserved(): Promise<number> {
    return (await this.ledger.standing('reads'))!.reserved.rate
  }

  async reservedConcurrency(): Promise<number> {
    return (await this.ledger.standing('reads'))!.reserved.concurrency
  }

  /** Somebody looks at the ledger, which is what moves its time on. */
  look(): Promise<void> {
    return this.ledger.release('reads', { incarnation: 'bystander', recent: 0, inFlight: 0 })
  }

  /** Lets `ms` pass by the database's clock, with looks often enough for the ledger's time to keep up. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= STEP_MS) {
      this.clock.advance(Math.min(left, STEP_MS))
      await this.look()
    }
  }
}

/** The same random asks to this ledger and to the one in memory. */
async function compare({ ledger, clock, ask }: LedgerScene, seed: number): Promise<void> {
  const dice = new Dice(seed)
  const memory = createMemoryLedger({ clock })
  const budget = `random-${seed}`
  for (const one of [ledger, memory])
    await one.configure(budget, { rate: 40, concurrency: 7, loadMaxMs: 900 })
  const generations: Record<string, number> = {}
  for (let n = 0; n < 60; n++) {
    clock.advance(Math.floor(dice.next() * 400))
    if (dice.isHit(0.05)) clock.jump(Math.floor(dice.between(-5_000, 5_000)))
    const who = `holder-${Math.floor(dice.next() * 5)}`
    if (dice.isHit(0.1)) {
      const parting = {
        incarnation: who,
        recent: Math.floor(dice.next() * 9),
        inFlight: Math.floor(dice.next() * 3),
      }
      for (const one of [ledger, memory]) await one.release(budget, parting)
    } else {
      const asked = ask(who, {
        generation: dice.isHit(0.7) ? (generations[who] ?? 0) : 0,
        recent: Math.floor(dice.next() * 20),
        wantRate: Math.floor(dice.next() * 50),
        wantOwn: dice.isHit(0.2) ? 2 : 0,
        wantConcurrency: Math.floor(dice.next() * 8),
      })
      const [here, there] = [await ledger.lease(budget, asked), await memory.lease(budget, asked)]
      expect(here).toEqual(there)
      generations[who] = here.generation
    }
    expect(await ledger.standing(budget)).toEqual(await memory.standing(budget))
  }
}
