import { expect } from 'vitest'
import type { Ending } from '../../src/store.ts'
import type { Contract } from './contract.ts'
import { rolledBack, type Scene, SUCCEEDED } from './scene.ts'

const DEAD: Ending = { state: 'dead', reason: 'http_404' }
const ABOUT = { subject: 'bookmark-1', subjectVersion: 1 }

/** One job of the subject in each state that can be reached without superseding; ids by state. */
async function oneOfEach<Tx>(
  scene: Scene<Tx>,
  about: { subject?: string; subjectVersion?: number; tenant?: string },
) {
  const endings: Ending[] = [
    SUCCEEDED,
    { state: 'degraded', reason: 'x' },
    DEAD,
    { state: 'cancelled', reason: 'x' },
  ]
  const ids: Record<string, string> = {}
  for (const ending of endings) ids[ending.state] = (await scene.ended(ending, about)).id
  ids.running = (await scene.claimed(about)).job.id
  ids.ready = (await scene.submit(about)).id
  return ids as Record<'succeeded' | 'degraded' | 'dead' | 'cancelled' | 'running' | 'ready', string>
}

export function lifecycleTests<Tx>({ holds }: Contract<Tx>): void {
  holds('supersede: marks pending jobs of older versions, and counts them', async (scene) => {
    const { store } = scene
    const ids = await oneOfEach(scene, ABOUT)
    const same = await scene.submit({ ...ABOUT, subjectVersion: 2 })
    const newer = await scene.submit({ ...ABOUT, subjectVersion: 3 })
    const other = await scene.submit({ subject: 'bookmark-2', subjectVersion: 1 })
    const without = await scene.submit({ subject: 'bookmark-1' })
    const count = await scene.change((tx) => store.supersede(tx, { subject: 'bookmark-1', version: 2 }))
    expect(count).toBe(2)
    for (const id of [ids.ready, ids.running]) {
      expect(await scene.job(id)).toMatchObject({
        state: 'superseded',
        leaseUntilMs: null,
        finishedAtMs: scene.clock.nowMs(),
      })
    }
    expect(await scene.attempts(ids.running)).toMatchObject([
      { outcome: 'superseded', endedAtMs: scene.clock.nowMs() },
    ])
    for (const state of ['succeeded', 'degraded', 'dead', 'cancelled'] as const) {
      expect((await scene.job(ids[state])).state).toBe(state)
    }
    const claims = await scene.claim()
    expect(claims.map((one) => one.job.id).sort()).toEqual([same.id, newer.id, other.id, without.id].sort())
    expect(await scene.total('finished:superseded')).toBe(2)
  })

  holds('supersede: again finds nothing', async (scene) => {
    await scene.submit(ABOUT)
    const again = () => scene.change((tx) => scene.store.supersede(tx, { subject: 'bookmark-1', version: 2 }))
    expect(await again()).toBe(1)
    expect(await again()).toBe(0)
    expect(await scene.total('finished:superseded')).toBe(1)
  })

  holds('supersede: also a job that waits for a later time', async (scene) => {
    await scene.submit({ ...ABOUT, runAtMs: scene.clock.nowMs() + 1_000 })
    await scene.change((tx) => scene.store.supersede(tx, { subject: 'bookmark-1', version: 2 }))
    scene.clock.advance(1_000)
    expect(await scene.claim()).toEqual([])
    expect(await scene.nextDue()).toBeNull()
  })

  holds('supersede: with the next version’s job in one transaction, rolled back together', async (scene) => {
    const { store } = scene
    const first = await scene.submit(ABOUT)
    const next = scene.submission({ subject: 'bookmark-1', subjectVersion: 2 })
    await rolledBack(store, async (tx) => {
      await store.supersede(tx, { subject: 'bookmark-1', version: 2 })
      await store.submit(tx, next)
    })
    expect(await scene.total('finished:superseded')).toBe(0)
    expect((await scene.claim()).map((one) => one.job.id)).toEqual([first.id])
  })

  holds(
    'forget: removes every job of the subject, whatever its state, as if it had never been',
    async (scene) => {
      const { store } = scene
      const ids = await oneOfEach(scene, ABOUT)
      const other = await scene.submit({ subject: 'bookmark-2' })
      const free = await scene.submit()
      expect(await scene.change((tx) => store.forget(tx, 'bookmark-1'))).toBe(6)
      for (const id of Object.values(ids)) expect(await store.get(id)).toBeUndefined()
      expect((await store.list({ limit: 100 })).map((one) => one.id)).toEqual([free.id, other.id])
      expect(await scene.change((tx) => store.forget(tx, 'bookmark-1'))).toBe(0)
    },
  )

  holds('forget: its operation ids are free again', async (scene) => {
    await scene.submit({ ...ABOUT, operationId: 'op-1', payload: 1 })
    await scene.change((tx) => scene.store.forget(tx, 'bookmark-1'))
    const job = await scene.submit({ operationId: 'op-1', payload: 2 })
    expect(job.payload).toBe(2)
  })

  holds('forget: rolled back, all of it is there again', async (scene) => {
    const { store } = scene
    const ids = await oneOfEach(scene, ABOUT)
    const before = await Promise.all(Object.values(ids).map((id) => store.get(id)))
    expect(await rolledBack(store, (tx) => store.forget(tx, 'bookmark-1'))).toBe(6)
    expect(await Promise.all(Object.values(ids).map((id) => store.get(id)))).toEqual(before)
  })

  holds('forgetTenant: removes pending and dead jobs; ended ones and others’ stay', async (scene) => {
    const { store } = scene
    const ids = await oneOfEach(scene, { tenant: 'alice' })
    const other = await scene.submit({ tenant: 'bob' })
    expect(await scene.change((tx) => store.forgetTenant(tx, 'alice'))).toBe(3)
    const left = (await store.list({ limit: 100 })).map((one) => one.id)
    expect(left.sort()).toEqual([ids.succeeded, ids.degraded, ids.cancelled, other.id].sort())
    expect((await scene.claim()).map((one) => one.job.id)).toEqual([other.id])
  })

  holds('forgetTenant: a claim that was under way publishes nothing', async (scene) => {
    const claim = await scene.claimed()
    await scene.change((tx) => scene.store.forgetTenant(tx, 'alice'))
    const answer = await scene.store.publish(claim, SUCCEEDED, scene.forbidden())
    expect(['superseded', 'discarded']).toContain(answer)
    expect(await scene.size()).toBe(0)
  })

  for (const state of ['succeeded', 'degraded', 'dead', 'cancelled'] as const) {
    holds(`repair: a ${state} job gets a new generation, new tries and a new deadline`, async (scene) => {
      const { store, clock } = scene
      const ending: Ending = state === 'succeeded' ? SUCCEEDED : { state, reason: 'http_503' }
      const before = await scene.ended(ending, { deadlineMs: 60_000 })
      clock.advance(3_600_000)
      const repaired = await scene.change((tx) => store.repair(tx, before.id))
      expect(repaired).toMatchObject({
        id: before.id,
        state: 'ready',
        generation: 2,
        attempt: 0,
        epoch: 1,
        runAtMs: clock.nowMs(),
        deadlineAtMs: clock.nowMs() + 60_000,
        finishedAtMs: null,
        leaseUntilMs: null,
        submittedAtMs: before.submittedAtMs,
      })
      expect(await scene.job(before.id)).toEqual(repaired)
      expect(await scene.claim()).toMatchObject([
        { epoch: 2, job: { id: before.id, generation: 2, attempt: 1 } },
      ])
    })
  }

  holds('repair: a job that waits for later becomes due now, in its generation', async (scene) => {
    const waiting = await scene.submit({ runAtMs: scene.clock.nowMs() + 60_000 })
    const repaired = await scene.change((tx) => scene.store.repair(tx, waiting.id))
    expect(repaired).toMatchObject({
      state: 'ready',
      generation: 1,
      runAtMs: scene.clock.nowMs(),
      deadlineAtMs: waiting.deadlineAtMs,
    })
    expect(await scene.nextDue()).toBe(0)
    expect((await scene.claim()).map((one) => one.job.id)).toEqual([waiting.id])
  })

  holds('repair: a running job is left alone', async (scene) => {
    const claim = await scene.claimed()
    expect(await scene.change((tx) => scene.store.repair(tx, claim.job.id))).toEqual(claim.job)
    expect(await scene.store.publish(claim, SUCCEEDED)).toBe('published')
  })

  holds('repair: a superseded job is not revived', async (scene) => {
    const { id } = await scene.submit(ABOUT)
    await scene.change((tx) => scene.store.supersede(tx, { subject: 'bookmark-1', version: 2 }))
    const before = await scene.job(id)
    expect(await scene.change((tx) => scene.store.repair(tx, id))).toEqual(before)
    expect(await scene.claim()).toEqual([])
  })

  holds('repair: of no job is undefined', async (scene) => {
    expect(await scene.change((tx) => scene.store.repair(tx, 'job-none'))).toBeUndefined()
  })

  holds('repair: rolled back, the job is as dead as before', async (scene) => {
    const before = await scene.ended(DEAD)
    await rolledBack(scene.store, (tx) => scene.store.repair(tx, before.id))
    expect(await scene.job(before.id)).toEqual(before)
    expect(await scene.claim()).toEqual([])
  })

  holds('discard: cancels a waiting and a dead job, nothing else', async (scene) => {
    const ids = await oneOfEach(scene, ABOUT)
    const discard = (id: string) => scene.change((tx) => scene.store.discard(tx, id))
    for (const state of ['succeeded', 'degraded', 'cancelled', 'running'] as const) {
      const before = await scene.job(ids[state])
      expect(await discard(ids[state])).toBe(false)
      expect(await scene.job(ids[state])).toEqual(before)
    }
    for (const state of ['ready', 'dead'] as const) {
      expect(await discard(ids[state])).toBe(true)
      expect(await scene.job(ids[state])).toMatchObject({
        state: 'cancelled',
        finishedAtMs: scene.clock.nowMs(),
      })
      expect(await discard(ids[state])).toBe(false)
    }
    expect(await discard('job-none')).toBe(false)
    expect(await scene.claim()).toEqual([])
  })

  holds('discard: a job waiting for a retry is cancelled and does not come back', async (scene) => {
    const claim = await scene.claimed()
    const runAtMs = scene.clock.nowMs() + 1_000
    await scene.store.publish(claim, { state: 'ready', outcome: 'retried', runAtMs, reason: 'timeout' })
    expect(await scene.change((tx) => scene.store.discard(tx, claim.job.id))).toBe(true)
    scene.clock.advance(1_000)
    expect(await scene.claim()).toEqual([])
    // Its tries stay as they were: the last one was a retry.
    expect(await scene.attempts(claim.job.id)).toMatchObject([{ outcome: 'retried' }])
  })

  holds('discard: a superseded job stays superseded', async (scene) => {
    const { id } = await scene.submit(ABOUT)
    await scene.change((tx) => scene.store.supersede(tx, { subject: 'bookmark-1', version: 2 }))
    expect(await scene.change((tx) => scene.store.discard(tx, id))).toBe(false)
  })
}
