import { expect } from 'vitest'
import type { Schedule } from '../../src/schedule.ts'
import type { Contract } from './contract.ts'
import { idsOf, rolledBack, type Scene, SUCCEEDED } from './scene.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
/** The clock starts at the beginning of 2026, a Thursday. */
const START_MS = Date.UTC(2026, 0, 1)
const SEVEN_MS = START_MS + 7 * HOUR_MS

function daily(part: Partial<Schedule> = {}): Schedule {
  return {
    ...{ name: 'digest', kind: 'title', tenant: 'alice', payload: { digest: true }, cron: '0 7 * * *' },
    ...{ deadlineMs: HOUR_MS, ...part },
  }
}

const idAt = (atMs: number, name = 'digest') => `schedule:${name}:${atMs}`

function set<Tx>(scene: Scene<Tx>, part: Partial<Schedule> = {}): Promise<void> {
  return scene.change((tx) => scene.store.schedule(tx, daily(part)))
}

/** The schedule as it stands. */
async function record<Tx>(scene: Scene<Tx>, name = 'digest') {
  return (await scene.store.schedules()).find((one) => one.name === name)
}

async function clockAt<Tx>(scene: Scene<Tx>, atMs: number): Promise<void> {
  scene.clock.advance(atMs - scene.clock.nowMs())
}

/** Claims everything and ends it; the ids of what was there. */
async function work<Tx>(scene: Scene<Tx>): Promise<string[]> {
  const claims = await scene.claim({ limit: 1_000 })
  await Promise.all(claims.map((one) => scene.store.publish(one, SUCCEEDED)))
  return idsOf(claims)
}

export function scheduleTests<Tx>({ holds }: Contract<Tx>): void {
  holds('schedule: is kept with its defaults and its next instant', async (scene) => {
    await set(scene)
    const expected = { ...daily(), zone: 'UTC', missed: 'once', nextAtMs: SEVEN_MS, lastFiredAtMs: null }
    expect(await scene.store.schedules()).toMatchObject([expected])
    expect(await scene.second.schedules()).toMatchObject([expected])
  })

  holds('schedule: keeps what it was given', async (scene) => {
    const given = daily({
      ...{
        zone: 'Europe/Berlin',
        missed: 'all',
        key: 'example.org',
        priority: -5,
        payload: [1, { a: null }],
      },
    })
    await set(scene, given)
    expect(await scene.store.schedules()).toEqual([
      { ...given, nextAtMs: SEVEN_MS - HOUR_MS, lastFiredAtMs: null },
    ])
  })

  for (const wrong of [
    { cron: 'every day' },
    { cron: '0 7 * *' },
    { cron: '0 25 * * *' },
    { cron: '0 0 30 2 *' }, // never comes
    { zone: 'Europe/Nowhere' },
  ]) {
    holds(`schedule: refuses ${JSON.stringify(wrong)}`, async (scene) => {
      await scene.change(async (tx) => {
        await expect(scene.store.schedule(tx, daily(wrong))).rejects.toBeInstanceOf(RangeError)
      })
      expect(await scene.store.schedules()).toEqual([])
    })
  }

  holds('schedules: by name; rolled back, there is none', async (scene) => {
    const { store } = scene
    for (const name of ['b', 'c', 'a']) await set(scene, { name })
    await rolledBack(store, (tx) => store.schedule(tx, daily({ name: 'd' })))
    expect((await store.schedules()).map((one) => one.name)).toEqual(['a', 'b', 'c'])
  })

  holds('schedule: fires at its instant, and its job can be claimed by the same call', async (scene) => {
    await set(scene, { key: 'example.org', priority: -5 })
    scene.clock.advance(7 * HOUR_MS - 1)
    expect(await scene.claim()).toEqual([])
    expect(await scene.nextDue()).toBe(1)
    scene.clock.advance(1)
    expect(await scene.nextDue()).toBe(0)
    expect(await scene.claim()).toMatchObject([
      {
        epoch: 1,
        job: {
          ...{ id: idAt(SEVEN_MS), kind: 'title', tenant: 'alice', payload: { digest: true } },
          ...{ key: 'example.org', priority: -5, runAtMs: SEVEN_MS, submittedAtMs: SEVEN_MS },
          ...{ deadlineAtMs: SEVEN_MS + HOUR_MS, subject: null, attempt: 1, generation: 1 },
        },
      },
    ])
    expect(await record(scene)).toMatchObject({ nextAtMs: SEVEN_MS + DAY_MS, lastFiredAtMs: SEVEN_MS })
    expect(await scene.claim()).toEqual([])
  })

  holds('schedule: each instant is fired once, also when claimers race', async (scene) => {
    const { store, second } = scene
    await set(scene, { cron: '*/10 * * * *' })
    for (let n = 1; n <= 5; n++) {
      scene.clock.advance(10 * MINUTE_MS)
      const racing = await Promise.all(
        [store, second, store, second].map((by) => scene.claim({ limit: 3 }, by)),
      )
      expect(idsOf(racing.flat())).toEqual([idAt(START_MS + n * 10 * MINUTE_MS)])
      await store.publish(racing.flat()[0]!, SUCCEEDED)
    }
    expect(await scene.size()).toBe(5)
  })

  holds('schedule: is fired by claims for its kind alone', async (scene) => {
    await set(scene)
    await clockAt(scene, SEVEN_MS + 30 * MINUTE_MS)
    expect(await scene.claim({ kinds: [{ kind: 'photo' }] })).toEqual([])
    expect(await scene.size()).toBe(0)
    expect(await scene.store.nextDueInMs(['photo'])).toBeNull()
    expect(await scene.store.nextDueInMs(['photo', 'title'])).toBe(0)
    expect(await work(scene)).toEqual([idAt(SEVEN_MS)])
  })

  holds('schedule: two of one instant both fire, in order of name', async (scene) => {
    await set(scene, { name: 'b' })
    await set(scene, { name: 'a' })
    await clockAt(scene, SEVEN_MS)
    expect(await work(scene)).toEqual([idAt(SEVEN_MS, 'a'), idAt(SEVEN_MS, 'b')])
  })

  holds('schedule: in its zone, over the change of clocks', async (scene) => {
    await clockAt(scene, Date.UTC(2026, 2, 28, 12))
    await set(scene, { zone: 'Europe/Berlin' })
    expect(await record(scene)).toMatchObject({ nextAtMs: Date.UTC(2026, 2, 29, 5) })
    await clockAt(scene, Date.UTC(2026, 2, 29, 5))
    await work(scene)
    expect(await record(scene)).toMatchObject({ nextAtMs: Date.UTC(2026, 2, 30, 5) })
  })

  holds('missed: `once` makes one job for all of them', async (scene) => {
    await set(scene)
    await clockAt(scene, SEVEN_MS + 3 * DAY_MS + HOUR_MS)
    expect(await work(scene)).toEqual([idAt(SEVEN_MS + 3 * DAY_MS)])
    expect(await record(scene)).toMatchObject({
      nextAtMs: SEVEN_MS + 4 * DAY_MS,
      lastFiredAtMs: SEVEN_MS + 3 * DAY_MS,
    })
  })

  holds('missed: `skip` forgets what is more than a minute late', async (scene) => {
    await set(scene, { missed: 'skip' })
    await clockAt(scene, SEVEN_MS + MINUTE_MS)
    expect(await work(scene)).toEqual([idAt(SEVEN_MS)])
    await clockAt(scene, SEVEN_MS + DAY_MS + MINUTE_MS + 1)
    expect(await work(scene)).toEqual([])
    expect(await record(scene)).toMatchObject({ nextAtMs: SEVEN_MS + 2 * DAY_MS, lastFiredAtMs: SEVEN_MS })
    expect(await scene.total('schedule_skipped')).toBe(0)
  })

  holds('missed: `all` makes one for each, oldest first', async (scene) => {
    await set(scene, { missed: 'all' })
    await clockAt(scene, SEVEN_MS + 3 * DAY_MS + HOUR_MS)
    expect(await work(scene)).toEqual([0, 1, 2, 3].map((n) => idAt(SEVEN_MS + n * DAY_MS)))
    expect(await record(scene)).toMatchObject({ lastFiredAtMs: SEVEN_MS + 3 * DAY_MS })
  })

  for (const [missed, count] of [
    ['all', 100],
    ['once', 1],
    ['skip', 1],
  ] as const) {
    holds(`missed: a schedule of every second, off for a month (${missed})`, async (scene) => {
      await set(scene, { missed, cron: '* * * * * *' })
      const backMs = START_MS + 31 * DAY_MS
      await clockAt(scene, backMs)
      const fired = await work(scene)
      expect(fired).toHaveLength(count)
      expect(fired.at(-1)).toBe(idAt(backMs))
      expect(await record(scene)).toMatchObject({ nextAtMs: backMs + 1_000, lastFiredAtMs: backMs })
    })
  }

  holds('schedule: again with another payload, tenant or policy keeps its time', async (scene) => {
    await set(scene)
    await clockAt(scene, SEVEN_MS + HOUR_MS)
    // What is overdue stays so, and is done in the new way.
    await set(scene, { payload: 'new', tenant: 'bob', missed: 'skip' })
    expect(await record(scene)).toMatchObject({ nextAtMs: SEVEN_MS, missed: 'skip', tenant: 'bob' })
    await set(scene, { payload: 'new', tenant: 'bob' })
    expect(await scene.claim()).toMatchObject([{ job: { tenant: 'bob', payload: 'new', runAtMs: SEVEN_MS } }])
  })

  for (const part of [{ cron: '30 6 * * *' }, { zone: 'Asia/Tokyo' }, { kind: 'photo' }] as const) {
    holds(`schedule: again with ${JSON.stringify(part)} counts from now`, async (scene) => {
      await set(scene)
      await clockAt(scene, SEVEN_MS + HOUR_MS)
      await set(scene, part)
      const { nextAtMs } = (await record(scene))!
      expect(nextAtMs).toBeGreaterThan(scene.clock.nowMs())
      expect(await work(scene)).toEqual([])
      expect(await scene.store.schedules()).toHaveLength(1)
    })
  }

  holds('unschedule: nothing fires any more; what was submitted stays', async (scene) => {
    const { store } = scene
    await set(scene)
    await clockAt(scene, SEVEN_MS)
    const claim = await scene.claimOne()
    await store.publish(claim, { state: 'ready', outcome: 'released' })
    await rolledBack(store, (tx) => store.unschedule(tx, 'digest'))
    expect(await store.schedules()).toHaveLength(1)
    expect(await scene.change((tx) => store.unschedule(tx, 'digest'))).toBe(true)
    expect(await scene.change((tx) => store.unschedule(tx, 'digest'))).toBe(false)
    expect(await store.schedules()).toEqual([])
    await clockAt(scene, SEVEN_MS + 2 * DAY_MS)
    expect(await work(scene)).toEqual([idAt(SEVEN_MS)])
    expect(await scene.nextDue()).toBeNull()
  })

  holds(
    'schedule: a firing that finds the queue full is skipped and counted, and holds up nothing',
    async (scene) => {
      await set(scene, { name: 'full', missed: 'all' })
      await set(scene, { name: 'other', tenant: 'bob' })
      const [waiting] = await scene.submitMany(2, { runAtMs: SEVEN_MS + 30 * DAY_MS })
      await clockAt(scene, SEVEN_MS + DAY_MS)
      expect(await work(scene)).toEqual([idAt(SEVEN_MS + DAY_MS, 'other')])
      expect(await scene.total('schedule_skipped')).toBe(2)
      expect(await record(scene, 'full')).toMatchObject({
        nextAtMs: SEVEN_MS + 2 * DAY_MS,
        lastFiredAtMs: null,
      })
      await scene.change((tx) => scene.store.discard(tx, waiting!.id))
      await clockAt(scene, SEVEN_MS + 3 * DAY_MS)
      // Room for one: the oldest of the two has it.
      expect(await work(scene)).toContain(idAt(SEVEN_MS + 2 * DAY_MS, 'full'))
      expect(await scene.total('schedule_skipped')).toBe(3)
    },
    { perTenant: 2 },
  )

  holds('schedule: of a paused kind it waits, and what it missed is done by its policy', async (scene) => {
    const { store } = scene
    await set(scene)
    await scene.change((tx) => store.pause(tx, 'title', { reason: 'maintenance' }))
    await clockAt(scene, SEVEN_MS + 2 * DAY_MS)
    expect(await work(scene)).toEqual([])
    expect(await scene.size()).toBe(0)
    expect(await scene.nextDue()).toBeNull()
    await scene.change((tx) => store.resume(tx, 'title'))
    expect(await scene.nextDue()).toBe(0)
    expect(await work(scene)).toEqual([idAt(SEVEN_MS + 2 * DAY_MS)])
  })

  holds(
    'schedule: an instant that comes again because the clock went back is not fired again',
    async (scene) => {
      const { store, clock } = scene
      await set(scene)
      await clockAt(scene, SEVEN_MS + 1_000)
      expect(await work(scene)).toEqual([idAt(SEVEN_MS)])
      clock.jump(-60_000)
      await scene.change((tx) => store.unschedule(tx, 'digest'))
      await set(scene, { payload: 'another' })
      expect(await record(scene)).toMatchObject({ nextAtMs: SEVEN_MS })
      const other = await scene.submit()
      clock.advance(60_000)
      expect(await work(scene)).toEqual([other.id])
      expect(await record(scene)).toMatchObject({ nextAtMs: SEVEN_MS + DAY_MS })
      expect((await scene.job(idAt(SEVEN_MS))).payload).toEqual({ digest: true })
    },
  )

  holds('schedule: goes with its tenant', async (scene) => {
    const { store } = scene
    await set(scene)
    await set(scene, { name: 'other', tenant: 'bob' })
    expect(await scene.change((tx) => store.forgetTenant(tx, 'alice'))).toBe(0)
    expect((await store.schedules()).map((one) => one.name)).toEqual(['other'])
    await clockAt(scene, SEVEN_MS)
    expect(await work(scene)).toEqual([idAt(SEVEN_MS, 'other')])
  })
}
