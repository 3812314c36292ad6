import { expect } from 'vitest'
import { OperationConflict } from '../../src/errors.ts'
import { RANK_UNIT } from '../../src/rank.ts'
import type { Contract } from './contract.ts'
import { rolledBack, SUCCEEDED } from './scene.ts'

export function submitTests<Tx>({ holds }: Contract<Tx>): void {
  holds('a transaction answers what its work answers, and passes its rejection on', async ({ store }) => {
    expect(await store.transaction(async () => 'an answer')).toBe('an answer')
    const trouble = new Error('trouble')
    await expect(store.transaction(() => Promise.reject(trouble))).rejects.toBe(trouble)
  })

  holds('submit: a job starts ready, at epoch 0, due now, with its deadline', async (scene) => {
    const nowMs = scene.clock.nowMs()
    const submission = scene.submission({
      deadlineMs: 60_000,
      subject: 'bookmark-1',
      subjectVersion: 3,
      key: 'example.org',
    })
    const { job, isRepeat } = await scene.store.transaction((tx) => scene.store.submit(tx, submission))
    expect(isRepeat).toBe(false)
    expect(job).toEqual({
      id: submission.id,
      kind: 'title',
      tenant: 'alice',
      payload: { url: 'https://example.org/' },
      subject: 'bookmark-1',
      subjectVersion: 3,
      key: 'example.org',
      state: 'ready',
      priority: 0,
      rank: RANK_UNIT,
      runAtMs: nowMs,
      attempt: 0,
      epoch: 0,
      generation: 1,
      leaseUntilMs: null,
      submittedAtMs: nowMs,
      deadlineAtMs: nowMs + 60_000,
      finishedAtMs: null,
      lastError: null,
      result: null,
      progress: null,
    })
    expect(await scene.store.get(submission.id)).toEqual({ job, attempts: [] })
  })

  holds('submit: the job is there exactly if the caller’s transaction commits', async (scene) => {
    const { store, caller } = scene
    const kept = scene.submission()
    await store.transaction(async (tx) => {
      await caller.write(tx, 'kept')
      await store.submit(tx, kept)
    })
    const lost = scene.submission()
    await rolledBack(store, async (tx) => {
      await store.submit(tx, lost)
      await caller.write(tx, 'lost')
    })
    expect(await caller.rows()).toEqual(['kept'])
    expect(await store.get(kept.id)).toBeDefined()
    expect(await store.get(lost.id)).toBeUndefined()
    expect((await scene.claim()).map((one) => one.job.id)).toEqual([kept.id])
  })

  holds(
    'submit: a job rolled back takes up no room and no rank',
    async (scene) => {
      await rolledBack(scene.store, (tx) => scene.store.submit(tx, scene.submission()))
      const job = await scene.submit()
      expect(job.rank).toBe(RANK_UNIT)
    },
    { perTenant: 1, total: 1 },
  )

  holds('submit: the payload comes back as it was given', async (scene) => {
    const payload = { text: 'ü €𝄞 "\\ \u0000', list: [1, -0.5, null, true], nested: { empty: {}, none: [] } }
    const { id } = await scene.submit({ payload })
    expect((await scene.job(id)).payload).toEqual(payload)
    expect((await scene.claimOne()).job.payload).toEqual(payload)
  })

  holds('submit: a repeat of an operation answers the first job and adds nothing', async (scene) => {
    const { store } = scene
    const first = await scene.submit({ operationId: 'op-1' })
    const again = scene.submission({ operationId: 'op-1' })
    expect(await store.transaction((tx) => store.submit(tx, again))).toEqual({ job: first, isRepeat: true })
    expect(await store.get(again.id)).toBeUndefined()
    expect(await scene.size()).toBe(1)
    // Nor has it moved the tenant back in the queue.
    expect((await scene.submit()).rank).toBe(first.rank + RANK_UNIT)
  })

  holds('submit: a repeat in the same transaction is a repeat too', async (scene) => {
    const { store } = scene
    const answers = await store.transaction(async (tx) => [
      await store.submit(tx, scene.submission({ operationId: 'op-1' })),
      await store.submit(tx, scene.submission({ operationId: 'op-1' })),
    ])
    expect(answers.map((one) => one.isRepeat)).toEqual([false, true])
    expect(answers[1]!.job).toEqual(answers[0]!.job)
  })

  holds('submit: the order of a payload’s fields makes no other payload', async (scene) => {
    const { store } = scene
    await scene.submit({ operationId: 'op-1', payload: { a: 1, b: { c: 2, d: 3 } } })
    const again = scene.submission({ operationId: 'op-1', payload: { b: { d: 3, c: 2 }, a: 1 } })
    expect((await store.transaction((tx) => store.submit(tx, again))).isRepeat).toBe(true)
  })

  holds('submit: a repeat after the job has ended answers the ended job', async (scene) => {
    const { store } = scene
    const ended = await scene.ended(SUCCEEDED, { operationId: 'op-1' })
    const again = scene.submission({ operationId: 'op-1' })
    expect(await store.transaction((tx) => store.submit(tx, again))).toEqual({ job: ended, isRepeat: true })
    expect(await scene.claim()).toEqual([])
  })

  holds('submit: the same operation with another payload is a conflict and adds nothing', async (scene) => {
    const { store } = scene
    await scene.submit({ operationId: 'op-1' })
    const other = scene.submission({ operationId: 'op-1', payload: { url: 'https://example.com/' } })
    const conflict = await store.transaction((tx) => store.submit(tx, other)).catch((error) => error)
    expect(conflict).toBeInstanceOf(OperationConflict)
    expect(conflict).toMatchObject({ code: 'OPERATION_CONFLICT', operationId: 'op-1' })
    expect(await scene.size()).toBe(1)
  })

  holds('submit: a caller who catches the conflict can go on with nothing of it left', async (scene) => {
    const { store, caller } = scene
    await scene.submit({ operationId: 'op-1' })
    await store.transaction(async (tx) => {
      const other = scene.submission({ operationId: 'op-1', payload: null })
      await expect(store.submit(tx, other)).rejects.toBeInstanceOf(OperationConflict)
      await caller.write(tx, 'went on')
    })
    expect(await caller.rows()).toEqual(['went on'])
    expect(await scene.size()).toBe(1)
  })

  holds('submit: operation ids are the tenant’s own', async (scene) => {
    await scene.submit({ tenant: 'alice', operationId: 'op-1', payload: 1 })
    await scene.submit({ tenant: 'bob', operationId: 'op-1', payload: 2 })
    expect(await scene.size()).toBe(2)
  })

  holds('submit: jobs without an operation id never repeat each other', async (scene) => {
    await scene.submit()
    await scene.submit()
    expect(await scene.size()).toBe(2)
  })

  holds('submit: an operation that was rolled back can be used again, with any payload', async (scene) => {
    await rolledBack(scene.store, (tx) =>
      scene.store.submit(tx, scene.submission({ operationId: 'op-1', payload: 1 })),
    )
    const job = await scene.submit({ operationId: 'op-1', payload: 2 })
    expect(job.payload).toBe(2)
  })
}
