import { beforeAll, expect, test } from 'vitest'
import { describeOnPostgres } from '../../../db/testing/postgres.ts'
import {
  claim,
  openedStores,
  pendingOf,
  preparedDatabase,
  submission,
  submissions,
} from '../../testing/postgres.ts'
import { MeetingPoint, Rollback } from '../../testing/suite/scene.ts'
import { QueueFull } from '../errors.ts'

const SUCCEEDED = { state: 'succeeded' } as const

/** The bound in total is cut into slots, so that submissions need not wait for each other. */
describeOnPostgres('bounds', () => {
  let url: string
  beforeAll(async () => {
    url = await preparedDatabase()
  })

  test('racing transactions of many tenants are accepted up to the bound and not beyond', async () => {
    const { store, second, db } = await openedStores(url, { bounds: { total: 21 } })
    for (let round = 0; round < 5; round++) {
      const answers = await Promise.allSettled(
        Array.from({ length: 60 }, (_, n) => {
          const by = n % 2 ? store : second
          const one = submission({ tenant: `tenant-${n}` })
          return n % 3 ? by.transaction((tx) => by.submit(tx, one)) : by.accept([one])
        }),
      )
      const refused = answers.filter((one) => one.status === 'rejected')
      expect(refused.every((one) => one.reason instanceof QueueFull)).toBe(true)
      expect(answers.length - refused.length).toBe(21)
      expect(await pendingOf(db)).toEqual({ jobs: 21, total: 21, tenants: 21 })
      const claims = await claim(store)
      await Promise.all(claims.map((one, n) => (n % 2 ? store : second).publish(one, SUCCEEDED)))
      expect(await pendingOf(db)).toEqual({ jobs: 0, total: 0, tenants: 0 })
    }
  })

  test('a tenant that has had more jobs than its bound is counted again only now and then', async () => {
    const { store, db } = await openedStores(url, { bounds: { perTenant: 5 } })
    const seen = []
    for (let n = 0; n < 12; n++) {
      await store.accept([submission()])
      await Promise.all((await claim(store)).map((one) => store.publish(one, SUCCEEDED)))
      seen.push((await db.read.get<{ left_seen: number }>('SELECT left_seen FROM job_tenants'))!.left_seen)
    }
    // The first of a tenant is not the common case.
    expect(seen).toEqual([0, 0, 0, 0, 0, 5, 5, 5, 5, 5, 10, 10])
  })

  test('one call may take more than any slot holds, and leaves exactly the rest', async () => {
    const { store, db } = await openedStores(url, { bounds: { total: 100 } })
    await store.accept(submissions(3, { tenant: 'bob' }))
    await expect(store.accept(submissions(98))).rejects.toMatchObject({
      scope: 'total',
      limit: 100,
      pending: 100,
    })
    await store.accept(submissions(97))
    expect(await pendingOf(db)).toEqual({ jobs: 100, total: 100, tenants: 100 })
    await expect(store.accept([submission()])).rejects.toMatchObject({ scope: 'total', pending: 100 })
  })

  test('a call of many waits for an open one of the same tenant, and counts and recognises what that leaves', async () => {
    for (const ends of ['commit', 'rollback'] as const) {
      const { store, second } = await openedStores(url, { bounds: { perTenant: 4 } })
      await store.accept([submission()])
      const point = new MeetingPoint()
      const first = [submission({ operationId: 'op-1', payload: 1 }), submission()]
      const open = store.transaction(async (tx) => {
        await store.submitMany(tx, first)
        await point.arrive()
        if (ends === 'rollback') throw new Rollback()
      })
      await point.reached
      const repeated = () => [submission({ operationId: 'op-1', payload: 1 }), submission()]
      const together = second.transaction((tx) => second.submitMany(tx, repeated()))
      const tooMany = second.transaction((tx) =>
        second.submitMany(tx, [...repeated(), submission(), submission()]),
      )
      tooMany.catch(() => {}) // looked at below
      await new Promise(setImmediate)
      point.letGo()
      await open.catch((error) => expect(error).toBeInstanceOf(Rollback))
      expect((await together).map((one) => one.isRepeat)).toEqual([ends === 'commit', false])
      await expect(tooMany).rejects.toMatchObject({ scope: 'tenant', pending: 4 })
    }
  })

  test('repairs beyond it count: the room is there again when as many have ended', async () => {
    const { store } = await openedStores(url, { bounds: { total: 20 } })
    await store.accept(submissions(20))
    const dead = await claim(store)
    await Promise.all(dead.map((one) => store.publish(one, { state: 'dead', reason: 'x' })))
    await store.accept(submissions(20))
    await store.transaction(async (tx) => {
      for (const one of dead) await store.repair(tx, one.job.id)
    })
    const claims = await claim(store)
    expect(claims).toHaveLength(40)
    for (const [n, one] of claims.entries()) {
      if (n < 20)
        await expect(store.accept([submission()])).rejects.toMatchObject({ scope: 'total', pending: 40 - n })
      await store.publish(one, SUCCEEDED)
    }
    await store.accept(submissions(20))
    await expect(store.accept([submission()])).rejects.toBeInstanceOf(QueueFull)
  })
})
