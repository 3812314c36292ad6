import { expect } from 'vitest'
import { OperationConflict, QueueFull } from '../../src/errors.ts'
import { RANK_UNIT } from '../../src/rank.ts'
import type { Contract } from './contract.ts'
import { idsOf, rolledBack, type Scene, SUCCEEDED } from './scene.ts'

/** `submitMany`, and `accept`, which is the same in a transaction of the store's own. */
export function manyTests<Tx>({ holds }: Contract<Tx>): void {
  for (const way of ['submitMany', 'accept'] as const) {
    const call = (scene: Scene<Tx>, submissions: ReturnType<Scene<Tx>['submission']>[]) =>
      way === 'accept'
        ? scene.store.accept(submissions)
        : scene.change((tx) => scene.store.submitMany(tx, submissions))

    holds(`${way}: answers in order, with what submitting one by one would have answered`, async (scene) => {
      const nowMs = scene.clock.nowMs()
      const submissions = [
        scene.submission({ tenant: 'bob', subject: 'bookmark-1', subjectVersion: 2, key: 'example.org' }),
        scene.submission({ tenant: 'alice', payload: [1, 'two', null] }),
        scene.submission({ tenant: 'bob', kind: 'photo', runAtMs: nowMs + 5_000 }),
        scene.submission({ tenant: 'alice', priority: -3, deadlineMs: 1_000 }),
      ]
      const answers = await call(scene, submissions)
      expect(answers.map((one) => one.isRepeat)).toEqual([false, false, false, false])
      expect(answers.map((one) => one.job)).toMatchObject([
        { id: submissions[0]!.id, tenant: 'bob', rank: RANK_UNIT, subject: 'bookmark-1', key: 'example.org' },
        { id: submissions[1]!.id, tenant: 'alice', rank: RANK_UNIT, payload: [1, 'two', null], priority: 0 },
        { id: submissions[2]!.id, kind: 'photo', rank: 2 * RANK_UNIT, runAtMs: nowMs + 5_000 },
        { id: submissions[3]!.id, priority: -3, deadlineAtMs: nowMs + 1_000, submittedAtMs: nowMs },
      ])
      for (const { job } of answers) expect(await scene.store.get(job.id)).toEqual({ job, attempts: [] })
      expect(idsOf(await scene.claim())).toEqual([3, 0, 1].map((n) => submissions[n]!.id))
    })

    holds(`${way}: nothing is an answer to nothing`, async (scene) => {
      expect(await call(scene, [])).toEqual([])
      expect(await scene.size()).toBe(0)
    })

    holds(`${way}: 3,000 at once, each a place behind the other`, async (scene) => {
      const answers = await call(
        scene,
        Array.from({ length: 3_000 }, (_, n) => scene.submission({ payload: n, operationId: `op-${n}` })),
      )
      expect(answers).toHaveLength(3_000)
      expect(answers[2_999]!.job).toMatchObject({ rank: 3_000 * RANK_UNIT, payload: 2_999 })
      const counts = [{ kind: 'title', state: 'ready', count: 3_000, oldestDueMs: 0 }]
      expect(await scene.store.counts()).toEqual(counts)
    })

    holds(`${way}: the same operation twice in one call is a repeat`, async (scene) => {
      const [first, other, again] = [
        scene.submission({ operationId: 'op-1' }),
        scene.submission(),
        scene.submission({ operationId: 'op-1' }),
      ]
      const answers = await call(scene, [first, other, again])
      expect(answers.map((one) => one.isRepeat)).toEqual([false, false, true])
      expect(answers[2]!.job).toEqual(answers[0]!.job)
      expect(await scene.store.get(again.id)).toBeUndefined()
      expect(await scene.size()).toBe(2)
      // The repeat has taken no place in the order.
      expect((await scene.submit()).rank).toBe(3 * RANK_UNIT)
    })

    holds(`${way}: with another payload it is a conflict, and all of the call is refused`, async (scene) => {
      const [first, other, again] = [
        scene.submission({ operationId: 'op-1', payload: 1 }),
        scene.submission(),
        scene.submission({ operationId: 'op-1', payload: 2 }),
      ]
      await expect(call(scene, [first, other, again])).rejects.toMatchObject({
        code: 'OPERATION_CONFLICT',
        operationId: 'op-1',
      })
      expect(await scene.size()).toBe(0)
      // The operation was not used up, nor a rank.
      expect(await scene.submit({ operationId: 'op-1', payload: 3 })).toMatchObject({ rank: RANK_UNIT })
    })

    holds(`${way}: repeats of earlier submissions among new ones`, async (scene) => {
      const known = await scene.ended(SUCCEEDED, { operationId: 'op-1' })
      const fresh = scene.submission({ operationId: 'op-2' })
      const answers = await call(scene, [fresh, scene.submission({ operationId: 'op-1' })])
      expect(answers.map((one) => one.isRepeat)).toEqual([false, true])
      expect(answers[1]!.job).toEqual(known)
    })

    holds(
      `${way}: one too many for the tenant, and none is accepted`,
      async (scene) => {
        const five = Array.from({ length: 5 }, () => scene.submission())
        const full = await call(scene, five).catch((error) => error)
        expect(full).toBeInstanceOf(QueueFull)
        expect(full).toMatchObject({ scope: 'tenant', limit: 4, pending: 4, retryAfterMs: 7_000 })
        expect(await scene.size()).toBe(0)
        expect(await call(scene, five.slice(1))).toHaveLength(4)
      },
      { perTenant: 4 },
    )

    holds(
      `${way}: one too many in total, and none is accepted`,
      async (scene) => {
        const ofThree = ['alice', 'bob', 'carol'].map((tenant) => scene.submission({ tenant }))
        await expect(call(scene, ofThree)).rejects.toMatchObject({ scope: 'total', limit: 2 })
        expect(await scene.size()).toBe(0)
        expect(await call(scene, ofThree.slice(1))).toHaveLength(2)
      },
      { total: 2 },
    )

    holds(
      `${way}: repeats take no room`,
      async (scene) => {
        await scene.submit({ operationId: 'op-1' })
        const answers = await call(scene, [
          scene.submission({ operationId: 'op-1' }),
          scene.submission({ operationId: 'op-2' }),
          scene.submission({ operationId: 'op-2' }),
          scene.submission({ operationId: 'op-1' }),
        ])
        expect(answers.map((one) => one.isRepeat)).toEqual([true, false, true, true])
        await expect(call(scene, [scene.submission()])).rejects.toBeInstanceOf(QueueFull)
      },
      { perTenant: 2 },
    )

    for (const first of ['conflict', 'full'] as const) {
      holds(
        `${way}: the error is that of the first that is refused (${first})`,
        async (scene) => {
          await scene.submit({ operationId: 'op-1', payload: 1 })
          const conflict = scene.submission({ operationId: 'op-1', payload: 2 })
          const [fits, full] = [scene.submission(), scene.submission()]
          const refused = call(scene, first === 'full' ? [fits, full, conflict] : [fits, conflict, full])
          await expect(refused).rejects.toBeInstanceOf(first === 'full' ? QueueFull : OperationConflict)
          expect(await scene.size()).toBe(1)
        },
        { perTenant: 2 },
      )
    }
  }

  holds(
    'submitMany: a caller who catches its refusal can go on with nothing of it left',
    async (scene) => {
      const { store, caller } = scene
      await store.transaction(async (tx) => {
        const four = Array.from({ length: 4 }, () => scene.submission({ subject: 'too many' }))
        await expect(store.submitMany(tx, four)).rejects.toBeInstanceOf(QueueFull)
        await caller.write(tx, 'went on')
        await store.submitMany(tx, [scene.submission(), scene.submission(), scene.submission()])
      })
      expect(await caller.rows()).toEqual(['went on'])
      expect(await scene.size()).toBe(3)
    },
    { perTenant: 3 },
  )

  holds('submitMany: the jobs are there exactly if the caller’s transaction commits', async (scene) => {
    const { store } = scene
    await rolledBack(store, (tx) => store.submitMany(tx, [scene.submission(), scene.submission()]))
    expect(await scene.size()).toBe(0)
    expect(await scene.claim()).toEqual([])
    expect((await scene.submit()).rank).toBe(RANK_UNIT)
  })

  holds('accept: what it answered is there for everybody', async (scene) => {
    const [answer] = await scene.store.accept([scene.submission()])
    expect(await scene.second.get(answer!.job.id)).toEqual({ job: answer!.job, attempts: [] })
    expect(idsOf(await scene.claim({}, scene.second))).toEqual([answer!.job.id])
  })

  holds(
    'accept: of calls that arrive together a refused one takes nothing of the others with it',
    async (scene) => {
      const { store } = scene
      await scene.submit({ operationId: 'taken', payload: 1, tenant: 'carol' })
      const calls = [
        [scene.submission({ tenant: 'alice' }), scene.submission({ tenant: 'alice' })],
        [scene.submission({ tenant: 'carol' }), scene.submission({ tenant: 'carol', operationId: 'taken' })],
        [scene.submission({ tenant: 'bob' })],
        [scene.submission({ tenant: 'bob' }), scene.submission({ tenant: 'alice' })],
        [scene.submission({ tenant: 'carol', operationId: 'taken', payload: 1 })],
        [scene.submission({ tenant: 'bob' })],
      ]
      const answers = await Promise.allSettled(calls.map((one) => store.accept(one)))
      const outcomes = answers.map((one) => (one.status === 'fulfilled' ? 'accepted' : one.reason.code))
      expect(outcomes).toEqual([
        'accepted',
        'OPERATION_CONFLICT',
        'accepted',
        'QUEUE_FULL', // alice has two already, and bob's job of the same call goes with hers
        'accepted',
        'accepted',
      ])
      const stored = await store.list({ limit: 100 })
      const expected = [calls[0]![0], calls[0]![1], calls[2]![0], calls[5]![0]].map((one) => one!.id)
      expect(stored.map((one) => one.id).sort()).toEqual([...expected, stored.at(-1)!.id].sort())
      // What was refused has moved nobody back in the order.
      const ofBob = stored.filter((one) => one.tenant === 'bob').map((one) => one.rank)
      expect(ofBob.sort((a, b) => a - b)).toEqual([RANK_UNIT, 2 * RANK_UNIT])
    },
    { perTenant: 2 },
  )

  holds('accept: of the same operation in calls that arrive together one is first', async (scene) => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => {
        const store = n % 2 === 0 ? scene.store : scene.second
        return store.accept([scene.submission({ operationId: 'op-1' }), scene.submission()])
      }),
    )
    expect(answers.filter(([one]) => !one!.isRepeat)).toHaveLength(1)
    expect(new Set(answers.map(([one]) => one!.job.id)).size).toBe(1)
    expect(await scene.size()).toBe(21)
  })

  holds(
    'accept: racing calls are accepted up to the bound and not beyond, each whole or not at all',
    async (scene) => {
      const answers = await Promise.allSettled(
        Array.from({ length: 30 }, (_, n) => {
          const store = n % 2 === 0 ? scene.store : scene.second
          return store.accept([scene.submission(), scene.submission(), scene.submission()])
        }),
      )
      const accepted = answers.filter((one) => one.status === 'fulfilled')
      const refused = answers.filter((one) => one.status === 'rejected')
      expect(refused.every((one) => one.reason instanceof QueueFull)).toBe(true)
      expect(accepted).toHaveLength(5)
      expect(await scene.size()).toBe(15)
    },
    { perTenant: 17 },
  )

  holds('accept: together with transactions of other callers', async (scene) => {
    const { store, caller } = scene
    await Promise.all([
      store.accept([scene.submission()]),
      store.transaction((tx) => caller.write(tx, 'a row')),
      store.accept([scene.submission()]),
      scene.submit(),
    ])
    expect(await caller.rows()).toEqual(['a row'])
    expect(await scene.size()).toBe(3)
  })
}
