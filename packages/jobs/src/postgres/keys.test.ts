import { beforeAll, expect, test } from 'vitest'
import { describeOnPostgres } from '../../../db/testing/postgres.ts'
import { type Opened, openedStores, preparedDatabase, submissions } from '../../testing/postgres.ts'
import { MeetingPoint, Rollback } from '../../testing/suite/scene.ts'
import type { Claim } from '../job.ts'

const SUCCEEDED = { state: 'succeeded' } as const

/** One job of a key at a time, and a claim that meets the end of that one: whoever comes first, the next has its turn. */
describeOnPostgres('keys', () => {
  let url: string
  beforeAll(async () => {
    url = await preparedDatabase()
  })

  const take = (store: Opened['store']): Promise<Claim[]> =>
    store.claim({ worker: 'worker-1', limit: 5, leaseMs: 30_000, kinds: [{ kind: 'title', perKey: 1 }] })

  async function oneRunning() {
    const opened = await openedStores(url)
    const [first, ...others] = submissions(3, { key: 'example.org' })
    await opened.store.accept([first!])
    const [running] = await take(opened.store)
    // No claim has seen these yet: nothing is known of their key.
    await opened.store.accept(others)
    return { ...opened, running: running!, waiting: others.map((one) => one.id) }
  }

  /** Cancels a job in a transaction that stays open until it is let go. */
  async function openCancelling({ second }: Opened, id: string, ends: 'commit' | 'rollback') {
    const point = new MeetingPoint()
    const cancelling = second.transaction(async (tx) => {
      expect(await second.cancel(tx, id)).toBe(true)
      await point.arrive()
      if (ends === 'rollback') throw new Rollback()
    })
    await point.reached
    return async () => {
      point.letGo()
      await cancelling.catch((error) => expect(error).toBeInstanceOf(Rollback))
    }
  }

  for (const ends of ['commit', 'rollback'] as const) {
    test(`the running one is being ended, in a transaction that ends in ${ends}`, async () => {
      const opened = await oneRunning()
      const { store, running, waiting } = opened
      const end = await openCancelling(opened, running.job.id, ends)
      expect(await take(store)).toEqual([]) // puts the others aside
      expect(await take(store)).toEqual([]) // looks at their key again
      await end()
      if (ends === 'rollback') {
        expect(await take(store)).toEqual([])
        expect(await store.publish(running, SUCCEEDED)).toBe('published')
      }
      expect((await take(store)).map((one) => one.job.id)).toEqual([waiting[0]])
    })

    test(`the next in line is being cancelled when its turn comes, in a transaction that ends in ${ends}`, async () => {
      const opened = await oneRunning()
      const { store, running, waiting } = opened
      expect(await take(store)).toEqual([]) // both are put aside
      const end = await openCancelling(opened, waiting[0]!, ends)
      await store.publish(running, SUCCEEDED)
      const [next] = await take(store)
      expect(next!.job.id).toBe(waiting[1])
      await end()
      await store.publish(next!, SUCCEEDED)
      const expected = ends === 'commit' ? [] : [waiting[0]]
      expect((await take(store)).map((one) => one.job.id)).toEqual(expected)
    })
  }

  test('the only one in line is being cancelled when its turn comes, and stays after all', async () => {
    const opened = await oneRunning()
    const { store, running, waiting } = opened
    expect(await take(store)).toEqual([])
    await store.transaction((tx) => store.cancel(tx, waiting[1]!))
    const end = await openCancelling(opened, waiting[0]!, 'rollback')
    await store.publish(running, SUCCEEDED)
    expect(await take(store)).toEqual([])
    await end()
    expect((await take(store)).map((one) => one.job.id)).toEqual([waiting[0]])
  })

  test('an end that waits for a claim which puts others aside leaves word of it', async () => {
    const { store, second, running, waiting, db } = await oneRunning()
    const point = new MeetingPoint()
    // What a claim does, in a transaction that stays open: the others are put aside, and the running one is held.
    const claiming = db.transaction(async (tx) => {
      expect(
        await tx.all(
          "SELECT id FROM job_claim_due('worker-1', 9, 30000, '{title}', '{1}', '{}', '{}', false, ?)",
          running.claimedAtMs,
        ),
      ).toEqual([])
      await point.arrive()
    })
    await point.reached
    const publishing = second.publish(running, SUCCEEDED)
    await new Promise(setImmediate)
    point.letGo()
    await claiming
    expect(await publishing).toBe('published')
    expect((await take(store)).map((one) => one.job.id)).toEqual([waiting[0]])
  })

  test('many keys come free at once: each of them has its turn', async () => {
    const { store } = await openedStores(url)
    const keys = Array.from({ length: 700 }, (_, n) => `host-${n}.example`)
    await store.accept(keys.flatMap((key) => submissions(2, { key })))
    const kinds = [{ kind: 'title', perKey: 1 }]
    const request = { worker: 'worker-1', limit: 1_000, leaseMs: 30_000, kinds }
    const first = await store.claim(request)
    expect(first).toHaveLength(700)
    await Promise.all(first.map((one) => store.publish(one, SUCCEEDED)))
    const next: Claim[] = []
    for (let claims = await store.claim(request); claims.length > 0; claims = await store.claim(request)) {
      next.push(...claims)
    }
    expect(new Set(next.map((one) => one.job.key)).size).toBe(700)
  })
})
