import { expect } from 'vitest'
import { QueueFull } from '../../src/errors.ts'
import type { Contract } from './contract.ts'
import { LEASE_MS, MeetingPoint, Rollback, type Scene, SUCCEEDED } from './scene.ts'

/**
 * Runs `first` in a transaction on one connection and stops it just before it ends; starts `second` on the other
 * connection meanwhile; then lets the first one go on, to its commit or its rollback.
 */
export async function meet<Tx, T>(
  scene: Scene<Tx>,
  {
    first,
    second,
    ends,
  }: {
    first: (tx: Tx) => Promise<unknown>
    second: () => Promise<T>
    ends: 'commit' | 'rollback'
  },
): Promise<T> {
  const point = new MeetingPoint()
  const held = scene.store.transaction(async (tx) => {
    await first(tx)
    await point.arrive()
    if (ends === 'rollback') throw new Rollback()
  })
  const settled = held.catch((error) => {
    if (!(error instanceof Rollback)) throw error
  })
  await point.reached
  const other = second()
  other.catch(() => {}) // looked at below; it may fail before the first one is let go
  await scene.letSecondGoOn()
  point.letGo()
  await settled
  return other
}

export function raceTests<Tx>({ holds }: Contract<Tx>): void {
  holds('races: a repeat that meets the first under way waits for it, and repeats it', async (scene) => {
    const { store, second } = scene
    const first = scene.submission({ operationId: 'op-1' })
    const again = scene.submission({ operationId: 'op-1' })
    const answer = await meet(scene, {
      first: (tx) => store.submit(tx, first),
      second: () => second.transaction((tx) => second.submit(tx, again)),
      ends: 'commit',
    })
    expect(answer).toMatchObject({ isRepeat: true, job: { id: first.id } })
    expect(await scene.size()).toBe(1)
  })

  holds('races: a repeat that meets a first which is rolled back becomes the first', async (scene) => {
    const { store, second } = scene
    const first = scene.submission({ operationId: 'op-1' })
    const again = scene.submission({ operationId: 'op-1' })
    const answer = await meet(scene, {
      first: (tx) => store.submit(tx, first),
      second: () => second.transaction((tx) => second.submit(tx, again)),
      ends: 'rollback',
    })
    expect(answer).toMatchObject({ isRepeat: false, job: { id: again.id } })
    expect(await store.get(first.id)).toBeUndefined()
  })

  holds('races: of many repeats at once one is first and all others repeat it', async (scene) => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => {
        const store = n % 2 === 0 ? scene.store : scene.second
        return store.transaction((tx) => store.submit(tx, scene.submission({ operationId: 'op-1' })))
      }),
    )
    expect(answers.filter((one) => !one.isRepeat)).toHaveLength(1)
    expect(new Set(answers.map((one) => one.job.id)).size).toBe(1)
    expect(await scene.size()).toBe(1)
  })

  for (const ends of ['commit', 'rollback'] as const) {
    holds(
      `races: the last free place, taken by one under way that ends in ${ends}`,
      async (scene) => {
        const { store, second } = scene
        const attempt = meet(scene, {
          first: (tx) => store.submit(tx, scene.submission()),
          second: () => scene.submit({}, second),
          ends,
        })
        if (ends === 'commit') await expect(attempt).rejects.toBeInstanceOf(QueueFull)
        else await attempt
        expect(await scene.size()).toBe(1)
      },
      { perTenant: 1 },
    )
  }

  holds('races: a claim that meets a submission under way never sees it half done', async (scene) => {
    const { store, second } = scene
    const rolled = await meet(scene, {
      first: (tx) => store.submit(tx, scene.submission()),
      second: () => scene.claim({}, second),
      ends: 'rollback',
    })
    expect(rolled).toEqual([])
    expect(await scene.size()).toBe(0)
  })

  holds('races: nobody reads what may yet be rolled back', async (scene) => {
    const { store, second } = scene
    const job = scene.submission()
    for (const reading of [store, second]) {
      const seen = await meet(scene, {
        first: (tx) => store.submit(tx, job),
        second: () =>
          Promise.all([
            reading.get(job.id),
            reading.list({ limit: 10 }),
            reading.counts(),
            reading.nextDueInMs(['title']),
          ]),
        ends: 'rollback',
      })
      expect(seen).toEqual([undefined, [], [], null])
    }
  })

  holds('races: a publication under way wins over a claim that arrives after the lease', async (scene) => {
    const { store, second } = scene
    const claim = await scene.claimed()
    scene.clock.advance(LEASE_MS - 1)
    const point = new MeetingPoint()
    const publishing = store.publish(claim, SUCCEEDED, async (tx) => {
      await scene.caller.write(tx, 'first')
      await point.arrive()
      return undefined
    })
    await point.reached
    const claiming = scene.claim({}, second)
    await scene.letSecondGoOn()
    point.letGo()
    expect(await publishing).toBe('published')
    expect(await claiming).toEqual([])
    scene.clock.advance(1)
    expect(await scene.claim({}, second)).toEqual([])
    expect(await scene.caller.rows()).toEqual(['first'])
  })

  holds('races: a worker stopped past its lease is refused; its successor has published', async (scene) => {
    const { store, second } = scene
    const slow = await scene.claimed()
    scene.clock.advance(LEASE_MS)
    const [quick] = await scene.claim({ worker: 'worker-2' }, second)
    // Both publish at once, each through its own connection.
    const answers = await Promise.all([
      store.publish(slow, SUCCEEDED, scene.writing('slow')),
      second.publish(quick!, SUCCEEDED, scene.writing('quick')),
    ])
    expect(answers).toEqual(['stale-epoch', 'published'])
    expect(await scene.caller.rows()).toEqual(['quick'])
    expect(await scene.total('stale_publications')).toBe(1)
  })

  holds('races: one claim published twice at once is published once', async (scene) => {
    const { store, second } = scene
    const claim = await scene.claimed()
    const answers = await Promise.all([
      store.publish(claim, SUCCEEDED, scene.writing('one of them')),
      second.publish(claim, SUCCEEDED, scene.writing('one of them')),
    ])
    expect(answers.sort()).toEqual(['already-published', 'published'])
    expect(await scene.caller.rows()).toEqual(['one of them'])
    expect(await scene.total('finished:succeeded')).toBe(1)
  })

  for (const ends of ['commit', 'rollback'] as const) {
    holds(`races: a publication that meets a superseding under way that ends in ${ends}`, async (scene) => {
      const { store, second } = scene
      const claim = await scene.claimed({ subject: 'bookmark-1', subjectVersion: 1 })
      const answer = await meet(scene, {
        first: (tx) => store.supersede(tx, { subject: 'bookmark-1', version: 2 }),
        second: () => second.publish(claim, SUCCEEDED, scene.writing('old title')),
        ends,
      })
      expect(answer).toBe(ends === 'commit' ? 'superseded' : 'published')
      expect(await scene.caller.rows()).toEqual(ends === 'commit' ? [] : ['old title'])
    })

    holds(`races: a publication that meets a forgetting under way that ends in ${ends}`, async (scene) => {
      const { store, second } = scene
      const claim = await scene.claimed({ subject: 'bookmark-1' })
      const answer = await meet(scene, {
        first: (tx) => store.forget(tx, 'bookmark-1'),
        second: () => second.publish(claim, SUCCEEDED, scene.writing('back from the dead')),
        ends,
      })
      expect(answer).toBe(ends === 'commit' ? 'superseded' : 'published')
      expect(await scene.size()).toBe(ends === 'commit' ? 0 : 1)
    })
  }

  holds('races: two repairs of one dead job make one new generation', async (scene) => {
    const { store, second } = scene
    const { id } = await scene.ended({ state: 'dead', reason: 'x' })
    await Promise.all([
      store.transaction((tx) => store.repair(tx, id)),
      second.transaction((tx) => second.repair(tx, id)),
    ])
    expect(await scene.job(id)).toMatchObject({ state: 'ready', generation: 2 })
    expect(await scene.claim()).toHaveLength(1)
  })

  holds('races: a heartbeat and a claim at the end of the lease: one of them has the job', async (scene) => {
    const claim = await scene.claimed()
    scene.clock.advance(LEASE_MS)
    const [beat, claims] = await Promise.all([
      scene.store.heartbeat([claim], LEASE_MS),
      scene.claim({}, scene.second),
    ])
    expect(beat).toEqual(['lost'])
    expect(claims).toMatchObject([{ epoch: 2 }])
  })
}
