import { systemClock } from '@garner/db'
import { openPostgres, type PostgresDatabase } from '@garner/db/postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeOnPostgres } from '../../../db/testing/postgres.ts'
import {
  claim,
  openedStores,
  pendingOf,
  preparedDatabase,
  submission,
  submissions,
  untilWaiting,
  writeRow,
} from '../../testing/postgres.ts'
import { MeetingPoint } from '../../testing/suite/scene.ts'
import type { Claim } from '../job.ts'

const SUCCEEDED = { state: 'succeeded' } as const

describeOnPostgres('locks', () => {
  let url: string
  let admin: PostgresDatabase
  beforeAll(async () => {
    url = await preparedDatabase()
    admin = openPostgres({ url, clock: systemClock() })
  })
  afterAll(() => admin.close())

  test('an open submission holds up no publication, cancelling or claim of the same tenant’s jobs', async () => {
    const { store, second, db } = await openedStores(url)
    await store.accept(submissions(4))
    const [plain, writing, cancelled] = await claim(store, 3)
    const point = new MeetingPoint()
    const open = store.transaction(async (tx) => {
      await store.submit(tx, submission())
      await point.arrive()
    })
    await point.reached
    // All of these would wait for the tenant's row, or the total's, if they wrote there.
    expect(await second.publish(plain!, SUCCEEDED)).toBe('published')
    expect(await second.publish(writing!, SUCCEEDED, (tx) => writeRow(tx, 'a'))).toBe('published')
    expect(await second.transaction((tx) => second.cancel(tx, cancelled!.job.id))).toBe(true)
    expect(await claim(second)).toHaveLength(1)
    point.letGo()
    await open
    expect(await pendingOf(db)).toEqual({ jobs: 2, total: 2, tenants: 2 })
  })

  test('a submission that had to wait sees what has happened meanwhile: the room given back, the rank taken', async () => {
    const { store, second, db } = await openedStores(url, { bounds: { perTenant: 3 } })
    for (const priority of [0, 7]) {
      await store.accept(submissions(2, { priority }))
      const [running] = await claim(store, 1)
      const point = new MeetingPoint()
      const open = store.transaction(async (tx) => {
        await store.submit(tx, submission({ priority }))
        await point.arrive()
      })
      await point.reached
      const submitted = second.accept(submissions(1, { priority, kind: 'photo' }))
      await untilWaiting(admin, 1)
      await store.publish(running!, SUCCEEDED)
      point.letGo()
      await open
      expect(await submitted).toHaveLength(1)
      const ranks = await db.read.all<{ ranks: number }>(
        "SELECT DISTINCT rank FROM jobs WHERE state = 'ready' AND priority = ?",
        priority,
      )
      expect(ranks).toHaveLength(3)
      await Promise.all((await claim(store)).map((one) => store.publish(one, SUCCEEDED)))
      await Promise.all((await claim(store, 9, 'photo')).map((one) => store.publish(one, SUCCEEDED)))
    }
  })

  test('twenty open submissions of twenty tenants hold up neither each other nor publications', async () => {
    const { store, second, db } = await openedStores(url, { options: { connections: 25 } })
    await store.accept(submissions(30))
    const claims = await claim(store)
    const points = Array.from({ length: 16 }, () => new MeetingPoint())
    const open = points.map((point, n) =>
      store.transaction(async (tx) => {
        await store.submit(tx, submission({ tenant: `tenant-${n}` }))
        await point.arrive()
      }),
    )
    await Promise.all(points.map((one) => one.reached))
    // Every slot of the total is held by now, and those that end give their room back all the same.
    const answers = await Promise.all(claims.map((one) => second.publish(one, SUCCEEDED)))
    expect(new Set(answers)).toEqual(new Set(['published']))
    for (const one of points) one.letGo()
    await Promise.all(open)
    expect(await pendingOf(db)).toEqual({ jobs: 16, total: 16, tenants: 16 })
  })

  test('an open cancelling holds up neither publications of the same tenant’s jobs nor other cancellings', async () => {
    const { store, second, db } = await openedStores(url)
    await store.accept(submissions(8))
    const claims = await claim(store)
    // Both counts have a row by now, which the open transaction takes.
    await store.transaction((tx) => store.cancel(tx, claims[0]!.job.id))
    await store.publish(claims[1]!, SUCCEEDED)
    const point = new MeetingPoint()
    const open = store.transaction(async (tx) => {
      await store.cancel(tx, claims[2]!.job.id)
      await point.arrive()
    })
    await point.reached
    expect(await second.publish(claims[3]!, SUCCEEDED)).toBe('published')
    expect(await second.publish(claims[4]!, SUCCEEDED, (tx) => writeRow(tx, 'a'))).toBe('published')
    expect(await second.transaction((tx) => second.cancel(tx, claims[5]!.job.id))).toBe(true)
    point.letGo()
    await open
    expect(await pendingOf(db)).toEqual({ jobs: 2, total: 2, tenants: 2 })
    const totals = (await store.totals()).map(({ name, value }) => [name, value])
    expect(totals).toEqual([
      ['finished:cancelled', 3],
      ['finished:succeeded', 3],
    ])
  })

  for (const way of ['without writes', 'with writes'] as const) {
    test(`the same claims published twice at once, in opposite orders, lock nobody out (${way})`, async () => {
      let commits = 0
      const aroundCommit = <T>(effect: () => Promise<T>) => {
        commits++
        return effect()
      }
      const { store, second, db } = await openedStores(url, { options: { aroundCommit, connections: 2 } })
      await store.accept(submissions(20))
      const claims = await claim(store)
      // Somebody holds the job in the middle: both batches have come half the way when they may go on.
      const point = new MeetingPoint()
      const holding = db.transaction(async (tx) => {
        await tx.all('SELECT FROM jobs WHERE id = ? FOR UPDATE', claims[10]!.job.id)
        await point.arrive()
      })
      await point.reached
      commits = 0
      let runs = 0
      const write = way === 'without writes' ? undefined : async () => void runs++
      const publishing = Promise.all([
        ...claims.map((one) => store.publish(one, SUCCEEDED, write)),
        ...claims.toReversed().map((one) => second.publish(one, SUCCEEDED, write)),
      ])
      await untilWaiting(admin, 2)
      point.letGo()
      await holding
      const answers = await publishing
      expect(answers.filter((one) => one === 'published')).toHaveLength(20)
      expect(answers.filter((one) => one === 'already-published')).toHaveLength(20)
      // Nothing was run again: one commit of the one who held it, one of each batch.
      expect(commits).toBe(3)
      expect(runs).toBe(write ? 20 : 0)
    })
  }

  test('two that end jobs in opposite orders, each in one call, lock nobody out', async () => {
    const { store, second, db } = await openedStores(url)
    for (let round = 0; round < 10; round++) {
      const about = submissions(20).map((one, n) => ({ ...one, subject: `${n % 2}`, subjectVersion: 1 }))
      await store.accept(about)
      const claims = await claim(store)
      const [, moved, gone] = await Promise.all([
        Promise.all(claims.toReversed().map((one) => store.publish(one, SUCCEEDED))),
        second.transaction((tx) => second.supersede(tx, { subject: '0', version: 2 })),
        second.transaction((tx) => second.forget(tx, '1')),
      ])
      expect(moved).toBeLessThanOrEqual(10)
      expect(gone).toBe(10)
    }
    expect(await pendingOf(db)).toEqual({ jobs: 0, total: 0, tenants: 0 })
  })

  test('publications whose writes lock each other out are run again: all are published, each once', async () => {
    const { store, second, rows, db, secondDb } = await openedStores(url)
    await store.accept(submissions(2))
    await db.transaction(async (tx) => {
      await tx.run('CREATE TABLE IF NOT EXISTS counters (name text PRIMARY KEY, n integer NOT NULL)')
      await tx.run("INSERT INTO counters VALUES ('a', 0), ('b', 0) ON CONFLICT (name) DO UPDATE SET n = 0")
    })
    const [one, other] = await claim(store)
    const both = Promise.withResolvers<void>()
    let runs = 0
    const write = (first: string, second: string) => async (tx: Parameters<typeof writeRow>[0]) => {
      await tx.run('UPDATE counters SET n = n + 1 WHERE name = ?', first)
      if (++runs === 2) both.resolve()
      await both.promise
      await tx.run('UPDATE counters SET n = n + 1 WHERE name = ?', second)
      return writeRow(tx, first)
    }
    const answers = await Promise.all([
      store.publish(one!, SUCCEEDED, write('a', 'b')),
      second.publish(other!, SUCCEEDED, write('b', 'a')),
    ])
    expect(answers).toEqual(['published', 'published'])
    expect(runs).toBeGreaterThanOrEqual(3)
    expect(await secondDb.read.all('SELECT n FROM counters')).toEqual([{ n: 2 }, { n: 2 }])
    expect((await rows()).sort()).toEqual(['a', 'b'])
  })

  test('a caller’s transaction that goes against the order is run again, and both go through', async () => {
    const { store, second, db } = await openedStores(url)
    const dead = submission()
    await store.accept([dead])
    await store.publish((await claim(store))[0]!, { state: 'dead', reason: 'http_404' })
    const point = new MeetingPoint()
    let runs = 0
    // Tenant first, job second; the repair takes the job first and then its tenant.
    const against = store.transaction(async (tx) => {
      runs++
      await store.submit(tx, submission())
      if (runs === 1) await point.arrive()
      await store.cancel(tx, dead.id)
    })
    await point.reached
    const repair = second.transaction((tx) => second.repair(tx, dead.id))
    await untilWaiting(admin, 1)
    point.letGo()
    await Promise.all([against, repair])
    const { jobs, ...counted } = await pendingOf(db)
    expect(counted).toEqual({ total: jobs, tenants: jobs })
    expect((await store.get(dead.id))!.job.state).toMatch(/ready|cancelled/)
  })

  test('a heartbeat does not wait for a job that somebody is writing to, so others are extended in time', async () => {
    const { store, second, clock } = await openedStores(url)
    await store.accept(submissions(3))
    const claims = await claim(store)
    const point = new MeetingPoint()
    const publishing = store.publish(claims[1]!, SUCCEEDED, async () => {
      await point.arrive()
      return undefined
    })
    await point.reached
    clock.advance(20_000)
    expect(await second.heartbeat(claims, 30_000)).toEqual(['extended', 'extended', 'extended'])
    point.letGo()
    expect(await publishing).toBe('published')
    clock.advance(20_000)
    expect(await second.heartbeat(claims, 30_000)).toEqual(['extended', 'lost', 'extended'])
  })

  test('claims of kinds with limits take turns: no limit is broken while another claim is open', async () => {
    const { db, second, store } = await openedStores(url)
    await store.accept(submissions(4, { key: 'example.org' }))
    const point = new MeetingPoint()
    const kinds = [{ kind: 'title', perKey: 1 }]
    // What a claim does, in a transaction that stays open.
    const first = db.transaction(async (tx) => {
      const rows = await tx.all(
        "SELECT id FROM job_claim_due('worker-1', 9, 30000, '{title}', '{1}', '{}', '{}', false, NULL)",
      )
      await point.arrive()
      return rows
    })
    await point.reached
    let claims: Claim[] | undefined
    const other = second.claim({ worker: 'worker-2', limit: 9, leaseMs: 30_000, kinds }).then((all) => {
      claims = all
    })
    await untilWaiting(admin, 1)
    expect(claims).toBeUndefined()
    point.letGo()
    expect(await first).toHaveLength(1)
    await other
    expect(claims).toEqual([])
  })

  test('claims of kinds without limits wait for nobody', async () => {
    const { db, second, store } = await openedStores(url)
    await store.accept(submissions(10))
    const point = new MeetingPoint()
    const first = db.transaction(async (tx) => {
      const rows = await tx.all<{ id: string }>(
        "SELECT id FROM job_claim_due('worker-1', 4, 30000, '{title}', '{}', '{}', '{}', false, NULL)",
      )
      await point.arrive()
      return rows.map((one) => one.id)
    })
    await point.reached
    const others = await claim(second)
    point.letGo()
    const taken = [...(await first), ...others.map((one) => one.job.id)]
    expect(others).toHaveLength(6)
    expect(new Set(taken).size).toBe(10)
  })
})
