import { expect } from 'vitest'
import type { Contract } from './contract.ts'
import { LEASE_MS, SUCCEEDED } from './scene.ts'

export function claimTests<Tx>({ holds }: Contract<Tx>): void {
  holds('claim: nothing due is an empty answer', async (scene) => {
    expect(await scene.claim()).toEqual([])
    await scene.claimed()
    expect(await scene.claim()).toEqual([])
  })

  holds(
    'claim: starts an attempt: epoch and attempt go up, the lease is by the store’s clock',
    async (scene) => {
      const { id } = await scene.submit()
      scene.clock.advance(5_000)
      const nowMs = scene.clock.nowMs()
      const [claim, ...others] = await scene.claim({ worker: 'worker-7', leaseMs: 12_000 })
      expect(others).toEqual([])
      expect(claim).toMatchObject({
        epoch: 1,
        claimedAtMs: nowMs,
        job: { id, state: 'running', epoch: 1, attempt: 1, leaseUntilMs: nowMs + 12_000 },
      })
      expect(await scene.store.get(id)).toEqual({
        job: claim!.job,
        attempts: [
          {
            generation: 1,
            attempt: 1,
            epoch: 1,
            worker: 'worker-7',
            startedAtMs: nowMs,
            endedAtMs: null,
            outcome: null,
            error: null,
          },
        ],
      })
    },
  )

  holds('claim: takes at most `limit`, in order of rank and then id', async (scene) => {
    await scene.submit({ id: 'job-c', tenant: 'carol' })
    await scene.submit({ id: 'job-a', tenant: 'alice' })
    await scene.submit({ id: 'job-b', tenant: 'bob' })
    await scene.submit({ id: 'job-0', tenant: 'bob' })
    expect((await scene.claim({ limit: 2 })).map((one) => one.job.id)).toEqual(['job-a', 'job-b'])
    expect((await scene.claim({ limit: 0 })).map((one) => one.job.id)).toEqual([])
    expect((await scene.claim({ limit: 9 })).map((one) => one.job.id)).toEqual(['job-c', 'job-0'])
  })

  holds('claim: takes only the kinds that were asked for', async (scene) => {
    const photo = await scene.submit({ kind: 'photo' })
    const title = await scene.submit({ kind: 'title' })
    await scene.submit({ kind: 'export' })
    expect(await scene.claim({ kinds: [] })).toEqual([])
    const claims = await scene.claim({ kinds: [{ kind: 'title' }, { kind: 'photo' }] })
    expect(claims.map((one) => one.job.id)).toEqual([photo.id, title.id])
  })

  holds('claim: jobs of other kinds in front do not hold up the asked ones', async (scene) => {
    await scene.submitMany(300, { kind: 'photo' })
    const title = await scene.submit({ kind: 'title' })
    expect((await scene.claim({ limit: 1 })).map((one) => one.job.id)).toEqual([title.id])
  })

  holds('claim: not before `runAtMs`', async (scene) => {
    const runAtMs = scene.clock.nowMs() + 1_000
    const { id } = await scene.submit({ runAtMs })
    scene.clock.advance(999)
    expect(await scene.claim()).toEqual([])
    scene.clock.advance(1)
    expect((await scene.claim()).map((one) => one.job.id)).toEqual([id])
  })

  holds('claim: a job for later does not hold up those that are due', async (scene) => {
    const later = await scene.submit({ runAtMs: scene.clock.nowMs() + 1_000 })
    const now = await scene.submit()
    expect(later.rank).toBeLessThan(now.rank)
    expect((await scene.claim()).map((one) => one.job.id)).toEqual([now.id])
  })

  holds('claim: racing callers through two connections never get the same job', async (scene) => {
    const jobs = await scene.submitMany(120)
    const found: string[] = []
    const take = async (store: typeof scene.store) => {
      for (;;) {
        const claims = await scene.claim({ limit: 7 }, store)
        if (claims.length === 0) return
        found.push(...claims.map((one) => one.job.id))
      }
    }
    await Promise.all([take(scene.store), take(scene.second), take(scene.store), take(scene.second)])
    expect(found).toHaveLength(jobs.length)
    expect(new Set(found).size).toBe(jobs.length)
  })

  holds('claim: all that is accepted is claimed in the end, whatever its number', async (scene) => {
    const jobs = await scene.submitMany(700, { runAtMs: scene.clock.nowMs() + 1_000 })
    scene.clock.advance(1_000)
    const found: string[] = []
    for (let claims = await scene.claim(); claims.length > 0; claims = await scene.claim()) {
      found.push(...claims.map((one) => one.job.id))
    }
    expect(new Set(found).size).toBe(jobs.length)
    // And so they are once more when the worker that took them all is gone.
    scene.clock.advance(LEASE_MS)
    found.length = 0
    for (let claims = await scene.claim(); claims.length > 0; claims = await scene.claim()) {
      found.push(...claims.map((one) => one.job.id))
    }
    expect(new Set(found).size).toBe(jobs.length)
  })

  holds('nextDueInMs: null when nothing waits', async (scene) => {
    expect(await scene.nextDue()).toBeNull()
    await scene.ended(SUCCEEDED)
    expect(await scene.nextDue()).toBeNull()
  })

  holds('nextDueInMs: 0 when something is due, else the time until something may be', async (scene) => {
    const { clock } = scene
    await scene.submit({ runAtMs: clock.nowMs() + 40_000 })
    expect(await scene.nextDue()).toBe(40_000)
    await scene.submit({ runAtMs: clock.nowMs() + 10_000 })
    expect(await scene.nextDue()).toBe(10_000)
    clock.advance(9_999)
    expect(await scene.nextDue()).toBe(1)
    clock.advance(1)
    expect(await scene.nextDue()).toBe(0)
    await scene.claim()
    // The lease of 30 s is over when the other one is due.
    expect(await scene.nextDue()).toBe(30_000)
    clock.advance(90_000)
    expect(await scene.nextDue()).toBe(0)
  })

  holds('nextDueInMs: a running job may be due when its lease ends', async (scene) => {
    await scene.claimed()
    expect(await scene.nextDue()).toBe(LEASE_MS)
    scene.clock.advance(LEASE_MS)
    expect(await scene.nextDue()).toBe(0)
  })

  holds(
    'nextDueInMs: jobs whose key is full are looked for when their key may be free at the latest',
    async (scene) => {
      await scene.submitMany(3, { key: 'example.org' })
      await scene.claim({ kinds: [{ kind: 'title', perKey: 1 }] })
      expect([0, LEASE_MS]).toContain(await scene.nextDue())
    },
  )

  holds('nextDueInMs: of the asked kinds only', async (scene) => {
    const { store, clock } = scene
    await scene.submit({ kind: 'photo' })
    await scene.submit({ kind: 'export', runAtMs: clock.nowMs() + 7_000 })
    await scene.claimed({ kind: 'title' })
    expect(await store.nextDueInMs([])).toBeNull()
    expect(await store.nextDueInMs(['title'])).toBe(LEASE_MS)
    expect(await store.nextDueInMs(['export'])).toBe(7_000)
    expect(await store.nextDueInMs(['title', 'export'])).toBe(7_000)
    expect(await store.nextDueInMs(['photo'])).toBe(0)
    expect(await store.nextDueInMs(['export', 'photo'])).toBe(0)
    expect(await store.nextDueInMs(['nothing of this kind'])).toBeNull()
  })
}
