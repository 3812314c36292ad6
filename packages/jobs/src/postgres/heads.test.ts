import { beforeAll, expect, test } from 'vitest'
import { describeOnPostgres } from '../../../db/testing/postgres.ts'
import {
  claim,
  type Opened,
  openedStores,
  preparedDatabase,
  submission,
  submissions,
} from '../../testing/postgres.ts'
import { MeetingPoint } from '../../testing/suite/scene.ts'

const idsOf = (claims: { job: { id: string } }[]) => claims.map((one) => one.job.id)

/** Claims begin where the jobs that wait are known to begin. What becomes claimable behind that is found all the same. */
describeOnPostgres('heads', () => {
  let url: string
  beforeAll(async () => {
    url = await preparedDatabase()
  })

  /** 100 jobs, the first ten of them taken. */
  async function begun(): Promise<Opened & { taken: Awaited<ReturnType<typeof claim>> }> {
    const opened = await openedStores(url)
    await opened.store.accept(submissions(100))
    return { ...opened, taken: await claim(opened.store, 10) }
  }

  /** Moves the heads behind a job that is claimable, as a race would. */
  async function hidden(): Promise<Opened & { id: string }> {
    const opened = await begun()
    const [one] = opened.taken
    await opened.db.transaction((tx) =>
      tx.run(
        "UPDATE jobs SET state = 'ready', lease_until_ms = NULL, worker = NULL, started_at_ms = NULL WHERE id = ?",
        one!.job.id,
      ),
    )
    return { ...opened, id: one!.job.id }
  }

  test('a claim does not look behind the head', async () => {
    const { store, id } = await hidden()
    expect(idsOf(await claim(store, 10))).not.toContain(id)
  })

  test('what is hidden behind it is found when nothing else is there', async () => {
    const { store, id } = await hidden()
    expect(await claim(store)).toHaveLength(90)
    expect(await store.nextDueInMs(['title'])).toBe(0)
    expect(idsOf(await claim(store))).toEqual([id])
    expect(await store.nextDueInMs(['title'])).toBeGreaterThan(0)
  })

  test('what is hidden behind it is found after a second, however many others there are', async () => {
    const { store, id, clock } = await hidden()
    clock.advance(999)
    expect(idsOf(await claim(store, 10))).not.toContain(id)
    clock.advance(1)
    expect(idsOf(await claim(store, 10))).toContain(id)
  })

  test('what is hidden behind it is found when the clock was set back', async () => {
    const { store, id, clock } = await hidden()
    clock.jump(-3_600_000)
    expect(idsOf(await claim(store, 10))).toContain(id)
  })

  test('a job that is released is first in line at once, from any connection', async () => {
    const { store, second, taken } = await begun()
    await second.publish(taken[3]!, { state: 'ready', outcome: 'released' })
    expect(idsOf(await claim(store, 1))).toEqual([taken[3]!.job.id])
  })

  test('a job that waited for its key is first in line when it comes back', async () => {
    const { store } = await openedStores(url)
    const kinds = [{ kind: 'title', perKey: 1 }]
    const keyed = submissions(2, { key: 'example.org' })
    await store.accept([...keyed, ...submissions(10)])
    const request = { worker: 'worker-1', limit: 5, leaseMs: 30_000, kinds }
    const claims = await store.claim(request)
    expect(idsOf(claims)).toContain(keyed[0]!.id)
    await store.publish(claims[0]!, { state: 'succeeded' })
    expect(idsOf(await store.claim({ ...request, limit: 1 }))).toEqual([keyed[1]!.id])
  })

  test('a job that is repaired while it waits for later is in its place', async () => {
    const { store, clock } = await openedStores(url)
    const later = submission({ runAtMs: clock.nowMs() + 60_000 })
    await store.accept([later, ...submissions(10)])
    await claim(store, 5)
    await store.transaction((tx) => store.repair(tx, later.id))
    expect(idsOf(await claim(store, 1))).toEqual([later.id])
  })

  test('an urgent job is served before the head of the others', async () => {
    const { store } = await begun()
    const urgent = submission({ priority: -1 })
    await store.accept([urgent])
    expect(idsOf(await claim(store, 1))).toEqual([urgent.id])
    const less = submission({ priority: 1 })
    const between = submission({ priority: -1 })
    await store.accept([less, between])
    expect(idsOf(await claim(store))[0]).toBe(between.id)
    expect(idsOf(await claim(store))).toEqual([])
  })

  test('a submission that was under way while others were claimed past it is found', async () => {
    const { store, second, db } = await openedStores(url)
    await store.accept(submissions(20))
    const point = new MeetingPoint()
    const slow = submission({ tenant: 'bob' })
    const open = db.transaction(async (tx) => {
      await store.submit(tx, slow)
      await point.arrive()
    })
    await point.reached
    expect(await claim(second, 10)).toHaveLength(10)
    point.letGo()
    await open
    const found: string[] = []
    for (let claims = await claim(second, 4); claims.length > 0; claims = await claim(second, 4)) {
      found.push(...idsOf(claims))
    }
    expect(found).toHaveLength(11)
    expect(found).toContain(slow.id)
  })
})
