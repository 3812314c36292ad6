import { expect } from 'vitest'
import type { Contract } from './contract.ts'
import { LEASE_MS, SUCCEEDED } from './scene.ts'

export function progressTests<Tx>({ holds }: Contract<Tx>): void {
  holds('progress: is kept with the running job, the newest word', async (scene) => {
    const claim = await scene.claimed()
    expect(claim.job.progress).toBeNull()
    expect(await scene.store.progress(claim, { done: 1, of: 3 })).toBe('stored')
    expect((await scene.job(claim.job.id)).progress).toEqual({ done: 1, of: 3 })
    expect(await scene.second.progress(claim, ['two', null])).toBe('stored')
    expect(await scene.job(claim.job.id)).toEqual({ ...claim.job, progress: ['two', null] })
    expect((await scene.store.list({ limit: 1 }))[0]!.progress).toEqual(['two', null])
  })

  holds('progress: does not extend the lease', async (scene) => {
    const claim = await scene.claimed()
    scene.clock.advance(LEASE_MS - 1)
    expect(await scene.store.progress(claim, 1)).toBe('stored')
    scene.clock.advance(1)
    expect(await scene.store.progress(claim, 2)).toBe('lost')
    expect((await scene.job(claim.job.id)).progress).toBe(1)
  })

  holds('progress: an older epoch is refused', async (scene) => {
    const old = await scene.claimed()
    scene.clock.advance(LEASE_MS)
    const current = await scene.claimOne()
    expect(await scene.store.progress(current, 'mine')).toBe('stored')
    expect(await scene.store.progress(old, 'late')).toBe('lost')
    expect((await scene.job(current.job.id)).progress).toBe('mine')
  })

  holds('progress: of a job that has ended, was released or is gone is refused', async (scene) => {
    const { store } = scene
    const ended = await scene.claimed()
    await store.publish(ended, SUCCEEDED)
    const released = await scene.claimed()
    await store.publish(released, { state: 'ready', outcome: 'released' })
    const gone = await scene.claimed({ subject: 'bookmark-1', priority: -1 })
    await scene.change((tx) => store.forget(tx, 'bookmark-1'))
    for (const claim of [ended, released, gone]) expect(await store.progress(claim, 1)).toBe('lost')
    expect((await scene.job(ended.job.id)).progress).toBeNull()
    expect(await store.get(gone.job.id)).toBeUndefined()
  })

  holds('progress: the last word stays through the next attempt until it says something', async (scene) => {
    const { store } = scene
    const first = await scene.claimed()
    await store.progress(first, 'half')
    await store.publish(first, { state: 'ready', outcome: 'retried', runAtMs: 0, reason: 'timeout' })
    const again = await scene.claimOne()
    expect(again.job.progress).toBe('half')
    await store.progress(again, 'whole')
    await store.publish(again, SUCCEEDED)
    expect((await scene.job(first.job.id)).progress).toBe('whole')
  })
}
