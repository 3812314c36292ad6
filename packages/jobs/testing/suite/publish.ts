import { expect } from 'vitest'
import type { Ending } from '../../src/store.ts'
import type { Contract } from './contract.ts'
import { SUCCEEDED } from './scene.ts'

export function publishTests<Tx>({ holds }: Contract<Tx>): void {
  holds('publish: the handler’s writes and the job’s end are there together', async (scene) => {
    const claim = await scene.claimed()
    scene.clock.advance(2_000)
    const nowMs = scene.clock.nowMs()
    expect(await scene.store.publish(claim, SUCCEEDED, scene.writing('title'))).toBe('published')
    expect(await scene.caller.rows()).toEqual(['title'])
    expect(await scene.store.get(claim.job.id)).toMatchObject({
      job: {
        state: 'succeeded',
        result: { title: 'A title' },
        leaseUntilMs: null,
        finishedAtMs: nowMs,
        lastError: null,
        epoch: 1,
        attempt: 1,
      },
      attempts: [{ epoch: 1, endedAtMs: nowMs, outcome: 'succeeded', error: null }],
    })
    expect(await scene.total('finished:succeeded')).toBe(1)
    expect(await scene.claim()).toEqual([])
  })

  holds('publish: without a result the result is null', async (scene) => {
    const job = await scene.ended({ state: 'succeeded' })
    expect(job.result).toBeNull()
  })

  holds(
    'publish: writes that throw are passed on, nothing is written and the claim stands',
    async (scene) => {
      const claim = await scene.claimed()
      const before = await scene.store.get(claim.job.id)
      const trouble = new Error('trouble')
      const failing = scene.store.publish(claim, SUCCEEDED, async (tx) => {
        await scene.caller.write(tx, 'half')
        throw trouble
      })
      await expect(failing).rejects.toBe(trouble)
      expect(await scene.caller.rows()).toEqual([])
      expect(await scene.store.get(claim.job.id)).toEqual(before)
      expect(await scene.total('stale_publications')).toBe(0)
      expect(await scene.store.publish(claim, SUCCEEDED, scene.writing('whole'))).toBe('published')
      expect(await scene.caller.rows()).toEqual(['whole'])
    },
  )

  for (const state of ['degraded', 'dead', 'cancelled'] as const) {
    holds(`publish: ${state} keeps the reason, the result and the handler’s writes`, async (scene) => {
      const claim = await scene.claimed()
      const ending: Ending = { state, reason: 'http_503', result: { seen: 3 } }
      expect(await scene.store.publish(claim, ending, scene.writing(state))).toBe('published')
      expect(await scene.store.get(claim.job.id)).toMatchObject({
        job: { state, lastError: 'http_503', result: { seen: 3 }, finishedAtMs: scene.clock.nowMs() },
        attempts: [{ outcome: state, error: 'http_503' }],
      })
      expect(await scene.caller.rows()).toEqual([state])
      expect(await scene.total(`finished:${state}`)).toBe(1)
    })
  }

  holds('publish: a retry waits until its time, keeps its try, and is counted', async (scene) => {
    const claim = await scene.claimed()
    const runAtMs = scene.clock.nowMs() + 45_000
    const ending: Ending = { state: 'ready', outcome: 'retried', runAtMs, reason: 'timeout' }
    expect(await scene.store.publish(claim, ending, scene.writing('one try'))).toBe('published')
    expect(await scene.store.get(claim.job.id)).toMatchObject({
      job: {
        state: 'ready',
        runAtMs,
        attempt: 1,
        epoch: 1,
        leaseUntilMs: null,
        lastError: 'timeout',
        finishedAtMs: null,
      },
      attempts: [{ outcome: 'retried', error: 'timeout', endedAtMs: scene.clock.nowMs() }],
    })
    expect(await scene.caller.rows()).toEqual(['one try'])
    expect(await scene.total('retries')).toBe(1)
    scene.clock.advance(44_999)
    expect(await scene.claim()).toEqual([])
    scene.clock.advance(1)
    expect(await scene.claim()).toMatchObject([{ epoch: 2, job: { attempt: 2, lastError: 'timeout' } }])
  })

  holds('publish: an uncounted retry waits, and its try does not count; its epoch does', async (scene) => {
    const claim = await scene.claimed()
    const runAtMs = scene.clock.nowMs() + 5_000
    const ending: Ending = {
      state: 'ready',
      outcome: 'retried',
      runAtMs,
      reason: 'offline',
      isUncounted: true,
    }
    expect(await scene.store.publish(claim, ending)).toBe('published')
    expect(await scene.store.publish(claim, ending)).toBe('already-published')
    scene.clock.advance(5_000)
    const [again] = await scene.claim()
    expect(again).toMatchObject({ epoch: 2, job: { attempt: 1, lastError: 'offline' } })
  })

  holds('publish: a released job is due at once and the try does not count', async (scene) => {
    const claim = await scene.claimed()
    expect(await scene.store.publish(claim, { state: 'ready', outcome: 'released' })).toBe('published')
    expect(await scene.store.get(claim.job.id)).toMatchObject({
      job: { state: 'ready', attempt: 0, epoch: 1, leaseUntilMs: null, rank: claim.job.rank },
      attempts: [{ outcome: 'released', error: null }],
    })
    expect(await scene.total('retries')).toBe(0)
    expect(await scene.claim()).toMatchObject([{ epoch: 2, job: { attempt: 1 } }])
  })

  const repeated: [string, Ending][] = [
    ['success', SUCCEEDED],
    ['degradation', { state: 'degraded', reason: 'http_503' }],
    ['death', { state: 'dead', reason: 'http_404' }],
    ['retry', { state: 'ready', outcome: 'retried', runAtMs: 0, reason: 'timeout' }],
    ['release', { state: 'ready', outcome: 'released' }],
  ]
  for (const [name, ending] of repeated) {
    holds(`publish: the repeat of a ${name} says already-published and writes nothing`, async (scene) => {
      const { store } = scene
      const claim = await scene.claimed()
      await store.publish(claim, ending, scene.writing('once'))
      const before = [await store.get(claim.job.id), await store.totals(), await store.counts()]
      expect(await store.publish(claim, ending, scene.forbidden())).toBe('already-published')
      // Whatever the repeat wants to say: this claim has spoken.
      expect(await store.publish(claim, { state: 'dead', reason: 'late' })).toBe('already-published')
      expect([await store.get(claim.job.id), await store.totals(), await store.counts()]).toEqual(before)
      expect(await scene.caller.rows()).toEqual(['once'])
    })
  }

  for (const outcome of ['retried', 'released'] as const) {
    holds(
      `publish: the repeat of a claim that was ${outcome} is recognised after the next claim too`,
      async (scene) => {
        const { store } = scene
        const claim = await scene.claimed()
        const ending: Ending =
          outcome === 'retried'
            ? { state: 'ready', outcome, runAtMs: 0, reason: 'timeout' }
            : { state: 'ready', outcome }
        await store.publish(claim, ending)
        const next = await scene.claimOne()
        expect(await store.publish(claim, ending, scene.forbidden())).toBe('already-published')
        expect(await scene.total('stale_publications')).toBe(0)
        expect(await store.publish(next, SUCCEEDED)).toBe('published')
        expect(await store.publish(claim, ending, scene.forbidden())).toBe('already-published')
      },
    )
  }

  holds('publish: the repeat is recognised after a repair too', async (scene) => {
    const { store } = scene
    const claim = await scene.claimed()
    await store.publish(claim, { state: 'dead', reason: 'http_404' })
    await scene.change((tx) => store.repair(tx, claim.job.id))
    expect(await store.publish(claim, SUCCEEDED, scene.forbidden())).toBe('already-published')
    expect((await scene.job(claim.job.id)).state).toBe('ready')
  })

  holds('publish: writes that find the subject moved on end the job as superseded', async (scene) => {
    const claim = await scene.claimed()
    expect(await scene.store.publish(claim, SUCCEEDED, async () => 'superseded')).toBe('superseded')
    expect(await scene.store.get(claim.job.id)).toMatchObject({
      job: { state: 'superseded', result: null, finishedAtMs: scene.clock.nowMs(), leaseUntilMs: null },
      attempts: [{ outcome: 'superseded' }],
    })
    expect(await scene.total('finished:superseded')).toBe(1)
    expect(await scene.store.publish(claim, SUCCEEDED, scene.forbidden())).toBe('superseded')
    expect(await scene.total('finished:superseded')).toBe(1)
    expect(await scene.claim()).toEqual([])
  })

  holds('publish: writes that find it may not be done any more end the job as cancelled', async (scene) => {
    const claim = await scene.claimed()
    expect(await scene.store.publish(claim, SUCCEEDED, async () => 'discarded')).toBe('discarded')
    expect(await scene.store.get(claim.job.id)).toMatchObject({
      job: { state: 'cancelled', result: null, leaseUntilMs: null },
      attempts: [{ outcome: 'cancelled' }],
    })
    expect(await scene.total('finished:cancelled')).toBe(1)
    expect(await scene.store.publish(claim, SUCCEEDED, scene.forbidden())).toBe('discarded')
    expect(await scene.total('finished:cancelled')).toBe(1)
  })

  for (const answer of ['superseded', 'discarded'] as const) {
    holds(`publish: what the writes find wins over a retry too (${answer})`, async (scene) => {
      const claim = await scene.claimed()
      const retry: Ending = { state: 'ready', outcome: 'retried', runAtMs: 0, reason: 'timeout' }
      expect(await scene.store.publish(claim, retry, async () => answer)).toBe(answer)
      expect(await scene.total('retries')).toBe(0)
      expect(await scene.claim()).toEqual([])
    })
  }

  holds(
    'publish: a job superseded while it ran says so, and the handler’s writes are not run',
    async (scene) => {
      const claim = await scene.claimed({ subject: 'bookmark-1', subjectVersion: 1 })
      await scene.change((tx) => scene.store.supersede(tx, { subject: 'bookmark-1', version: 2 }))
      expect(await scene.store.publish(claim, SUCCEEDED, scene.forbidden())).toBe('superseded')
      expect(await scene.total('stale_publications')).toBe(0)
    },
  )

  holds('publish: a job gone with its subject is superseded, and nothing comes back', async (scene) => {
    const claim = await scene.claimed({ subject: 'bookmark-1' })
    await scene.change((tx) => scene.store.forget(tx, 'bookmark-1'))
    expect(await scene.store.publish(claim, SUCCEEDED, scene.forbidden())).toBe('superseded')
    expect(await scene.store.publish(claim, { state: 'ready', outcome: 'released' })).toBe('superseded')
    expect(await scene.store.get(claim.job.id)).toBeUndefined()
    expect(await scene.size()).toBe(0)
  })

  holds('publish: the handler may submit the next job in its writes', async (scene) => {
    const { store } = scene
    const claim = await scene.claimed()
    const next = scene.submission({ operationId: 'follow-up' })
    await store.publish(claim, SUCCEEDED, async (tx) => {
      await store.submit(tx, next)
      return undefined
    })
    expect((await scene.claim()).map((one) => one.job.id)).toEqual([next.id])
  })
}
