import { expect } from 'vitest'
import type { Claim } from '../../src/job.ts'
import type { ClaimKind, Ending } from '../../src/store.ts'
import type { Contract } from './contract.ts'
import { idsOf, LEASE_MS, type Scene, SUCCEEDED } from './scene.ts'

const only = (limits: Omit<ClaimKind, 'kind'>, kind = 'title') => ({ kinds: [{ kind, ...limits }] })
const AT_MOST_TWO = only({ concurrency: 2 })
const EVERY_SECOND = only({ spacingMs: 1_000 })

/** Claims for `ms` milliseconds, `stepMs` apart; what was claimed and when. */
async function claimedOver<Tx>(scene: Scene<Tx>, request: { kinds: ClaimKind[] }, ms: number, stepMs = 100) {
  const found: { atMs: number; claim: Claim }[] = []
  const startMs = scene.clock.nowMs()
  for (let atMs = 0; atMs <= ms; atMs += stepMs) {
    for (const claim of await scene.claim(request)) found.push({ atMs, claim })
    scene.clock.advance(startMs + atMs + stepMs - scene.clock.nowMs())
  }
  return found
}

export function limitTests<Tx>({ holds }: Contract<Tx>): void {
  holds('concurrency: at most n jobs of the kind run at a time', async (scene) => {
    const jobs = await scene.submitMany(5)
    const claims = await scene.claim(AT_MOST_TWO)
    expect(idsOf(claims)).toEqual([jobs[0]!.id, jobs[1]!.id])
    expect(await scene.claim(AT_MOST_TWO)).toEqual([])
    await scene.store.publish(claims[0]!, SUCCEEDED)
    expect(idsOf(await scene.claim(AT_MOST_TWO))).toEqual([jobs[2]!.id])
    expect(await scene.claim(AT_MOST_TWO)).toEqual([])
  })

  holds('concurrency: the limit holds over all workers and connections', async (scene) => {
    await scene.submitMany(30)
    const racing = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        scene.claim(
          { ...only({ concurrency: 5 }), limit: 3, worker: `worker-${n}` },
          n % 2 ? scene.second : scene.store,
        ),
      ),
    )
    expect(racing.flat()).toHaveLength(5)
  })

  holds('concurrency: a full kind holds up no other, however many wait', async (scene) => {
    await scene.submitMany(1_000)
    const photo = await scene.submit({ kind: 'photo' })
    const kinds = [{ kind: 'title', concurrency: 2 }, { kind: 'photo' }]
    expect(await scene.claim({ kinds, limit: 2 })).toHaveLength(2)
    expect(idsOf(await scene.claim({ kinds, limit: 2 }))).toEqual([photo.id])
  })

  holds('concurrency: of each kind its own', async (scene) => {
    await scene.submitMany(5)
    await scene.submitMany(5, { kind: 'photo' })
    const kinds = [
      { kind: 'title', concurrency: 1 },
      { kind: 'photo', concurrency: 3 },
    ]
    const claims = await scene.claim({ kinds })
    expect(claims.filter((one) => one.job.kind === 'photo')).toHaveLength(3)
    expect(claims).toHaveLength(4)
  })

  const endings: Ending[] = [
    SUCCEEDED,
    { state: 'dead', reason: 'http_404' },
    { state: 'ready', outcome: 'retried', runAtMs: Number.MAX_SAFE_INTEGER, reason: 'timeout' },
  ]
  for (const ending of endings) {
    const name = 'outcome' in ending ? ending.outcome : ending.state
    holds(`concurrency: a job that is ${name} makes room`, async (scene) => {
      const [first, next] = await scene.submitMany(2)
      const claim = await scene.claimOne(only({ concurrency: 1 }))
      expect(claim.job.id).toBe(first!.id)
      await scene.store.publish(claim, ending)
      expect(idsOf(await scene.claim(only({ concurrency: 1 })))).toEqual([next!.id])
    })
  }

  holds(
    'concurrency: so does a lease that runs out, and a job that is cancelled or forgotten',
    async (scene) => {
      const { store } = scene
      const jobs = await scene.submitMany(4, { subject: 'bookmark-1' })
      await scene.submitMany(1)
      const one = only({ concurrency: 1 })
      await scene.claim(one)
      scene.clock.advance(LEASE_MS)
      const next = await scene.claimOne(one)
      expect(await scene.claim(one)).toEqual([])
      await scene.change((tx) => store.cancel(tx, next.job.id))
      expect(await scene.claim(one)).toHaveLength(1)
      expect(await scene.claim(one)).toEqual([])
      expect(await scene.change((tx) => store.forget(tx, 'bookmark-1'))).toBe(jobs.length)
      expect(await scene.claim(one)).toHaveLength(1)
    },
  )

  holds('concurrency and perKey hold together', async (scene) => {
    await scene.submitMany(3, { key: 'a.example' })
    await scene.submitMany(3, { key: 'b.example' })
    const other = await scene.submit()
    const claims = await scene.claim(only({ concurrency: 2, perKey: 1 }))
    expect(claims.map((one) => one.job.key)).toEqual(['a.example', 'b.example'])
    await scene.store.publish(claims[0]!, SUCCEEDED)
    // Now the kind has room for one; the second of a.example stands before the job without a key.
    expect((await scene.claimOne(only({ concurrency: 2, perKey: 1 }))).job.key).toBe('a.example')
    await scene.store.publish(claims[1]!, SUCCEEDED)
    expect((await scene.claimOne(only({ concurrency: 2, perKey: 1 }))).job.id).not.toBe(other.id)
  })

  holds('spacing: starts of one key are at least so far apart', async (scene) => {
    const jobs = await scene.submitMany(4, { key: 'example.org' })
    const found = await claimedOver(scene, EVERY_SECOND, 3_500)
    expect(found.map((one) => one.atMs)).toEqual([0, 1_000, 2_000, 3_000])
    expect(idsOf(found.map((one) => one.claim))).toEqual(jobs.map((one) => one.id))
  })

  holds('spacing: the end of a job does not bring the next one sooner', async (scene) => {
    await scene.submitMany(2, { key: 'example.org' })
    await scene.store.publish(await scene.claimOne(EVERY_SECOND), SUCCEEDED)
    expect(await scene.claim(EVERY_SECOND)).toEqual([])
    scene.clock.advance(999)
    expect(await scene.claim(EVERY_SECOND)).toEqual([])
    scene.clock.advance(1)
    expect(await scene.claim(EVERY_SECOND)).toHaveLength(1)
  })

  holds('spacing: a retry and a released job wait for it too', async (scene) => {
    const { id } = await scene.submit({ key: 'example.org' })
    for (const ending of [
      { state: 'ready', outcome: 'retried', runAtMs: 0, reason: 'timeout' },
      { state: 'ready', outcome: 'released' },
    ] satisfies Ending[]) {
      await scene.store.publish(await scene.claimOne(EVERY_SECOND), ending)
      expect(await scene.claim(EVERY_SECOND)).toEqual([])
      scene.clock.advance(1_000)
    }
    expect(idsOf(await scene.claim(EVERY_SECOND))).toEqual([id])
  })

  holds('spacing: keys wait for themselves alone, and jobs without a key for nothing', async (scene) => {
    await scene.submitMany(50, { key: 'slow.example' })
    const [other] = await scene.submitMany(2, { key: 'other.example' })
    const free = await scene.submitMany(2)
    const claims = await scene.claim({ ...EVERY_SECOND, limit: 4 })
    expect(idsOf(claims).slice(1)).toEqual([other!.id, ...free.map((one) => one.id)])
    expect(await scene.claim(EVERY_SECOND)).toEqual([])
  })

  holds('spacing: the same key of another kind is another key', async (scene) => {
    await scene.submitMany(2, { key: 'example.org' })
    await scene.submitMany(2, { kind: 'photo', key: 'example.org' })
    const kinds = ['title', 'photo'].map((kind) => ({ kind, spacingMs: 1_000 }))
    const claims = await scene.claim({ kinds })
    expect(claims.map((one) => one.job.kind).sort()).toEqual(['photo', 'title'])
  })

  holds('spacing: it holds over all workers and connections', async (scene) => {
    await scene.submitMany(30, { key: 'example.org' })
    for (let second = 0; second < 3; second++) {
      const racing = await Promise.all(
        Array.from({ length: 8 }, (_, n) => scene.claim(EVERY_SECOND, n % 2 ? scene.second : scene.store)),
      )
      expect(racing.flat()).toHaveLength(1)
      scene.clock.advance(1_000)
    }
  })

  holds('spacing: nextDueInMs says when the next start is due', async (scene) => {
    await scene.submitMany(2, { key: 'example.org' })
    await scene.store.publish(await scene.claimOne(EVERY_SECOND), SUCCEEDED)
    scene.clock.advance(300)
    expect(await scene.claim(EVERY_SECOND)).toEqual([])
    expect(await scene.nextDue()).toBe(700)
    scene.clock.advance(700)
    expect(await scene.nextDue()).toBe(0)
    expect(await scene.claim(EVERY_SECOND)).toHaveLength(1)
  })

  holds('spacing: nothing waits for the next start of a key that no job is left of', async (scene) => {
    const { store } = scene
    const [, second, third] = await scene.submitMany(3, { key: 'example.org', subject: 'bookmark-1' })
    await store.publish(await scene.claimOne(EVERY_SECOND), SUCCEEDED)
    expect(await scene.claim(EVERY_SECOND)).toEqual([])
    await scene.change((tx) => store.discard(tx, second!.id))
    expect(await scene.nextDue()).toBe(1_000)
    await scene.change((tx) => store.cancel(tx, third!.id))
    expect(await scene.nextDue()).toBeNull()
    // Nor if none was left by the time that the last one ended.
    await scene.submit({ key: 'example.com', subject: 'bookmark-2' })
    await store.publish(await scene.claimOne(EVERY_SECOND), SUCCEEDED)
    expect(await scene.nextDue()).toBeNull()
    await scene.submit({ key: 'example.net', subject: 'bookmark-2' })
    await scene.claimOne(EVERY_SECOND)
    await scene.change((tx) => store.forget(tx, 'bookmark-2'))
    expect(await scene.nextDue()).toBeNull()
  })

  holds('spacing and perKey hold together, whichever is later', async (scene) => {
    await scene.submitMany(3, { key: 'example.org' })
    const both = only({ perKey: 1, spacingMs: 1_000 })
    const first = await scene.claimOne(both)
    scene.clock.advance(5_000)
    expect(await scene.claim(both)).toEqual([]) // its time has come, its key is full
    await scene.store.publish(first, SUCCEEDED)
    const second = await scene.claimOne(both)
    await scene.store.publish(second, SUCCEEDED)
    expect(await scene.claim(both)).toEqual([]) // its key has room, its time has not come
    scene.clock.advance(1_000)
    expect(await scene.claim(both)).toHaveLength(1)
  })

  holds(
    'spacing: all of a long line end in the end, also when its first ones are cancelled',
    async (scene) => {
      const jobs = await scene.submitMany(30, { key: 'example.org' })
      expect(await scene.claim(EVERY_SECOND)).toHaveLength(1)
      for (const { id } of jobs.slice(1, 6)) await scene.change((tx) => scene.store.discard(tx, id))
      scene.clock.advance(1_000)
      const found = await claimedOver(scene, EVERY_SECOND, 24_000, 500)
      expect(idsOf(found.map((one) => one.claim))).toEqual(jobs.slice(6).map((one) => one.id))
    },
  )
}
