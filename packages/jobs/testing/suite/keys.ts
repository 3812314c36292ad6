import { expect } from 'vitest'
import type { Ending } from '../../src/store.ts'
import type { Contract } from './contract.ts'
import { idsOf, LEASE_MS, type Scene, SUCCEEDED } from './scene.ts'

const ONE_PER_KEY = { kinds: [{ kind: 'title', perKey: 1 }] }
const TWO_PER_KEY = { kinds: [{ kind: 'title', perKey: 2 }] }

/** One job of a key running and one waiting for it, which has been passed over. */
async function oneWaiting<Tx>(scene: Scene<Tx>) {
  const about = { key: 'example.org', subject: 'bookmark-1', subjectVersion: 1 }
  const first = await scene.submit(about)
  const waiting = await scene.submit({ key: 'example.org' })
  const claims = await scene.claim(ONE_PER_KEY)
  expect(idsOf(claims)).toEqual([first.id])
  expect(await scene.claim(ONE_PER_KEY)).toEqual([])
  return { claim: claims[0]!, waiting }
}

export function keyTests<Tx>({ holds }: Contract<Tx>): void {
  holds('keys: at most n jobs of one key run at a time', async (scene) => {
    const jobs = await scene.submitMany(5, { key: 'example.org' })
    const claims = await scene.claim(TWO_PER_KEY)
    expect(idsOf(claims)).toEqual([jobs[0]!.id, jobs[1]!.id])
    expect(await scene.claim(TWO_PER_KEY)).toEqual([])
    await scene.store.publish(claims[1]!, SUCCEEDED)
    expect(idsOf(await scene.claim(TWO_PER_KEY))).toEqual([jobs[2]!.id])
    expect(await scene.claim(TWO_PER_KEY)).toEqual([])
  })

  holds('keys: the limit holds over all workers and connections', async (scene) => {
    await scene.submitMany(30, { key: 'example.org' })
    const racing = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        scene.claim({ ...TWO_PER_KEY, limit: 3, worker: `worker-${n}` }, n % 2 ? scene.second : scene.store),
      ),
    )
    expect(racing.flat()).toHaveLength(2)
  })

  holds('keys: jobs without a key are not limited', async (scene) => {
    await scene.submitMany(5)
    expect(await scene.claim(ONE_PER_KEY)).toHaveLength(5)
  })

  holds('keys: a kind without `perKey` is not limited', async (scene) => {
    await scene.submitMany(5, { key: 'example.org' })
    expect(await scene.claim()).toHaveLength(5)
  })

  holds('keys: the same key of another kind is another key', async (scene) => {
    await scene.submitMany(2, { kind: 'title', key: 'example.org' })
    await scene.submitMany(2, { kind: 'photo', key: 'example.org' })
    const kinds = [
      { kind: 'title', perKey: 1 },
      { kind: 'photo', perKey: 1 },
    ]
    const claims = await scene.claim({ kinds })
    expect(claims.map((one) => one.job.kind).sort()).toEqual(['photo', 'title'])
  })

  holds('keys: blocked jobs do not hold up others, however many they are', async (scene) => {
    await scene.submitMany(1_000, { tenant: 'alice', key: 'slow.example' })
    await scene.claim(ONE_PER_KEY)
    const others = [
      await scene.submit({ tenant: 'alice', key: 'fast.example' }),
      await scene.submit({ tenant: 'alice' }),
    ]
    expect(idsOf(await scene.claim({ ...ONE_PER_KEY, limit: 2 }))).toEqual(others.map((one) => one.id))
  })

  holds('keys: one claim fills up with other jobs instead of blocked ones', async (scene) => {
    await scene.submitMany(50, { key: 'slow.example' })
    await scene.submitMany(10)
    expect(await scene.claim({ ...ONE_PER_KEY, limit: 11 })).toHaveLength(11)
  })

  holds('keys: all blocked jobs of one key end in the end, one after the other', async (scene) => {
    const jobs = await scene.submitMany(60, { key: 'slow.example' })
    const served: string[] = []
    for (let round = 0; round < 60; round++) {
      const claims = await scene.claim({ ...ONE_PER_KEY, limit: 4 })
      expect(claims).toHaveLength(1)
      served.push(claims[0]!.job.id)
      expect(await scene.store.publish(claims[0]!, SUCCEEDED)).toBe('published')
    }
    expect(served).toEqual(jobs.map((one) => one.id))
    expect(await scene.claim(ONE_PER_KEY)).toEqual([])
    expect(await scene.nextDue()).toBeNull()
  })

  holds('keys: they do so too when two run at a time and some are cancelled meanwhile', async (scene) => {
    const jobs = await scene.submitMany(60, { key: 'slow.example' })
    let ended = 0
    for (let round = 0; ended < 60; round++) {
      expect(round).toBeLessThan(100)
      const last = jobs[59 - round]
      if (last && (await scene.change((tx) => scene.store.discard(tx, last.id)))) ended++
      for (const claim of await scene.claim({ ...TWO_PER_KEY, limit: 5 })) {
        expect(await scene.store.publish(claim, SUCCEEDED)).toBe('published')
        ended++
      }
    }
    expect(await scene.nextDue()).toBeNull()
  })

  const endings: Ending[] = [
    SUCCEEDED,
    { state: 'degraded', reason: 'http_503' },
    { state: 'dead', reason: 'http_404' },
    { state: 'cancelled', reason: 'discarded' },
  ]
  for (const ending of endings) {
    holds(`keys: a job that is ${ending.state} frees its key`, async (scene) => {
      const { claim, waiting } = await oneWaiting(scene)
      await scene.store.publish(claim, ending)
      expect(idsOf(await scene.claim(ONE_PER_KEY))).toEqual([waiting.id])
    })
  }

  holds('keys: a job that is retried later frees its key until then', async (scene) => {
    const { claim, waiting } = await oneWaiting(scene)
    const runAtMs = scene.clock.nowMs() + 1_000
    await scene.store.publish(claim, { state: 'ready', outcome: 'retried', runAtMs, reason: 'timeout' })
    expect(idsOf(await scene.claim(ONE_PER_KEY))).toEqual([waiting.id])
    scene.clock.advance(1_000)
    expect(await scene.claim(ONE_PER_KEY)).toEqual([])
  })

  holds('keys: a released job frees its key, and is first in line for it', async (scene) => {
    const { claim } = await oneWaiting(scene)
    await scene.store.publish(claim, { state: 'ready', outcome: 'released' })
    expect(idsOf(await scene.claim(ONE_PER_KEY))).toEqual([claim.job.id])
  })

  holds('keys: a lease that runs out frees the key', async (scene) => {
    const { claim, waiting } = await oneWaiting(scene)
    scene.clock.advance(LEASE_MS)
    const [next, ...more] = await scene.claim(ONE_PER_KEY)
    expect(more).toEqual([])
    await scene.store.publish(next!, SUCCEEDED)
    const [last] = await scene.claim(ONE_PER_KEY)
    expect([next!.job.id, last!.job.id].sort()).toEqual([claim.job.id, waiting.id].sort())
  })

  holds('keys: a job superseded while it runs frees its key', async (scene) => {
    const { waiting } = await oneWaiting(scene)
    await scene.change((tx) => scene.store.supersede(tx, { subject: 'bookmark-1', version: 2 }))
    expect(idsOf(await scene.claim(ONE_PER_KEY))).toEqual([waiting.id])
  })

  holds('keys: a job forgotten while it runs frees its key', async (scene) => {
    const { waiting } = await oneWaiting(scene)
    await scene.change((tx) => scene.store.forget(tx, 'bookmark-1'))
    expect(idsOf(await scene.claim(ONE_PER_KEY))).toEqual([waiting.id])
  })

  holds('keys: a tenant forgotten while its job runs frees the key for others', async (scene) => {
    await scene.submitMany(3, { tenant: 'alice', key: 'example.org' })
    const other = await scene.submit({ tenant: 'bob', key: 'example.org' })
    await scene.claim(ONE_PER_KEY)
    await scene.claim(ONE_PER_KEY)
    await scene.change((tx) => scene.store.forgetTenant(tx, 'alice'))
    expect(idsOf(await scene.claim(ONE_PER_KEY))).toEqual([other.id])
  })

  holds('keys: cancelling the job that was next in line does not lose the line', async (scene) => {
    const { claim, waiting } = await oneWaiting(scene)
    const third = await scene.submit({ key: 'example.org' })
    await scene.claim(ONE_PER_KEY)
    await scene.store.publish(claim, SUCCEEDED)
    await scene.change((tx) => scene.store.discard(tx, waiting.id))
    expect(idsOf(await scene.claim(ONE_PER_KEY))).toEqual([third.id])
  })

  holds('keys: repairing a job that waits for its key does not break the limit', async (scene) => {
    const { claim, waiting } = await oneWaiting(scene)
    await scene.change((tx) => scene.store.repair(tx, waiting.id))
    expect(await scene.claim(ONE_PER_KEY)).toEqual([])
    await scene.store.publish(claim, SUCCEEDED)
    expect(idsOf(await scene.claim(ONE_PER_KEY))).toEqual([waiting.id])
  })

  holds('keys: a freeing that is rolled back frees nothing', async (scene) => {
    const { claim } = await oneWaiting(scene)
    const failing = scene.store.publish(claim, SUCCEEDED, () => Promise.reject(new Error('trouble')))
    await expect(failing).rejects.toThrow('trouble')
    expect(await scene.claim(ONE_PER_KEY)).toEqual([])
  })
}
