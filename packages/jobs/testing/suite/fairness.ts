import { expect } from 'vitest'
import type { Claim } from '../../src/job.ts'
import type { Ending } from '../../src/store.ts'
import type { Contract } from './contract.ts'
import { type Scene, SUCCEEDED } from './scene.ts'

/** How many jobs are served before `id`, three at a time. */
async function servedBefore<Tx>(scene: Scene<Tx>, id: string): Promise<number> {
  for (let served = 0; ; ) {
    const claims = await scene.claim({ limit: 3 })
    expect(claims.length).toBeGreaterThan(0)
    const before = claims.findIndex((one) => one.job.id === id)
    if (before >= 0) return served + before
    await publishAll(scene, claims, SUCCEEDED)
    served += claims.length
  }
}

/** All at once: they share their commits, where the store can do that. */
async function publishAll<Tx>(scene: Scene<Tx>, claims: Claim[], ending: Ending): Promise<void> {
  const answers = await Promise.all(claims.map((one) => scene.store.publish(one, ending)))
  expect(new Set(answers)).toEqual(new Set(['published']))
}

/** "A few jobs": what is claimed at the moment, and one batch more. */
const A_FEW = 6

export function fairnessTests<Tx>({ holds }: Contract<Tx>): void {
  holds('fairness: a tenant’s 1,000 jobs delay another’s single one by only a few', async (scene) => {
    await scene.submitMany(1_000, { tenant: 'alice' })
    const single = await scene.submit({ tenant: 'bob' })
    expect(await servedBefore(scene, single.id)).toBeLessThanOrEqual(A_FEW)
  })

  holds('fairness: so does a backlog that has been worked on for long', async (scene) => {
    await scene.submitMany(1_000, { tenant: 'alice' })
    for (let n = 0; n < 10; n++) await publishAll(scene, await scene.claim({ limit: 30 }), SUCCEEDED)
    const single = await scene.submit({ tenant: 'bob' })
    expect(await servedBefore(scene, single.id)).toBeLessThanOrEqual(A_FEW)
  })

  holds('fairness: a tenant who was away gets no credit for it', async (scene) => {
    await scene.submitMany(100, { tenant: 'alice' })
    await publishAll(scene, await scene.claim({ limit: 50 }), SUCCEEDED)
    await scene.submitMany(100, { tenant: 'bob' })
    const next = await scene.claim({ limit: 20 })
    const ofAlice = next.filter((one) => one.job.tenant === 'alice')
    expect(ofAlice.length).toBeGreaterThanOrEqual(9)
    expect(ofAlice.length).toBeLessThanOrEqual(11)
  })

  holds('fairness: two tenants with long backlogs are served in turn', async (scene) => {
    await scene.submitMany(200, { tenant: 'alice' })
    await scene.submitMany(200, { tenant: 'bob' })
    const claims = await scene.claim({ limit: 50 })
    expect(claims.filter((one) => one.job.tenant === 'bob')).toHaveLength(25)
  })

  holds('fairness: 500 retries that come due together delay another’s job by only a few', async (scene) => {
    const { clock } = scene
    await scene.submitMany(500, { tenant: 'alice' })
    const runAtMs = clock.nowMs() + 60_000
    const retry: Ending = { state: 'ready', outcome: 'retried', runAtMs, reason: 'timeout' }
    await publishAll(scene, await scene.claim({ limit: 500 }), retry)
    clock.advance(60_000)
    const single = await scene.submit({ tenant: 'bob' })
    expect(await servedBefore(scene, single.id)).toBeLessThanOrEqual(A_FEW)
  })

  holds(
    'fairness: 500 jobs for later that come due together delay another’s job by only a few',
    async (scene) => {
      await scene.submitMany(500, { tenant: 'alice', runAtMs: scene.clock.nowMs() + 60_000 })
      await scene.submitMany(600, { tenant: 'carol' })
      await publishAll(scene, await scene.claim({ limit: 600 }), SUCCEEDED)
      scene.clock.advance(60_000)
      const single = await scene.submit({ tenant: 'bob' })
      expect(await servedBefore(scene, single.id)).toBeLessThanOrEqual(A_FEW)
    },
  )

  holds('fairness: 500 repaired jobs delay another’s job by only a few', async (scene) => {
    const { store } = scene
    const jobs = await scene.submitMany(500, { tenant: 'alice' })
    await publishAll(scene, await scene.claim({ limit: 500 }), { state: 'dead', reason: 'http_404' })
    await scene.change(async (tx) => {
      for (const { id } of jobs) await store.repair(tx, id)
    })
    const single = await scene.submit({ tenant: 'bob' })
    expect(await servedBefore(scene, single.id)).toBeLessThanOrEqual(A_FEW)
  })
}
