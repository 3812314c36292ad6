import { expect } from 'vitest'
import type { Retention } from '../../src/store.ts'
import type { Contract } from './contract.ts'
import { type Scene, SUCCEEDED } from './scene.ts'

const AGE_MS = 60_000
const LONG_MS = 365 * 86_400_000

function prune<Tx>(scene: Scene<Tx>, part: Partial<Retention>) {
  const all = { finishedMs: LONG_MS, operationsMs: LONG_MS, stepsMs: LONG_MS, limit: 1_000 }
  return scene.store.prune({ ...all, ...part })
}

const NONE = { jobs: 0, operations: 0, steps: 0 }

export function pruningTests<Tx>({ holds }: Contract<Tx>): void {
  holds('prune: of an empty store, nothing', async (scene) => {
    expect(await prune(scene, { finishedMs: 0, operationsMs: 0, stepsMs: 0 })).toEqual(NONE)
  })

  for (const state of ['succeeded', 'degraded', 'cancelled', 'superseded'] as const) {
    holds(`prune: removes ${state} jobs older than their retention, with their attempts`, async (scene) => {
      const { store, clock } = scene
      const claim = await scene.claimed()
      if (state === 'superseded') await store.publish(claim, SUCCEEDED, async () => 'superseded')
      else await store.publish(claim, state === 'succeeded' ? SUCCEEDED : { state, reason: 'x' })
      clock.advance(AGE_MS)
      expect(await prune(scene, { finishedMs: AGE_MS })).toEqual(NONE)
      expect(await store.get(claim.job.id)).toBeDefined()
      clock.advance(1)
      expect(await prune(scene, { finishedMs: AGE_MS })).toEqual({ ...NONE, jobs: 1 })
      expect(await store.get(claim.job.id)).toBeUndefined()
      expect(await scene.size()).toBe(0)
      expect(await prune(scene, { finishedMs: AGE_MS })).toEqual(NONE)
      expect(await scene.total(`finished:${state}`)).toBe(1)
    })
  }

  holds('prune: dead jobs never, nor what has not ended', async (scene) => {
    const { store, clock } = scene
    const dead = await scene.ended({ state: 'dead', reason: 'http_404' })
    const claim = await scene.claimed()
    const repaired = await scene.ended(SUCCEEDED)
    await scene.change((tx) => store.repair(tx, repaired.id))
    const waiting = await scene.submit()
    clock.advance(LONG_MS)
    expect(await prune(scene, { finishedMs: AGE_MS })).toEqual(NONE)
    for (const id of [dead.id, claim.job.id, repaired.id, waiting.id]) {
      expect(await store.get(id)).toBeDefined()
    }
    // Once it has been given up, a dead job counts from then.
    await scene.change((tx) => store.discard(tx, dead.id))
    expect(await prune(scene, { finishedMs: AGE_MS })).toEqual(NONE)
    clock.advance(AGE_MS + 1)
    expect(await prune(scene, { finishedMs: AGE_MS })).toEqual({ ...NONE, jobs: 1 })
    expect(await scene.change((tx) => store.repair(tx, dead.id))).toBeUndefined()
  })

  holds('prune: at most `limit` of each, oldest first', async (scene) => {
    const { store, clock } = scene
    for (let n = 0; n < 5; n++) await scene.submit({ operationId: `op-${n}` })
    // They end in the opposite order of their ids.
    const claims = (await scene.claim()).reverse()
    const jobs = claims.map((one) => one.job.id)
    for (const claim of claims) {
      await store.recordStep(claim, 'a', { state: 'settled', result: 1 })
      await store.recordStep(claim, 'b', { state: 'settled', result: 2 })
      await store.publish(claim, SUCCEEDED)
      clock.advance(10)
    }
    clock.advance(AGE_MS)
    const all = { finishedMs: AGE_MS, operationsMs: AGE_MS, stepsMs: AGE_MS, limit: 2 }
    expect(await store.prune(all)).toEqual({ jobs: 2, operations: 2, steps: 2 })
    expect((await store.list({ limit: 10 })).map((one) => one.id)).toEqual(jobs.slice(2))
    expect(await store.steps(jobs[0]!)).toEqual([])
    expect(await store.steps(jobs[1]!)).toHaveLength(2)
    expect(await store.prune(all)).toEqual({ jobs: 2, operations: 2, steps: 2 })
    expect(await store.prune(all)).toEqual({ jobs: 1, operations: 1, steps: 2 })
    expect(await store.prune(all)).toEqual({ jobs: 0, operations: 0, steps: 2 })
    expect(await store.prune(all)).toEqual({ ...NONE, steps: 2 })
    expect(await store.prune(all)).toEqual(NONE)
  })

  holds(
    'prune: operation ids of jobs that are gone, by their own age; a repeat is then new',
    async (scene) => {
      const { store, clock } = scene
      const first = await scene.ended(SUCCEEDED, { operationId: 'op-1', payload: 1 })
      const repeat = () => store.accept([scene.submission({ operationId: 'op-1', payload: 1 })])
      clock.advance(AGE_MS)
      expect(await prune(scene, { finishedMs: 0, operationsMs: AGE_MS })).toEqual({ ...NONE, jobs: 1 })
      expect((await repeat())[0]).toMatchObject({ isRepeat: true, job: { id: first.id } })
      clock.advance(1)
      expect(await prune(scene, { operationsMs: AGE_MS })).toEqual({ ...NONE, operations: 1 })
      expect((await repeat())[0]!.isRepeat).toBe(false)
      expect(await scene.size()).toBe(1)
    },
  )

  // Else a submission repeated after a long outage would run beside the first one, which is still there.
  holds('prune: an operation id stays as long as its job, however old it is', async (scene) => {
    const { store, clock } = scene
    const waiting = await scene.submit({ operationId: 'op-1', payload: 1 })
    const dead = await scene.ended(
      { state: 'dead', reason: 'http_404' },
      { operationId: 'op-2', priority: -1 },
    )
    clock.advance(LONG_MS)
    expect(await prune(scene, { finishedMs: 0, operationsMs: 0 })).toEqual(NONE)
    for (const [operationId, { id, payload }] of [
      ['op-1', waiting],
      ['op-2', dead],
    ] as const) {
      const [again] = await store.accept([scene.submission({ operationId, payload })])
      expect(again).toMatchObject({ isRepeat: true, job: { id } })
    }
  })

  holds('prune: an operation id that is over goes with its job, in the same call', async (scene) => {
    const { store, clock } = scene
    const first = await scene.ended(SUCCEEDED, { operationId: 'op-1' })
    clock.advance(1)
    expect(await prune(scene, { finishedMs: 0, operationsMs: 0 })).toEqual({
      ...NONE,
      jobs: 1,
      operations: 1,
    })
    const [again] = await store.accept([scene.submission({ operationId: 'op-1', payload: first.payload })])
    expect(again!.isRepeat).toBe(false)
  })

  holds(
    'prune: the repeat of a job that is gone is answered as the job in the state it ended in',
    async (scene) => {
      const { store, clock } = scene
      const ended = await scene.ended({ state: 'degraded', reason: 'http_503' }, { operationId: 'op-1' })
      clock.advance(AGE_MS + 1)
      expect(await prune(scene, { finishedMs: AGE_MS })).toEqual({ ...NONE, jobs: 1 })
      const submission = scene.submission({ operationId: 'op-1' })
      for (const submit of [
        () => store.transaction((tx) => store.submit(tx, submission)),
        async () => (await store.accept([submission]))[0]!,
      ]) {
        const answer = await submit()
        const { kind, tenant, payload, state } = ended
        expect(answer).toMatchObject({ isRepeat: true, job: { id: ended.id, kind, tenant, payload, state } })
      }
      expect(await store.get(ended.id)).toBeUndefined()
      expect(await store.get(submission.id)).toBeUndefined()
      expect(await scene.claim()).toEqual([])
      const other = scene.submission({ operationId: 'op-1', payload: 'another' })
      await expect(store.accept([other])).rejects.toMatchObject({ code: 'OPERATION_CONFLICT' })
    },
  )

  holds('prune: steps of jobs that are gone, by their own age; others stay', async (scene) => {
    const { store, clock } = scene
    const kept = await scene.claimed()
    await store.recordStep(kept, 'title', { state: 'settled', result: 1 })
    await store.publish(kept, { state: 'dead', reason: 'http_404' })
    const gone = await scene.claimed()
    await store.recordStep(gone, 'title', { state: 'settled', result: 2 })
    await store.publish(gone, SUCCEEDED)
    clock.advance(AGE_MS)
    expect(await prune(scene, { finishedMs: AGE_MS - 1, stepsMs: AGE_MS })).toEqual({ ...NONE, jobs: 1 })
    expect(await store.steps(gone.job.id)).toMatchObject([{ name: 'title', result: 2 }])
    clock.advance(1)
    expect(await prune(scene, { stepsMs: AGE_MS })).toEqual({ ...NONE, steps: 1 })
    expect(await store.steps(gone.job.id)).toEqual([])
    expect(await store.steps(kept.job.id)).toHaveLength(1)
  })

  holds('prune: does not give back what was used', async (scene) => {
    const { store, clock } = scene
    const claim = await scene.claimed()
    const use = { allowance: 'vision', limit: 1, per: 'day' } as const
    await store.openStep(claim, { name: 'estimate', use })
    await store.recordStep(claim, 'estimate', { state: 'settled', result: 1 })
    await store.publish(claim, SUCCEEDED)
    clock.advance(1)
    expect(await prune(scene, { finishedMs: 0, stepsMs: 0 })).toEqual({ ...NONE, jobs: 1, steps: 1 })
    expect(await store.allowance({ tenant: 'alice', ...use })).toMatchObject({ used: 1 })
  })

  holds('prune: a late word of an attempt whose job is gone brings nothing back', async (scene) => {
    const { store, clock } = scene
    const claim = await scene.claimed()
    await store.publish(claim, SUCCEEDED)
    clock.advance(1)
    await prune(scene, { finishedMs: 0 })
    expect(await store.recordStep(claim, 'title', { state: 'settled', result: 'late' })).toBe('lost')
    expect(['superseded', 'already-published']).toContain(await store.publish(claim, SUCCEEDED))
    expect(await store.steps(claim.job.id)).toEqual([])
    expect(await scene.size()).toBe(0)
  })

  holds(
    'prune: makes no room and takes none',
    async (scene) => {
      const { clock } = scene
      await scene.ended(SUCCEEDED)
      await scene.submit()
      clock.advance(1)
      await prune(scene, { finishedMs: 0 })
      await expect(scene.submit()).rejects.toMatchObject({ code: 'QUEUE_FULL', pending: 1 })
    },
    { perTenant: 1 },
  )

  holds('prune: two at once remove each job once', async (scene) => {
    const { store, second, clock } = scene
    await scene.submitMany(60)
    const claims = await scene.claim()
    await Promise.all(claims.map((one) => store.publish(one, SUCCEEDED)))
    clock.advance(1)
    const retention = { finishedMs: 0, operationsMs: 0, stepsMs: 0, limit: 50 }
    const pruned = await Promise.all([store.prune(retention), second.prune(retention)])
    expect(pruned[0]!.jobs + pruned[1]!.jobs).toBeGreaterThanOrEqual(50)
    const left = await store.prune(retention)
    expect(pruned[0]!.jobs + pruned[1]!.jobs + left.jobs).toBe(60)
    expect(await scene.size()).toBe(0)
  })
}
