import { expect } from 'vitest'
import { QueueFull } from '../../src/errors.ts'
import { RANK_UNIT } from '../../src/rank.ts'
import type { Ending } from '../../src/store.ts'
import type { Contract } from './contract.ts'
import { rolledBack, type Scene, SUCCEEDED } from './scene.ts'

async function refusal<Tx>(scene: Scene<Tx>, tenant = 'alice'): Promise<unknown> {
  return scene.submit({ tenant }).catch((error) => error)
}

async function hasRoom<Tx>(scene: Scene<Tx>): Promise<boolean> {
  const answer = await refusal(scene)
  return !(answer instanceof QueueFull)
}

export function boundTests<Tx>({ holds }: Contract<Tx>): void {
  holds(
    'bounds: a tenant’s bound refuses that tenant and nobody else',
    async (scene) => {
      await scene.submitMany(2)
      const full = await refusal(scene)
      expect(full).toBeInstanceOf(QueueFull)
      expect(full).toMatchObject({
        code: 'QUEUE_FULL',
        scope: 'tenant',
        limit: 2,
        pending: 2,
        retryAfterMs: 7_000,
      })
      expect((await scene.submit({ tenant: 'bob' })).state).toBe('ready')
      expect(await scene.size()).toBe(3)
    },
    { perTenant: 2 },
  )

  holds(
    'bounds: the bound in total refuses everybody',
    async (scene) => {
      await scene.submit({ tenant: 'alice' })
      await scene.submit({ tenant: 'bob' })
      expect(await refusal(scene, 'carol')).toMatchObject({ scope: 'total', limit: 2, pending: 2 })
      expect(await scene.size()).toBe(2)
    },
    { total: 2 },
  )

  holds(
    'bounds: a caller who catches QueueFull can go on with nothing of it left',
    async (scene) => {
      const { store, caller } = scene
      const refused = scene.submission({ operationId: 'op-1' })
      await store.transaction(async (tx) => {
        const accepted = await store.submit(tx, scene.submission())
        await expect(store.submit(tx, refused)).rejects.toBeInstanceOf(QueueFull)
        await caller.write(tx, accepted.job.id)
      })
      expect(await caller.rows()).toHaveLength(1)
      expect(await store.get(refused.id)).toBeUndefined()
      await store.publish(await scene.claimOne(), SUCCEEDED)
      // The operation id was not used up, and neither was a rank.
      const later = await scene.submit({ operationId: 'op-1', payload: 'another' })
      expect(later).toMatchObject({ payload: 'another', rank: 2 * RANK_UNIT })
    },
    { perTenant: 1 },
  )

  holds(
    'bounds: a transaction that fails on QueueFull leaves nothing at all',
    async (scene) => {
      const { store, caller } = scene
      const attempt = store.transaction(async (tx) => {
        await caller.write(tx, 'first')
        await store.submit(tx, scene.submission())
        await store.submit(tx, scene.submission())
      })
      await expect(attempt).rejects.toBeInstanceOf(QueueFull)
      expect(await caller.rows()).toEqual([])
      expect(await scene.size()).toBe(0)
      expect(await hasRoom(scene)).toBe(true)
    },
    { perTenant: 1 },
  )

  holds(
    'bounds: a repeat is answered even when the queue is full',
    async (scene) => {
      const { store } = scene
      const first = await scene.submit({ operationId: 'op-1' })
      const again = scene.submission({ operationId: 'op-1' })
      expect(await store.transaction((tx) => store.submit(tx, again))).toEqual({ job: first, isRepeat: true })
    },
    { perTenant: 1 },
  )

  const endings: Ending[] = [
    SUCCEEDED,
    { state: 'degraded', reason: 'http_503' },
    { state: 'dead', reason: 'http_404' },
    { state: 'cancelled', reason: 'discarded' },
  ]
  for (const ending of endings) {
    holds(
      `bounds: a job that is ${ending.state} makes room`,
      async (scene) => {
        const claim = await scene.claimed()
        expect(await hasRoom(scene)).toBe(false)
        await scene.store.publish(claim, ending)
        expect(await hasRoom(scene)).toBe(true)
        expect(await hasRoom(scene)).toBe(false)
      },
      { perTenant: 1 },
    )
  }

  const back: Ending[] = [
    { state: 'ready', outcome: 'retried', runAtMs: 0, reason: 'timeout' },
    { state: 'ready', outcome: 'released' },
  ]
  for (const ending of back) {
    holds(
      `bounds: a job that is ${'outcome' in ending && ending.outcome} keeps its room`,
      async (scene) => {
        await scene.store.publish(await scene.claimed(), ending)
        expect(await hasRoom(scene)).toBe(false)
      },
      { perTenant: 1 },
    )
  }

  holds(
    'bounds: a lease that runs out neither makes room nor takes it twice',
    async (scene) => {
      await scene.claimed()
      scene.clock.advance(30_000)
      expect(await hasRoom(scene)).toBe(false)
      await scene.store.publish(await scene.claimOne(), SUCCEEDED)
      expect(await hasRoom(scene)).toBe(true)
      expect(await hasRoom(scene)).toBe(false)
    },
    { perTenant: 1 },
  )

  for (const state of ['ready', 'running'] as const) {
    const pending = (scene: Scene<Tx>) => {
      const about = { subject: 'bookmark-1', subjectVersion: 1 }
      return state === 'ready' ? scene.submit(about) : scene.claimed(about)
    }
    holds(
      `bounds: superseding a ${state} job makes room`,
      async (scene) => {
        await pending(scene)
        await scene.change((tx) => scene.store.supersede(tx, { subject: 'bookmark-1', version: 2 }))
        expect(await hasRoom(scene)).toBe(true)
        expect(await hasRoom(scene)).toBe(false)
      },
      { perTenant: 1 },
    )

    holds(
      `bounds: forgetting a ${state} job makes room, and taking it back takes it back`,
      async (scene) => {
        await pending(scene)
        await rolledBack(scene.store, (tx) => scene.store.forget(tx, 'bookmark-1'))
        expect(await hasRoom(scene)).toBe(false)
        await scene.change((tx) => scene.store.forget(tx, 'bookmark-1'))
        expect(await hasRoom(scene)).toBe(true)
        expect(await hasRoom(scene)).toBe(false)
      },
      { perTenant: 1 },
    )

    holds(
      `bounds: forgetting the tenant of a ${state} job makes room`,
      async (scene) => {
        await pending(scene)
        await scene.change((tx) => scene.store.forgetTenant(tx, 'alice'))
        expect(await hasRoom(scene)).toBe(true)
        expect(await hasRoom(scene)).toBe(false)
      },
      { perTenant: 1 },
    )
  }

  holds(
    'bounds: discarding a waiting job makes room, discarding a dead one does not make it twice',
    async (scene) => {
      const waiting = await scene.submit()
      await scene.change((tx) => scene.store.discard(tx, waiting.id))
      const dead = await scene.ended({ state: 'dead', reason: 'http_404' })
      await scene.change((tx) => scene.store.discard(tx, dead.id))
      expect(await hasRoom(scene)).toBe(true)
      expect(await hasRoom(scene)).toBe(false)
    },
    { perTenant: 1 },
  )

  holds(
    'bounds: a repair goes beyond them, and its job counts again',
    async (scene) => {
      const dead = await scene.ended({ state: 'dead', reason: 'http_404' })
      await scene.submit()
      const repaired = await scene.change((tx) => scene.store.repair(tx, dead.id))
      expect(repaired?.state).toBe('ready')
      expect(await refusal(scene)).toMatchObject({ scope: 'tenant', limit: 1, pending: 2 })
    },
    { perTenant: 1 },
  )

  holds(
    'bounds: a bounded repair is refused like a submission, and leaves the job as it was',
    async (scene) => {
      const { store, caller } = scene
      const dead = await scene.ended({ state: 'dead', reason: 'http_404' })
      const other = await scene.submit()
      await scene.change(async (tx) => {
        const refused = store.repair(tx, dead.id, { isBounded: true })
        await expect(refused).rejects.toMatchObject({ code: 'QUEUE_FULL', scope: 'tenant', pending: 1 })
        await caller.write(tx, 'went on')
      })
      expect(await caller.rows()).toEqual(['went on'])
      expect(await scene.job(dead.id)).toEqual(dead)
      await scene.change((tx) => store.discard(tx, other.id))
      const repaired = await scene.change((tx) => store.repair(tx, dead.id, { isBounded: true }))
      expect(repaired).toMatchObject({ state: 'ready', generation: 2 })
    },
    { perTenant: 1 },
  )

  holds(
    'bounds: a bounded repair of a waiting job needs no room, since it has it',
    async (scene) => {
      const waiting = await scene.submit({ runAtMs: scene.clock.nowMs() + 1_000 })
      const repaired = await scene.change((tx) => scene.store.repair(tx, waiting.id, { isBounded: true }))
      expect(repaired).toMatchObject({ state: 'ready', runAtMs: scene.clock.nowMs() })
    },
    { perTenant: 1 },
  )

  holds(
    'bounds: racing submissions are accepted up to the bound and not beyond',
    async (scene) => {
      const answers = await Promise.allSettled(
        Array.from({ length: 40 }, (_, n) => scene.submit({}, n % 2 === 0 ? scene.store : scene.second)),
      )
      const refused = answers.filter((one) => one.status === 'rejected')
      expect(refused.every((one) => one.reason instanceof QueueFull)).toBe(true)
      expect(answers.length - refused.length).toBe(15)
      expect(await scene.size()).toBe(15)
    },
    { perTenant: 15 },
  )
}
