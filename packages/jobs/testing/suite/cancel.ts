import { expect } from 'vitest'
import { QueueFull } from '../../src/errors.ts'
import type { Ending } from '../../src/store.ts'
import type { Contract } from './contract.ts'
import { idsOf, LEASE_MS, rolledBack, type Scene, SUCCEEDED } from './scene.ts'

const DEAD: Ending = { state: 'dead', reason: 'http_404' }

function cancel<Tx>(scene: Scene<Tx>, id: string): Promise<boolean> {
  return scene.change((tx) => scene.store.cancel(tx, id))
}

/** A job that has been tried once in vain and waits again, or runs again. */
async function triedOnce<Tx>(scene: Scene<Tx>) {
  const claim = await scene.claimed()
  await scene.store.publish(claim, { state: 'ready', outcome: 'retried', runAtMs: 0, reason: 'timeout' })
  return claim.job.id
}

export function cancelTests<Tx>({ holds }: Contract<Tx>): void {
  holds('cancel: a running job: its heartbeat is refused, its publication is discarded', async (scene) => {
    const { store, second, clock } = scene
    const claim = await scene.claimed()
    clock.advance(2_000)
    expect(await cancel(scene, claim.job.id)).toBe(true)
    expect(await scene.job(claim.job.id)).toMatchObject({
      state: 'cancelled',
      leaseUntilMs: null,
      finishedAtMs: clock.nowMs(),
      epoch: 1,
    })
    expect(await scene.attempts(claim.job.id)).toMatchObject([
      { outcome: 'cancelled', error: null, endedAtMs: clock.nowMs() },
    ])
    expect(await store.heartbeat([claim], LEASE_MS)).toEqual(['lost'])
    expect(await store.publish(claim, SUCCEEDED, scene.forbidden())).toBe('discarded')
    expect(await second.publish(claim, DEAD, scene.forbidden())).toBe('discarded')
    expect(await scene.total('finished:cancelled')).toBe(1)
    expect(await scene.total('stale_publications')).toBe(0)
    expect(await scene.claim()).toEqual([])
  })

  holds('cancel: a waiting job, one that waits for later, and a dead one', async (scene) => {
    const dead = await scene.ended(DEAD)
    const later = await scene.submit({ runAtMs: scene.clock.nowMs() + 1_000 })
    const waiting = await scene.submit()
    for (const { id } of [dead, later, waiting]) {
      expect(await cancel(scene, id)).toBe(true)
      expect(await scene.job(id)).toMatchObject({
        state: 'cancelled',
        finishedAtMs: scene.clock.nowMs(),
      })
      expect(await cancel(scene, id)).toBe(false)
    }
    scene.clock.advance(1_000)
    expect(await scene.claim()).toEqual([])
    expect(await scene.nextDue()).toBeNull()
  })

  holds('cancel: nothing else', async (scene) => {
    const { store } = scene
    const done = await scene.ended(SUCCEEDED)
    const degraded = await scene.ended({ state: 'degraded', reason: 'http_503' })
    const old = await scene.submit({ subject: 'bookmark-1', subjectVersion: 1 })
    await scene.change((tx) => store.supersede(tx, { subject: 'bookmark-1', version: 2 }))
    for (const { id } of [done, degraded, old]) {
      const before = await store.get(id)
      expect(await cancel(scene, id)).toBe(false)
      expect(await store.get(id)).toEqual(before)
    }
    expect(await cancel(scene, 'job-none')).toBe(false)
  })

  holds('cancel: rolled back, the attempt goes on', async (scene) => {
    const { store } = scene
    const claim = await scene.claimed()
    await rolledBack(store, (tx) => store.cancel(tx, claim.job.id))
    expect(await store.heartbeat([claim], LEASE_MS)).toEqual(['extended'])
    expect(await store.publish(claim, SUCCEEDED)).toBe('published')
  })

  holds('cancel: a cancelled job can be repaired; the cancelled attempt stays refused', async (scene) => {
    const { store } = scene
    const claim = await scene.claimed()
    await cancel(scene, claim.job.id)
    await scene.change((tx) => store.repair(tx, claim.job.id))
    expect(await store.publish(claim, SUCCEEDED, scene.forbidden())).toBe('discarded')
    const again = await scene.claimOne()
    expect(again).toMatchObject({ epoch: 2, job: { id: claim.job.id, generation: 2, attempt: 1 } })
    expect(await store.publish(claim, SUCCEEDED, scene.forbidden())).toBe('discarded')
    expect(await store.heartbeat([claim, again], LEASE_MS)).toEqual(['lost', 'extended'])
  })

  holds('cancel: a running job frees its key', async (scene) => {
    const kinds = [{ kind: 'title', perKey: 1 }]
    const claim = await scene.claimed({ key: 'example.org' })
    const waiting = await scene.submit({ key: 'example.org' })
    expect(await scene.claim({ kinds })).toEqual([])
    await cancel(scene, claim.job.id)
    expect(idsOf(await scene.claim({ kinds }))).toEqual([waiting.id])
  })

  holds('cancel: how the last try had ended stays known', async (scene) => {
    const waits = await triedOnce(scene)
    await cancel(scene, waits)
    expect(await scene.store.get(waits)).toMatchObject({
      job: { state: 'cancelled', lastError: 'timeout' },
      attempts: [{ outcome: 'retried', error: 'timeout' }],
    })
    const dead = await scene.ended(DEAD)
    await cancel(scene, dead.id)
    expect(await scene.store.get(dead.id)).toMatchObject({
      job: { state: 'cancelled', lastError: 'http_404' },
      attempts: [{ outcome: 'dead', error: 'http_404', endedAtMs: dead.finishedAtMs }],
    })
  })

  holds('cancel: an attempt that is cut short has no error of its own', async (scene) => {
    const runs = await triedOnce(scene)
    await scene.claimOne()
    await cancel(scene, runs)
    expect(await scene.store.get(runs)).toMatchObject({
      job: { state: 'cancelled', lastError: null },
      attempts: [
        { epoch: 1, outcome: 'retried', error: 'timeout' },
        { epoch: 2, outcome: 'cancelled', error: null },
      ],
    })
  })

  holds(
    'cancel: makes room once, also for a job that was dead',
    async (scene) => {
      const room = async () => {
        const answer = await scene.submit().catch((error) => error)
        return !(answer instanceof QueueFull)
      }
      const dead = await scene.ended(DEAD)
      const running = await scene.claimed()
      expect(await room()).toBe(false)
      await cancel(scene, running.job.id)
      await cancel(scene, dead.id)
      expect(await room()).toBe(true)
      expect(await room()).toBe(false)
    },
    { perTenant: 1 },
  )

  holds('cancel: one that meets a publication of the same job: one of them has it', async (scene) => {
    const { store, second } = scene
    const claim = await scene.claimed()
    const [answer, isCancelled] = await Promise.all([
      store.publish(claim, SUCCEEDED, scene.writing('title')),
      second.transaction((tx) => second.cancel(tx, claim.job.id)),
    ])
    expect(answer).toBe(isCancelled ? 'discarded' : 'published')
    expect(await scene.caller.rows()).toEqual(isCancelled ? [] : ['title'])
    expect((await scene.job(claim.job.id)).state).toBe(isCancelled ? 'cancelled' : 'succeeded')
  })
}
