import { expect } from 'vitest'
import type { Claim } from '../../src/job.ts'
import { RANK_UNIT } from '../../src/rank.ts'
import type { Ending } from '../../src/store.ts'
import type { Contract } from './contract.ts'
import { LEASE_MS, rolledBack, type Scene, SUCCEEDED } from './scene.ts'

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

  for (const priority of [0, -1]) {
    holds(
      `fairness: 500 leases that run out together delay another’s job by only a few (priority ${priority})`,
      async (scene) => {
        await scene.submitMany(500, { tenant: 'alice', priority })
        expect(await scene.claim({ limit: 500 })).toHaveLength(500)
        scene.clock.advance(LEASE_MS)
        const single = await scene.submit({ tenant: 'bob', priority })
        expect(await servedBefore(scene, single.id)).toBeLessThanOrEqual(A_FEW)
      },
    )
  }

  holds('fairness: 500 retries that are due at once delay another’s job by only a few', async (scene) => {
    await scene.submitMany(500, { tenant: 'alice' })
    const retry: Ending = { state: 'ready', outcome: 'retried', runAtMs: 0, reason: 'timeout' }
    await publishAll(scene, await scene.claim({ limit: 500 }), retry)
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

  holds('weights: shares are as the weights, within 5 % over 10,000 jobs', async (scene) => {
    const weights = { alice: 1, bob: 2, carol: 0.5, dan: 6.5 }
    await scene.change(async (tx) => {
      for (const [tenant, weight] of Object.entries(weights)) await scene.store.setWeight(tx, tenant, weight)
    })
    for (const [tenant, weight] of Object.entries(weights)) {
      await scene.submitMany(weight * 1_100, { tenant }) // a tenth more than its share
    }
    const served: Record<string, number> = { alice: 0, bob: 0, carol: 0, dan: 0 }
    for (let claimed = 0; claimed < 10_000; claimed += 1_000) {
      const claims = await scene.claim({ limit: 1_000 })
      expect(claims).toHaveLength(1_000)
      for (const { job } of claims) served[job.tenant]!++
    }
    for (const [tenant, weight] of Object.entries(weights)) {
      expect(served[tenant]! / (weight * 1_000)).toBeGreaterThan(0.95)
      expect(served[tenant]! / (weight * 1_000)).toBeLessThan(1.05)
    }
  })

  holds('weights: they hold for jobs for later and retries that come due together', async (scene) => {
    const { store, clock } = scene
    await scene.change((tx) => store.setWeight(tx, 'alice', 3))
    const runAtMs = clock.nowMs() + 60_000
    for (const tenant of ['alice', 'bob']) {
      await scene.submitMany(100, { tenant, runAtMs })
      await scene.submitMany(100, { tenant })
    }
    const retry: Ending = { state: 'ready', outcome: 'retried', runAtMs, reason: 'timeout' }
    await publishAll(scene, await scene.claim({ limit: 200 }), retry)
    clock.advance(60_000)
    const ofAlice = (await scene.claim({ limit: 80 })).filter((one) => one.job.tenant === 'alice')
    expect(ofAlice.length).toBeGreaterThanOrEqual(57)
    expect(ofAlice.length).toBeLessThanOrEqual(63)
  })

  holds('weights: a heavy tenant’s backlog delays another’s single job by no more for it', async (scene) => {
    await scene.change((tx) => scene.store.setWeight(tx, 'alice', 4))
    await scene.submitMany(1_000, { tenant: 'alice' })
    await publishAll(scene, await scene.claim({ limit: 30 }), SUCCEEDED)
    const single = await scene.submit({ tenant: 'bob' })
    expect(await servedBefore(scene, single.id)).toBeLessThanOrEqual(A_FEW)
  })

  holds('setWeight: counts for what is submitted from then on, and can be changed', async (scene) => {
    const { store } = scene
    await scene.change((tx) => store.setWeight(tx, 'alice', 0.1))
    const slow = await scene.submit()
    await scene.change((tx) => store.setWeight(tx, 'alice', 2))
    const quick = await scene.submit()
    expect([slow.rank, quick.rank]).toEqual([10 * RANK_UNIT, 10.5 * RANK_UNIT])
    expect((await scene.job(slow.id)).rank).toBe(slow.rank)
    await rolledBack(store, (tx) => store.setWeight(tx, 'alice', 100))
    expect((await scene.submit()).rank).toBe(11 * RANK_UNIT)
    await scene.change((tx) => store.forgetTenant(tx, 'alice'))
    expect((await scene.submit()).rank).toBe(11.5 * RANK_UNIT)
  })

  holds('setWeight: of a tenant that never submitted anything', async (scene) => {
    await scene.change((tx) => scene.store.setWeight(tx, 'alice', 4))
    expect(await scene.size()).toBe(0)
    expect((await scene.submit()).rank).toBe(RANK_UNIT / 4)
  })

  for (const weight of [0, -1, 0.009, 100.1, Number.NaN]) {
    holds(`setWeight: refuses ${weight}`, async (scene) => {
      const refused = scene.change((tx) => scene.store.setWeight(tx, 'alice', weight))
      await expect(refused).rejects.toBeInstanceOf(RangeError)
      expect((await scene.submit()).rank).toBe(RANK_UNIT)
    })
  }
}
