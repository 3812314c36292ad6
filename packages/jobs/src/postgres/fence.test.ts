import { beforeAll, expect, test } from 'vitest'
import { describeOnPostgres } from '../../../db/testing/postgres.ts'
import { claim, openedStores, preparedDatabase, submissions, writeRow } from '../../testing/postgres.ts'
import { MeetingPoint, Rollback } from '../../testing/suite/scene.ts'
import type { Ending } from '../store.ts'

const SUCCEEDED: Ending = { state: 'succeeded' }
const ENDINGS: Ending[] = [
  SUCCEEDED,
  { state: 'dead', reason: 'late' },
  { state: 'ready', outcome: 'retried', runAtMs: 0, reason: 'late' },
  { state: 'ready', outcome: 'released' },
]

/** Publications without writes are fenced in the statement that ends them, those with writes before these are run. */
describeOnPostgres('the fence', () => {
  let url: string
  beforeAll(async () => {
    url = await preparedDatabase()
  })

  /** A claim whose lease has run out, and its successor. */
  async function taken() {
    const opened = await openedStores(url)
    await opened.store.accept(submissions(1))
    const [old] = await claim(opened.store)
    opened.clock.advance(30_000)
    const [current] = await claim(opened.second)
    return { ...opened, old: old!, current: current! }
  }

  for (const ending of ENDINGS) {
    const name = 'outcome' in ending ? ending.outcome : ending.state
    test(`a late word of an older epoch changes nothing, with writes or without (${name})`, async () => {
      const { store, old, current, rows, clock } = await taken()
      expect(await store.publish(old, ending)).toBe('stale-epoch')
      expect(await store.publish(old, ending, (tx) => writeRow(tx, 'late'))).toBe('stale-epoch')
      expect((await store.get(old.job.id))!.job).toEqual(current.job)
      clock.advance(1)
      expect(await store.heartbeat([old], 30_000)).toEqual(['lost'])
      expect((await store.get(old.job.id))!.job).toEqual(current.job)
      expect(await store.heartbeat([old, current], 30_000)).toEqual(['lost', 'extended'])
      expect(await store.progress(old, 'late')).toBe('lost')
      expect(await rows()).toEqual([])
      expect(await store.totals()).toEqual([{ kind: 'title', name: 'stale_publications', value: 2 }])
      expect(await store.publish(current, ending)).toBe('published')
    })

    test(`so does one whose lease is over before anybody else has claimed (${name})`, async () => {
      const { store, clock, current, rows } = await taken()
      clock.advance(30_000)
      expect(await store.publish(current, ending)).toBe('stale-epoch')
      expect(await store.publish(current, ending, (tx) => writeRow(tx, 'late'))).toBe('stale-epoch')
      expect((await store.get(current.job.id))!.job).toEqual(current.job)
      expect(await rows()).toEqual([])
    })
  }

  for (const ends of ['commit', 'rollback'] as const) {
    test(`writes wait for a cancelling under way; when it ends in ${ends} they are ${ends === 'commit' ? 'not ' : ''}run`, async () => {
      const { store, second, rows } = await openedStores(url)
      await store.accept(submissions(1))
      const [one] = await claim(store)
      const point = new MeetingPoint()
      const cancelling = second.transaction(async (tx) => {
        await second.cancel(tx, one!.job.id)
        await point.arrive()
        if (ends === 'rollback') throw new Rollback()
      })
      await point.reached
      let runs = 0
      const publishing = store.publish(one!, SUCCEEDED, (tx) => {
        runs++
        return writeRow(tx, 'title')
      })
      point.letGo()
      await cancelling.catch((error) => expect(error).toBeInstanceOf(Rollback))
      expect(await publishing).toBe(ends === 'commit' ? 'discarded' : 'published')
      expect(runs).toBe(ends === 'commit' ? 0 : 1)
      expect(await rows()).toHaveLength(runs)
    })
  }

  test('while its writes are run nobody else can end the job or take it over', async () => {
    const { store, second, clock } = await openedStores(url)
    await store.accept(submissions(1))
    const [one] = await claim(store)
    const point = new MeetingPoint()
    const publishing = store.publish(one!, SUCCEEDED, async () => {
      await point.arrive()
      return undefined
    })
    await point.reached
    const cancelling = second.transaction((tx) => second.cancel(tx, one!.job.id))
    clock.advance(29_999)
    expect(await claim(second)).toEqual([])
    point.letGo()
    expect(await publishing).toBe('published')
    expect(await cancelling).toBe(false)
  })
})
