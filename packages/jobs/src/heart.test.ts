import { describe, expect, test } from 'vitest'
import { inMemory, interrupted, LEASE_MS } from '../testing/workplace.ts'
import { Heart } from './heart.ts'
import type { JobStore } from './store.ts'

const THIRD = LEASE_MS / 3

describe('heartbeats', () => {
  test('keep the lease of an attempt that takes many leases’ time', async () => {
    const place = inMemory()
    const step = await (await submitted(place)).step()
    await place.pass(5 * LEASE_MS)
    expect(await place.takenByAnother()).toBeUndefined()
    place.tries[0]!.answer({})
    expect(await step.done).toEqual(['published'])
    expect(await place.outcomes()).toEqual(['succeeded'])
  })

  test('are one call for all attempts under way, every third of a lease, and none when there is nothing', async () => {
    const place = inMemory()
    const asked: number[] = []
    const store = {
      ...place.store,
      heartbeat: async (claims: Parameters<typeof place.store.heartbeat>[0], leaseMs: number) => {
        asked.push(claims.length)
        return place.store.heartbeat(claims, leaseMs)
      },
    }
    for (let n = 0; n < 3; n++) await place.submit()
    const step = await place.worker({ store }).step()
    await place.pass(2 * THIRD)
    expect(asked).toEqual([3, 3])
    for (const one of place.tries) one.answer({})
    await step.done
    await place.pass(10 * LEASE_MS)
    expect(asked).toEqual([3, 3])
  })

  test('that fail twice in a row cost nothing', async () => {
    const place = inMemory()
    const heartbeat = interrupted(place.store.heartbeat, ['fail', 'fail'])
    const step = await (await submitted(place, { heartbeat: heartbeat.call })).step()
    await place.pass(2 * THIRD)
    expect(heartbeat.calls()).toBe(2)
    expect(place.tries[0]!.signal.aborted).toBe(false)
    place.tries[0]!.answer({})
    expect(await step.done).toEqual(['published'])
  })
})

describe('a lease that is lost', () => {
  test('by a refused heartbeat aborts the attempt, and its late result is dropped and counted once', async () => {
    const place = inMemory()
    const heartbeat = interrupted(place.store.heartbeat, ['hang'])
    const step = await (await submitted(place, { heartbeat: heartbeat.call })).step()
    place.clock.advance(LEASE_MS) // asleep for a whole lease, as a stopped process is
    const second = await place.takenByAnother()
    expect(second.epoch).toBe(2)
    place.tries[0]!.answer({ result: 'late' })
    await place.settle()
    expect(await step.done).toEqual(['stale'])
    expect(await place.total('stale_publications')).toBe(1)
    expect(await place.job()).toMatchObject({ state: 'running', epoch: 2, result: null })
  })

  test('aborts a handler that is still at it; the job is its successor’s', async () => {
    const place = inMemory()
    const step = await (await submitted(place)).step()
    // Somebody else ended it meanwhile: the heartbeat is refused, long before the lease is over.
    const claim = { job: await place.job(), epoch: 1, claimedAtMs: 0 }
    await place.store.publish(claim, { state: 'succeeded', result: 'theirs' })
    await place.pass(THIRD)
    expect(place.tries[0]!.signal.aborted).toBe(true)
    await step.done
    expect(await place.job()).toMatchObject({ state: 'succeeded', result: 'theirs' })
    expect(await place.outcomes()).toEqual(['succeeded'])
  })

  test('because its job is gone ends the attempt quietly: superseded, no retry, no fault', async () => {
    const place = inMemory()
    const worker = place.worker()
    await place.submit({ subject: 'link', subjectVersion: 1 })
    const step = await worker.step()
    await place.store.transaction((tx) => place.store.forget(tx, 'link'))
    await place.pass(THIRD)
    expect(place.tries[0]!.signal.aborted).toBe(true)
    expect(await step.done).toEqual(['superseded'])
    expect([place.faults, await place.total('retries'), await place.total('stale_publications')]).toEqual([
      [],
      0,
      0,
    ])
  })

  test.each(['fail', 'hang'] as const)(
    'by its own end, with a store that is away (%s), aborts the attempt before anyone else may have the job',
    async (way) => {
      const place = inMemory()
      const heartbeat = interrupted(place.store.heartbeat, [way, way, way])
      const publish = interrupted(place.store.publish, ['fail', 'fail'])
      const worker = await submitted(place, { heartbeat: heartbeat.call, publish: publish.call })
      const step = await worker.step()
      await place.pass(LEASE_MS - 1)
      expect(place.tries[0]!.signal.aborted).toBe(false)
      await place.pass(1)
      expect(place.tries[0]!.signal.aborted).toBe(true)
      expect(await step.done).toEqual(['stale'])
      expect([publish.calls(), place.faults]).toEqual([1, []])
    },
  )

  test('takes only its own attempt with it', async () => {
    const place = inMemory()
    await place.submit({ subject: 'a', subjectVersion: 1 })
    await place.submit({ subject: 'b', subjectVersion: 1 })
    await place.worker().step()
    await place.store.transaction((tx) => place.store.forget(tx, 'a'))
    await place.pass(LEASE_MS)
    expect(place.tries.map((one) => one.signal.aborted)).toEqual([true, false])
    expect(await place.job('job-0002')).toMatchObject({ state: 'running', epoch: 1 })
  })
})

test('a claim that begins in the very moment another ends does not turn the pauses between heartbeats into none', async () => {
  const place = inMemory()
  let beats = 0
  const store = {
    heartbeat: async (claims: unknown[]) => {
      // Twenty are proof enough; going on would keep the event loop from ever turning.
      if (++beats > 20) return new Promise(() => {})
      return claims.map(() => 'extended' as const)
    },
  } as unknown as JobStore<unknown>
  const heart = new Heart({ store, clock: place.clock, leaseMs: LEASE_MS })
  const claim = { job: await place.submit(), epoch: 1, claimedAtMs: place.clock.nowMs() }
  heart.hold(claim, 0, () => {})()
  const release = heart.hold(claim, 0, () => {})
  await place.settle()
  expect(beats).toBeLessThanOrEqual(1)
  await place.pass(LEASE_MS)
  expect(beats).toBeLessThanOrEqual(4)
  release()
})

type Place = ReturnType<typeof inMemory>

async function submitted(place: Place, store: Partial<Place['store']> = {}) {
  await place.submit()
  return place.worker({ store: { ...place.store, ...store } })
}
