import pg from 'pg'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { describeOnPostgres } from '../../../db/testing/postgres.ts'
import { claim, openedStores, preparedDatabase, submission, submissions } from '../../testing/postgres.ts'

const REST_MS = 60_000

/** Work is announced only while a worker rests, and once for each batch. */
describeOnPostgres('announcing work', () => {
  let url: string
  beforeAll(async () => {
    url = await preparedDatabase()
  })

  /** Counts notifications; a marker that comes through says that all before it have. */
  async function ear() {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    let heard = 0
    let marker = Promise.withResolvers<void>()
    client.on('notification', ({ channel }) => {
      if (channel === 'marker') marker.resolve()
      else heard++
    })
    await client.query('LISTEN garner_jobs')
    await client.query('LISTEN marker')
    onTestFinished(() => client.end())
    return async () => {
      marker = Promise.withResolvers()
      await client.query("SELECT pg_notify('marker', '')")
      await marker.promise
      const count = heard
      heard = 0
      return count
    }
  }

  async function opened() {
    const stores = await openedStores(url)
    const listening = await stores.second.listen(() => {})
    onTestFinished(() => listening.close())
    return { ...stores, listening, heard: await ear() }
  }

  test('to nobody, when nobody rests', async () => {
    const { store, heard } = await opened()
    await store.accept([submission()])
    await store.transaction((tx) => store.submitMany(tx, submissions(3)))
    expect(await heard()).toBe(0)
  })

  test('once for each batch, however many jobs and calls it holds', async () => {
    const { store, listening, heard } = await opened()
    await store.accept([submission()]) // the tenant's first job takes another way
    await listening.resting(REST_MS)
    await Promise.all(Array.from({ length: 50 }, () => store.accept([submission()])))
    expect(await heard()).toBe(1)
    await store.accept([submission()])
    expect(await heard()).toBe(1)
    await store.transaction((tx) => store.submitMany(tx, submissions(100)))
    expect(await heard()).toBe(1)
  })

  test('not when the transaction is rolled back', async () => {
    const { store, listening, heard } = await opened()
    await listening.resting(REST_MS)
    const failing = store.transaction(async (tx) => {
      await store.submit(tx, submission())
      throw new Error('trouble')
    })
    await expect(failing).rejects.toThrow('trouble')
    expect(await heard()).toBe(0)
  })

  test('not to a worker that is busy, has gone, or whose rest is over', async () => {
    const { store, listening, heard, clock } = await opened()
    await listening.resting(REST_MS)
    await listening.busy()
    await store.accept([submission()])
    expect(await heard()).toBe(0)
    await listening.resting(REST_MS)
    clock.advance(REST_MS)
    await store.accept([submission()])
    expect(await heard()).toBe(0)
    await listening.resting(REST_MS)
    await listening.close()
    await store.accept([submission()])
    expect(await heard()).toBe(0)
  })

  test('when jobs come back, and when their kind goes on', async () => {
    const { store, listening, heard } = await opened()
    await store.accept(submissions(2))
    const [released, retried] = await claim(store)
    await listening.resting(REST_MS)
    await store.publish(released!, { state: 'ready', outcome: 'released' })
    expect(await heard()).toBe(1)
    await store.publish(retried!, { state: 'ready', outcome: 'retried', runAtMs: 0, reason: 'timeout' })
    expect(await heard()).toBe(1)
    await store.transaction((tx) => store.resume(tx, 'title'))
    expect(await heard()).toBe(1)
  })

  test('when a job that ends makes room for one that waits for its key, and not for others', async () => {
    const { store, listening, heard } = await opened()
    await store.accept([...submissions(2, { key: 'example.org' }), submission()])
    const kinds = [{ kind: 'title', perKey: 1 }]
    const [keyed, plain] = await store.claim({ worker: 'worker-1', limit: 5, leaseMs: 30_000, kinds })
    await listening.resting(REST_MS)
    await store.publish(plain!, { state: 'succeeded' })
    expect(await heard()).toBe(0)
    await store.publish(keyed!, { state: 'succeeded' })
    expect(await heard()).toBe(1)
  })

  test('behind a pooler without a way around it nothing is heard, and nobody is announced to', async () => {
    const { store, db } = await openedStores(url, { options: { isPooled: true } })
    const listening = await store.listen(() => {})
    await listening.resting(REST_MS)
    expect(await db.read.get('SELECT count(*) AS count FROM job_resting')).toEqual({ count: 0 })
    await listening.busy()
    await listening.close()
  })
})
