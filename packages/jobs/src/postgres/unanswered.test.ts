import { beforeAll, expect, test } from 'vitest'
import { type CuttingProxy, cuttingProxy } from '../../../db/testing/cutting-proxy.ts'
import { describeOnPostgres } from '../../../db/testing/postgres.ts'
import {
  claim,
  type Opened,
  openedStores,
  pendingOf,
  preparedDatabase,
  submission,
  writeRow,
} from '../../testing/postgres.ts'

const UNANSWERED = { code: 'STORE_UNAVAILABLE', reason: 'unanswered' }

/** The connection is cut after the server has committed and before its answer arrives. */
describeOnPostgres('a commit whose answer is lost', () => {
  let url: string
  beforeAll(async () => {
    url = await preparedDatabase()
  })

  /** A store behind a wire that can be cut, and another that sees what is really there. */
  async function behindAWire(): Promise<Opened & { wire: CuttingProxy }> {
    const seen = await openedStores(url)
    const wire = await cuttingProxy(url)
    const { db, store } = await openedStores(wire.url)
    // The first job of a tenant takes one statement more.
    await seen.store.accept([submission({ kind: 'other' })])
    return { ...seen, wire, db, store, second: seen.store }
  }

  test('publish: said again, it is already published, with its writes there once', async () => {
    const { store, second, wire, rows } = await behindAWire()
    await second.accept([submission()])
    const [one] = await claim(store)
    const publish = () => store.publish(one!, { state: 'succeeded' }, (tx) => writeRow(tx, 'title'))
    wire.cutAnswerTo('COMMIT\0')
    await expect(publish()).rejects.toMatchObject(UNANSWERED)
    expect(await publish()).toBe('already-published')
    expect(await rows()).toEqual(['title'])
  })

  test('publish without writes: said again, it is already published', async () => {
    const { store, second, wire, db } = await behindAWire()
    await second.accept([submission()])
    const [one] = await claim(store)
    wire.cutAnswerTo('job_publish')
    await expect(store.publish(one!, { state: 'succeeded' })).rejects.toMatchObject(UNANSWERED)
    expect(await store.publish(one!, { state: 'succeeded' })).toBe('already-published')
    expect(await pendingOf(db)).toEqual({ jobs: 1, total: 1, tenants: 1 })
    expect(await store.totals()).toEqual([{ kind: 'title', name: 'finished:succeeded', value: 1 }])
  })

  test('publish, cut before its commit was sent: nothing is there, and said again it is published', async () => {
    const { store, second, wire, rows } = await behindAWire()
    await second.accept([submission()])
    const [one] = await claim(store)
    const publish = () => store.publish(one!, { state: 'succeeded' }, (tx) => writeRow(tx, 'title'))
    wire.cutAnswerTo('caller_rows')
    await expect(publish()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', reason: 'missing' })
    expect(await rows()).toEqual([])
    expect(await publish()).toBe('published')
    expect(await rows()).toEqual(['title'])
  })

  test('accept under an operation id: said again, it answers the job that is there', async () => {
    const { store, second, wire } = await behindAWire()
    const first = submission({ operationId: 'op-1', payload: 1 })
    wire.cutAnswerTo('job_submit')
    await expect(store.accept([first])).rejects.toMatchObject(UNANSWERED)
    const [again] = await store.accept([submission({ operationId: 'op-1', payload: 1 })])
    expect(again).toMatchObject({ isRepeat: true, job: { id: first.id } })
    expect(await second.list({ kind: 'title', limit: 10 })).toHaveLength(1)
  })

  test('accept without one: it is there, and nobody can tell it from another', async () => {
    const { store, second, wire } = await behindAWire()
    wire.cutAnswerTo('job_submit')
    await expect(store.accept([submission()])).rejects.toMatchObject(UNANSWERED)
    await store.accept([submission()])
    expect(await second.list({ kind: 'title', limit: 10 })).toHaveLength(2)
  })

  test('accept: all calls of the batch are told so', async () => {
    const { store, second, wire } = await behindAWire()
    wire.cutAnswerTo('job_submit')
    const answers = await Promise.allSettled([1, 2, 3].map(() => store.accept([submission()])))
    expect(answers.map((one) => one.status === 'rejected' && one.reason.reason)).toEqual([
      'unanswered',
      'unanswered',
      'unanswered',
    ])
    expect(await second.list({ kind: 'title', limit: 10 })).toHaveLength(3)
  })

  test('claim: nobody heard of it, and the jobs come back by their lease, with a higher epoch', async () => {
    const { store, second, wire, clock } = await behindAWire()
    await second.accept([submission()])
    wire.cutAnswerTo('job_claim')
    await expect(claim(store)).rejects.toMatchObject(UNANSWERED)
    expect(await claim(second)).toEqual([])
    clock.advance(30_000)
    expect(await claim(second)).toMatchObject([{ epoch: 2 }])
  })

  test('submit in a caller’s transaction: it goes with that transaction', async () => {
    const { store, second, wire, rows } = await behindAWire()
    const attempt = store.transaction(async (tx) => {
      await writeRow(tx, 'order')
      await store.submit(tx, submission())
    })
    wire.cutAnswerTo('COMMIT\0')
    await expect(attempt).rejects.toMatchObject(UNANSWERED)
    expect(await rows()).toEqual(['order'])
    expect(await second.list({ kind: 'title', limit: 10 })).toHaveLength(1)
  })
})
