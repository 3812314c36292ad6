import { expect } from 'vitest'
import type { Contract } from './contract.ts'
import { LEASE_MS, SUCCEEDED } from './scene.ts'

export function leaseTests<Tx>({ holds }: Contract<Tx>): void {
  holds('leases: a job whose lease has run out is due again, with a higher epoch', async (scene) => {
    const { job } = await scene.claimed()
    scene.clock.advance(LEASE_MS - 1)
    expect(await scene.claim()).toEqual([])
    scene.clock.advance(1)
    const [again] = await scene.claim({ worker: 'worker-2' })
    expect(again).toMatchObject({
      epoch: 2,
      job: { id: job.id, state: 'running', epoch: 2, attempt: 2, generation: 1, lastError: 'lease_expired' },
    })
    expect(again!.job.leaseUntilMs).toBe(scene.clock.nowMs() + LEASE_MS)
  })

  holds('leases: the attempt that ran out is recorded as lease_expired', async (scene) => {
    const { job } = await scene.claimed()
    const startedAtMs = scene.clock.nowMs()
    scene.clock.advance(LEASE_MS + 500)
    await scene.claim({ worker: 'worker-2' })
    expect(await scene.attempts(job.id)).toMatchObject([
      {
        epoch: 1,
        attempt: 1,
        worker: 'worker-1',
        startedAtMs,
        endedAtMs: startedAtMs + LEASE_MS + 500,
        outcome: 'lease_expired',
      },
      { epoch: 2, attempt: 2, worker: 'worker-2', endedAtMs: null, outcome: null },
    ])
  })

  holds('leases: a worker that takes other kinds does not lose the job either', async (scene) => {
    const { job } = await scene.claimed()
    scene.clock.advance(LEASE_MS)
    expect(await scene.claim({ kinds: [{ kind: 'photo' }] })).toEqual([])
    expect((await scene.claim()).map((one) => one.job.id)).toEqual([job.id])
  })

  holds('heartbeat: extends the lease to `leaseMs` from now', async (scene) => {
    const claim = await scene.claimed()
    scene.clock.advance(LEASE_MS - 1)
    expect(await scene.store.heartbeat([claim], LEASE_MS)).toEqual(['extended'])
    expect((await scene.job(claim.job.id)).leaseUntilMs).toBe(scene.clock.nowMs() + LEASE_MS)
    scene.clock.advance(LEASE_MS - 1)
    expect(await scene.claim()).toEqual([])
    expect(await scene.store.publish(claim, SUCCEEDED)).toBe('published')
  })

  holds('heartbeat: refuses a lease that has run out, even if nobody has claimed', async (scene) => {
    const claim = await scene.claimed()
    scene.clock.advance(LEASE_MS)
    expect(await scene.store.heartbeat([claim], LEASE_MS)).toEqual(['lost'])
    expect(await scene.claim()).toHaveLength(1)
  })

  holds('heartbeat: answers in the order of its claims', async (scene) => {
    const { store } = scene
    const old = await scene.claimed()
    scene.clock.advance(LEASE_MS)
    const current = await scene.claimOne()
    const ended = await scene.claimed()
    await store.publish(ended, SUCCEEDED)
    const forgotten = await scene.claimed({ subject: 'gone' })
    const released = await scene.claimed()
    await store.publish(released, { state: 'ready', outcome: 'released' })
    await scene.change((tx) => store.forget(tx, 'gone'))
    const answers = await store.heartbeat([forgotten, current, old, ended, released], LEASE_MS)
    expect(answers).toEqual(['lost', 'extended', 'lost', 'lost', 'lost'])
  })

  holds('heartbeat: of no claims is no answer', async (scene) => {
    expect(await scene.store.heartbeat([], LEASE_MS)).toEqual([])
  })

  holds('heartbeat: refuses a job that was superseded meanwhile', async (scene) => {
    const claim = await scene.claimed({ subject: 'bookmark-1', subjectVersion: 1 })
    await scene.change((tx) => scene.store.supersede(tx, { subject: 'bookmark-1', version: 2 }))
    expect(await scene.store.heartbeat([claim], LEASE_MS)).toEqual(['lost'])
    expect((await scene.job(claim.job.id)).leaseUntilMs).toBeNull()
  })

  holds('leases: an expired lease is refused though nobody else has claimed, and counted', async (scene) => {
    const claim = await scene.claimed()
    scene.clock.advance(LEASE_MS)
    expect(await scene.store.publish(claim, SUCCEEDED, scene.forbidden())).toBe('stale-epoch')
    expect(await scene.total('stale_publications')).toBe(1)
    expect(await scene.job(claim.job.id)).toMatchObject({ state: 'running', result: null })
    expect((await scene.claim())[0]).toMatchObject({ epoch: 2 })
  })

  holds('leases: in its last millisecond it is still good', async (scene) => {
    const claim = await scene.claimed()
    scene.clock.advance(LEASE_MS - 1)
    expect(await scene.store.publish(claim, SUCCEEDED)).toBe('published')
  })

  holds(
    'leases: an older epoch is refused, whatever it wants to say, and counted each time',
    async (scene) => {
      const { store } = scene
      const old = await scene.claimed()
      scene.clock.advance(LEASE_MS)
      const current = await scene.claimOne()
      expect(await store.publish(old, SUCCEEDED, scene.forbidden())).toBe('stale-epoch')
      expect(await store.publish(old, { state: 'dead', reason: 'late' }, scene.forbidden())).toBe(
        'stale-epoch',
      )
      expect(await store.publish(old, { state: 'ready', outcome: 'released' })).toBe('stale-epoch')
      expect(await scene.total('stale_publications')).toBe(3)
      expect(await store.publish(current, SUCCEEDED, scene.writing('the successor'))).toBe('published')
      expect(await store.publish(old, SUCCEEDED, scene.forbidden())).toBe('stale-epoch')
      expect(await scene.total('stale_publications')).toBe(4)
      expect(await scene.caller.rows()).toEqual(['the successor'])
    },
  )

  holds(
    'leases: a lease that runs out while the handler writes is refused, counted, and its writes are undone',
    async (scene) => {
      const claim = await scene.claimed()
      const answer = await scene.store.publish(claim, SUCCEEDED, async (tx) => {
        await scene.caller.write(tx, 'too late')
        scene.clock.advance(LEASE_MS)
      })
      expect(answer).toBe('stale-epoch')
      expect(await scene.caller.rows()).toEqual([])
      expect(await scene.total('stale_publications')).toBe(1)
      expect(await scene.job(claim.job.id)).toMatchObject({ state: 'running', epoch: 1, result: null })
    },
  )

  holds('leases: epochs go up over expiry, release, retry and repair, and never down', async (scene) => {
    const { store, clock } = scene
    const { id } = await scene.submit()
    const epochs: number[] = []
    const claim = async () => {
      const one = await scene.claimOne()
      epochs.push(one.epoch)
      return one
    }
    await claim()
    clock.advance(LEASE_MS)
    await store.publish(await claim(), { state: 'ready', outcome: 'released' })
    await store.publish(await claim(), { state: 'ready', outcome: 'retried', runAtMs: 0, reason: 'timeout' })
    await store.publish(await claim(), { state: 'dead', reason: 'timeout' })
    await scene.change((tx) => store.repair(tx, id))
    await store.publish(await claim(), SUCCEEDED)
    await scene.change((tx) => store.repair(tx, id))
    await claim()
    expect(epochs).toEqual([1, 2, 3, 4, 5, 6])
    expect((await scene.attempts(id)).map((one) => [one.epoch, one.generation, one.attempt])).toEqual([
      [1, 1, 1],
      [2, 1, 2],
      [3, 1, 2], // the released try did not count
      [4, 1, 3],
      [5, 2, 1],
      [6, 3, 1],
    ])
  })
}
