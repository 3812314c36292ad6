import { expect } from 'vitest'
import type { Ending } from '../../src/store.ts'
import type { Contract } from './contract.ts'
import { LEASE_MS, type Scene, SUCCEEDED } from './scene.ts'

async function claims<Tx>(scene: Scene<Tx>, count: number) {
  await scene.submitMany(count)
  const found = await scene.claim({ limit: count })
  expect(found).toHaveLength(count)
  return found
}

/**
 * Publications that are said at once, which a store may write as one. Each is what it would be alone: a store that
 * gathers them must not let one that fails, or is late, take the others with it.
 */
export function togetherTests<Tx>({ holds }: Contract<Tx>): void {
  holds('together: each publication ends its own job, with its own writes', async (scene) => {
    const { store } = scene
    const all = await claims(scene, 8)
    const endings: Ending[] = [
      SUCCEEDED,
      { state: 'succeeded', result: [1] },
      { state: 'degraded', reason: 'http_503' },
      { state: 'dead', reason: 'http_404', result: 'seen' },
      { state: 'cancelled', reason: 'discarded' },
      { state: 'ready', outcome: 'released' },
      { state: 'ready', outcome: 'retried', runAtMs: scene.clock.nowMs() + 1_000, reason: 'timeout' },
      { state: 'ready', outcome: 'retried', runAtMs: 0, reason: 'offline', isUncounted: true },
    ]
    const answers = await Promise.all(
      all.map((one, n) => store.publish(one, endings[n]!, n % 2 ? scene.writing(`row ${n}`) : undefined)),
    )
    expect(answers).toEqual(all.map(() => 'published'))
    const jobs = await Promise.all(all.map((one) => scene.job(one.job.id)))
    expect(jobs).toMatchObject([
      { state: 'succeeded', result: { title: 'A title' }, lastError: null },
      { state: 'succeeded', result: [1] },
      { state: 'degraded', lastError: 'http_503', result: null },
      { state: 'dead', lastError: 'http_404', result: 'seen' },
      { state: 'cancelled', lastError: 'discarded' },
      { state: 'ready', attempt: 0, finishedAtMs: null },
      { state: 'ready', attempt: 1, lastError: 'timeout', runAtMs: scene.clock.nowMs() + 1_000 },
      { state: 'ready', attempt: 0, lastError: 'offline' },
    ])
    expect((await scene.caller.rows()).sort()).toEqual(['row 1', 'row 3', 'row 5', 'row 7'])
    expect(await scene.total('finished:succeeded')).toBe(2)
    expect(await scene.total('retries')).toBe(2)
    const outcomes = await Promise.all(all.map(async (one) => (await scene.attempts(one.job.id))[0]!.outcome))
    expect(outcomes).toEqual(endings.map((one) => ('outcome' in one ? one.outcome : one.state)))
  })

  holds('together: writes that fail take nothing of the others with them', async (scene) => {
    const { store } = scene
    const all = await claims(scene, 6)
    const answers = await Promise.allSettled(
      all.map((one, n) =>
        store.publish(one, SUCCEEDED, async (tx) => {
          await scene.caller.write(tx, `row ${n}`)
          if (n === 2 || n === 4) throw new Error(`trouble ${n}`)
          return undefined
        }),
      ),
    )
    const outcomes = answers.map((one) => (one.status === 'fulfilled' ? one.value : one.reason.message))
    expect(outcomes).toEqual(['published', 'published', 'trouble 2', 'published', 'trouble 4', 'published'])
    expect((await scene.caller.rows()).sort()).toEqual(['row 0', 'row 1', 'row 3', 'row 5'])
    expect(await scene.total('finished:succeeded')).toBe(4)
    // The claims of those that failed stand.
    expect(await store.publish(all[2]!, SUCCEEDED, scene.writing('row 2'))).toBe('published')
    expect(await store.publish(all[4]!, { state: 'dead', reason: 'x' })).toBe('published')
  })

  holds(
    'together: one that is stale among many is refused alone, and its writes are not run',
    async (scene) => {
      const { store, clock } = scene
      const [stale] = await claims(scene, 1)
      clock.advance(LEASE_MS)
      const current = await scene.claimOne()
      expect(current.job.id).toBe(stale!.job.id)
      const others = await claims(scene, 4)
      const said = [others[0]!, stale!, others[1]!, current, others[2]!, others[3]!]
      const answers = await Promise.all(
        said.map((one, n) =>
          store.publish(one, SUCCEEDED, one === stale ? scene.forbidden() : scene.writing(`row ${n}`)),
        ),
      )
      expect(answers).toEqual([
        'published',
        'stale-epoch',
        'published',
        'published',
        'published',
        'published',
      ])
      expect(await scene.total('stale_publications')).toBe(1)
      expect(await scene.caller.rows()).toHaveLength(5)
    },
  )

  holds(
    'together: superseded, discarded, forgotten, cancelled and repeated ones among many',
    async (scene) => {
      const { store } = scene
      const about = { subject: 'bookmark-1', subjectVersion: 1 }
      const superseded = await scene.claimed(about)
      await scene.change((tx) => store.supersede(tx, { subject: 'bookmark-1', version: 2 }))
      const forgotten = await scene.claimed({ subject: 'bookmark-2' })
      await scene.change((tx) => store.forget(tx, 'bookmark-2'))
      const cancelled = await scene.claimed()
      await scene.change((tx) => store.cancel(tx, cancelled.job.id))
      const repeated = await scene.claimed()
      await store.publish(repeated, SUCCEEDED)
      const [plain, moved, revoked] = await claims(scene, 3)
      const answers = await Promise.all([
        store.publish(superseded, SUCCEEDED, scene.forbidden()),
        store.publish(plain!, SUCCEEDED, scene.writing('plain')),
        store.publish(forgotten, SUCCEEDED, scene.forbidden()),
        store.publish(moved!, SUCCEEDED, async () => 'superseded'),
        store.publish(cancelled, SUCCEEDED, scene.forbidden()),
        store.publish(revoked!, SUCCEEDED, async () => 'discarded'),
        store.publish(repeated, SUCCEEDED, scene.forbidden()),
      ])
      expect(answers).toEqual([
        'superseded',
        'published',
        'superseded',
        'superseded',
        'discarded',
        'discarded',
        'already-published',
      ])
      expect(await scene.caller.rows()).toEqual(['plain'])
    },
  )

  holds('together: the same claim said twice at once is published once', async (scene) => {
    const { store } = scene
    const [first, second] = await claims(scene, 2)
    const answers = await Promise.all([
      store.publish(first!, SUCCEEDED, scene.writing('one of them')),
      store.publish(second!, SUCCEEDED),
      store.publish(first!, SUCCEEDED, scene.writing('one of them')),
    ])
    expect(answers[1]).toBe('published')
    expect([answers[0], answers[2]].sort()).toEqual(['already-published', 'published'])
    expect(await scene.caller.rows()).toEqual(['one of them'])
    expect(await scene.total('finished:succeeded')).toBe(2)
  })

  holds('together: what a lease that runs out meanwhile leaves is whole or nothing', async (scene) => {
    const { store, clock } = scene
    const all = await claims(scene, 4)
    const answers = await Promise.all(
      all.map((one, n) =>
        store.publish(one, SUCCEEDED, async (tx) => {
          await scene.caller.write(tx, one.job.id)
          if (n === 1) clock.advance(LEASE_MS)
          return undefined
        }),
      ),
    )
    expect(answers[1]).toBe('stale-epoch')
    const published = all.filter((_, n) => answers[n] === 'published').map((one) => one.job.id)
    const stale = answers.filter((one) => one === 'stale-epoch')
    expect(published.length + stale.length).toBe(4)
    expect((await scene.caller.rows()).sort()).toEqual(published)
    expect(await scene.total('finished:succeeded')).toBe(published.length)
    expect(await scene.total('stale_publications')).toBe(stale.length)
  })

  holds(
    'together: room and counts are right after publications, claims and submissions at once',
    async (scene) => {
      const { store, second } = scene
      const all = await claims(scene, 20)
      await Promise.allSettled([
        ...all.map((one, n) => (n % 2 ? store : second).publish(one, SUCCEEDED)),
        ...all.map(() => scene.submit({}, second)),
        scene.claim({}, second),
        scene.claim(),
      ])
      const pending = (await store.counts())
        .filter((one) => one.state === 'ready' || one.state === 'running')
        .reduce((sum, one) => sum + one.count, 0)
      const free = 20 - pending
      await scene.submitMany(free)
      await expect(scene.submit()).rejects.toMatchObject({ code: 'QUEUE_FULL', pending: 20 })
      expect(await scene.total('finished:succeeded')).toBe(20)
    },
    { perTenant: 20 },
  )
}
