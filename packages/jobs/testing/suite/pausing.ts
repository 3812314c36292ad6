import { expect } from 'vitest'
import type { Contract } from './contract.ts'
import { idsOf, LEASE_MS, rolledBack, type Scene, SUCCEEDED } from './scene.ts'

const BOTH = { kinds: [{ kind: 'title' }, { kind: 'photo' }] }

function pause<Tx>(scene: Scene<Tx>, kind = 'title', untilMs?: number): Promise<void> {
  return scene.change((tx) => scene.store.pause(tx, kind, { reason: 'maintenance', untilMs }))
}

export function pausingTests<Tx>({ holds }: Contract<Tx>): void {
  holds('pause: no job of the kind is claimed until it is resumed; submitting goes on', async (scene) => {
    const { store, second } = scene
    const before = await scene.submit()
    await pause(scene)
    const meanwhile = await scene.submit()
    expect(await scene.claim()).toEqual([])
    expect(await scene.claim({}, second)).toEqual([])
    expect(await scene.change((tx) => store.resume(tx, 'title'))).toBe(true)
    expect(idsOf(await scene.claim({}, second))).toEqual([before.id, meanwhile.id])
  })

  holds('pause: other kinds go on', async (scene) => {
    await scene.submitMany(300)
    const photo = await scene.submit({ kind: 'photo' })
    await pause(scene)
    expect(idsOf(await scene.claim(BOTH))).toEqual([photo.id])
    expect(await scene.claim(BOTH)).toEqual([])
  })

  holds('pause: attempts under way end as they do', async (scene) => {
    const { store } = scene
    const published = await scene.claimed()
    const retried = await scene.claimed()
    const lost = await scene.claimed()
    await pause(scene)
    expect(await store.heartbeat([published], LEASE_MS)).toEqual(['extended'])
    expect(await store.publish(published, SUCCEEDED, scene.writing('title'))).toBe('published')
    const retry = { state: 'ready', outcome: 'retried', runAtMs: 0, reason: 'timeout' } as const
    expect(await store.publish(retried, retry)).toBe('published')
    expect(await scene.caller.rows()).toEqual(['title'])
    scene.clock.advance(LEASE_MS)
    expect(await scene.claim()).toEqual([])
    await scene.change((tx) => store.resume(tx, 'title'))
    expect(idsOf(await scene.claim()).sort()).toEqual([retried.job.id, lost.job.id])
  })

  holds('pause: until its time, to the millisecond', async (scene) => {
    await scene.submit()
    await pause(scene, 'title', scene.clock.nowMs() + 5_000)
    scene.clock.advance(4_999)
    expect(await scene.claim()).toEqual([])
    expect(await scene.store.paused()).toHaveLength(1)
    scene.clock.advance(1)
    expect(await scene.store.paused()).toEqual([])
    expect(await scene.nextDue()).toBe(0)
    expect(await scene.claim()).toHaveLength(1)
  })

  holds('pause: from the commit on, and not if it is rolled back', async (scene) => {
    const { store } = scene
    await scene.submit()
    await rolledBack(store, (tx) => store.pause(tx, 'title', { reason: 'a mistake' }))
    expect(await store.paused()).toEqual([])
    expect(await scene.claim()).toHaveLength(1)
  })

  holds('pause: again replaces reason and time', async (scene) => {
    const { store, clock } = scene
    await pause(scene, 'title', clock.nowMs() + 1_000)
    clock.advance(500)
    await scene.change((tx) => store.pause(tx, 'title', { reason: 'still broken' }))
    const replaced = { kind: 'title', reason: 'still broken', sinceMs: clock.nowMs(), untilMs: null }
    expect(await store.paused()).toEqual([replaced])
    clock.advance(1_000)
    await scene.submit()
    expect(await scene.claim()).toEqual([])
  })

  holds('paused: the kinds that are paused now, by name', async (scene) => {
    const { store, second, clock } = scene
    const sinceMs = clock.nowMs()
    await pause(scene, 'title')
    await pause(scene, 'export', sinceMs + 60_000)
    await pause(scene, 'photo', sinceMs + 1)
    clock.advance(1)
    const expected = [
      { kind: 'export', reason: 'maintenance', sinceMs, untilMs: sinceMs + 60_000 },
      { kind: 'title', reason: 'maintenance', sinceMs, untilMs: null },
    ]
    expect(await store.paused()).toEqual(expected)
    expect(await second.paused()).toEqual(expected)
  })

  holds('resume: answers whether the kind was paused', async (scene) => {
    const { store, clock } = scene
    const resume = () => scene.change((tx) => store.resume(tx, 'title'))
    expect(await resume()).toBe(false)
    await pause(scene)
    expect(await resume()).toBe(true)
    expect(await resume()).toBe(false)
    await pause(scene, 'title', clock.nowMs() + 1_000)
    clock.advance(1_000)
    expect(await resume()).toBe(false) // its time was over
  })

  holds('nextDueInMs: jobs of paused kinds do not count', async (scene) => {
    const { store, clock } = scene
    await scene.claimed()
    await scene.submit()
    await scene.submit({ runAtMs: clock.nowMs() + 1_000 })
    await scene.submit({ kind: 'photo', runAtMs: clock.nowMs() + 2_000 })
    await pause(scene)
    expect(await store.nextDueInMs(['title'])).toBeNull()
    expect(await store.nextDueInMs(['title', 'photo'])).toBe(2_000)
    await scene.change((tx) => store.resume(tx, 'title'))
    expect(await store.nextDueInMs(['title', 'photo'])).toBe(0)
  })

  holds('pause: repair, discard and supersede do their work all the same', async (scene) => {
    const { store } = scene
    const dead = await scene.ended({ state: 'dead', reason: 'http_404' })
    const old = await scene.submit({ subject: 'bookmark-1', subjectVersion: 1 })
    const waiting = await scene.submit()
    await pause(scene)
    await scene.change(async (tx) => {
      await store.repair(tx, dead.id)
      await store.discard(tx, waiting.id)
      await store.supersede(tx, { subject: 'bookmark-1', version: 2 })
    })
    expect(await scene.claim()).toEqual([])
    expect((await scene.job(old.id)).state).toBe('superseded')
    await scene.change((tx) => store.resume(tx, 'title'))
    expect(idsOf(await scene.claim())).toEqual([dead.id])
  })
}
