import { expect } from 'vitest'
import type { Contract } from './contract.ts'
import { idsOf, LEASE_MS, SUCCEEDED } from './scene.ts'

export function priorityTests<Tx>({ holds }: Contract<Tx>): void {
  holds('priorities: smaller first, then rank, then id', async (scene) => {
    const later = await scene.submit({ priority: 1 })
    const [first, second] = await scene.submitMany(2)
    const ofBob = await scene.submit({ tenant: 'bob' })
    const last = await scene.submit({ priority: 100 })
    const urgent = await scene.submit({ priority: -100 })
    const claims = await scene.claim()
    expect(idsOf(claims)).toEqual([urgent, first!, ofBob, second!, later, last].map((one) => one.id))
    expect(claims.map((one) => one.job.priority)).toEqual([-100, 0, 0, 0, 1, 100])
  })

  holds('priorities: the order holds over kinds, and with a limit', async (scene) => {
    const photo = await scene.submit({ kind: 'photo', priority: 5 })
    const title = await scene.submit({ kind: 'title', priority: 6 })
    const quick = await scene.submit({ kind: 'photo', priority: -1 })
    const plain = await scene.submit({ kind: 'title' })
    const kinds = [{ kind: 'title' }, { kind: 'photo' }]
    expect(idsOf(await scene.claim({ kinds, limit: 3 }))).toEqual([quick.id, plain.id, photo.id])
    expect(idsOf(await scene.claim({ kinds, limit: 3 }))).toEqual([title.id])
  })

  holds('priorities: a retry, an expired lease and a repair keep it', async (scene) => {
    const { store, clock } = scene
    const claim = await scene.claimed({ priority: -7 })
    const { id } = claim.job
    await scene.submitMany(3)
    await store.publish(claim, { state: 'ready', outcome: 'retried', runAtMs: 0, reason: 'timeout' })
    expect((await scene.claimOne()).job).toMatchObject({ id, priority: -7 })
    clock.advance(LEASE_MS)
    const again = await scene.claimOne()
    expect(again.job).toMatchObject({ id, priority: -7 })
    await store.publish(again, { state: 'dead', reason: 'http_404' })
    await scene.change((tx) => store.repair(tx, id))
    expect((await scene.claimOne()).job).toMatchObject({ id, priority: -7 })
  })

  holds('priorities: a job for later takes its place when its time has come', async (scene) => {
    const urgent = await scene.submit({ priority: -1, runAtMs: scene.clock.nowMs() + 1_000 })
    const [plain, next] = await scene.submitMany(2)
    expect(idsOf(await scene.claim({ limit: 1 }))).toEqual([plain!.id])
    scene.clock.advance(1_000)
    expect(idsOf(await scene.claim())).toEqual([urgent.id, next!.id])
  })

  holds('priorities: of the jobs that wait for a key the most urgent is next', async (scene) => {
    const kinds = [{ kind: 'title', perKey: 1 }]
    const claim = await scene.claimed({ key: 'example.org' })
    await scene.submitMany(2, { key: 'example.org' })
    const urgent = await scene.submit({ key: 'example.org', priority: -1 })
    expect(await scene.claim({ kinds })).toEqual([])
    await scene.store.publish(claim, SUCCEEDED)
    expect(idsOf(await scene.claim({ kinds }))).toEqual([urgent.id])
  })

  // Each of the following is fairness within one priority: what a tenant has waiting in another does not count.
  holds(
    'priorities: an urgent job of a tenant with a backlog puts nobody else behind that backlog',
    async (scene) => {
      await scene.submitMany(200, { tenant: 'alice' })
      await scene.submit({ tenant: 'alice', priority: -1 })
      await scene.store.publish(await scene.claimOne(), SUCCEEDED)
      const single = await scene.submit({ tenant: 'bob' })
      const ids = idsOf(await scene.claim({ limit: 6 }))
      expect(ids).toContain(single.id)
    },
  )

  holds('priorities: a backlog of ordinary jobs takes no turn among the urgent ones', async (scene) => {
    await scene.submitMany(200, { tenant: 'alice' })
    await scene.submitMany(50, { tenant: 'bob', priority: -1 })
    const urgent = await scene.submit({ tenant: 'alice', priority: -1 })
    expect(idsOf(await scene.claim({ limit: 6 }))).toContain(urgent.id)
  })

  holds('priorities: urgent jobs take no turn of a tenant’s ordinary ones', async (scene) => {
    await scene.submitMany(200, { tenant: 'alice', priority: -1 })
    await scene.claim({ limit: 200 })
    await scene.submitMany(50, { tenant: 'bob' })
    const plain = await scene.submit({ tenant: 'alice' })
    expect(idsOf(await scene.claim({ limit: 6 }))).toContain(plain.id)
  })

  holds('priorities: urgent jobs that were served put nobody behind an ordinary backlog', async (scene) => {
    await scene.submitMany(200, { tenant: 'alice' })
    await scene.submitMany(200, { tenant: 'carol', priority: -1 })
    expect(await scene.claim({ limit: 200 })).toHaveLength(200)
    const single = await scene.submit({ tenant: 'bob' })
    expect(idsOf(await scene.claim({ limit: 6 }))).toContain(single.id)
  })

  holds('priorities: ordinary jobs that were served put nobody behind an urgent backlog', async (scene) => {
    const photos = { kinds: [{ kind: 'photo' }] }
    await scene.submitMany(200, { tenant: 'alice', kind: 'photo', priority: -1 })
    await scene.submitMany(200, { tenant: 'carol' })
    expect(await scene.claim({ limit: 200 })).toHaveLength(200)
    const single = await scene.submit({ tenant: 'bob', kind: 'photo', priority: -1 })
    expect(idsOf(await scene.claim({ ...photos, limit: 6 }))).toContain(single.id)
  })

  holds('priorities: two tenants are served in turn within each', async (scene) => {
    for (const priority of [3, -3]) {
      await scene.submitMany(20, { tenant: 'alice', priority })
      await scene.submitMany(20, { tenant: 'bob', priority })
    }
    const claims = await scene.claim({ limit: 50 })
    const tenantsOf = (from: number, to: number) =>
      claims.slice(from, to).filter((one) => one.job.tenant === 'alice')
    expect(tenantsOf(0, 10)).toHaveLength(5)
    expect(tenantsOf(40, 50)).toHaveLength(5)
  })
}
