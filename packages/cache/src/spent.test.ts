import { describe, expect, test } from 'vitest'
import { expectSumsToHold, FRESH_MS, Place, WAIT_MS } from '../testing/place.ts'

describe('when the budget is spent', () => {
  const spent = async (place: Place) => {
    const cache = await place.alone({}, { rate: 2, concurrency: 2 })
    await place.filled(cache, 'one', 0, 'a')
    await place.pass(300)
    await place.filled(cache, 'two', 0, 'b')
    return cache
  }

  test('a reader without a copy is refused at once if it cannot be served in time, and told when to come back', async () => {
    const place = new Place()
    const cache = await spent(place)
    const reader = place.read(cache)
    await place.settle()
    expect(reader.error).toMatchObject({ code: 'BUDGET_SPENT', reason: 'spent', retryAfterMs: 710 })
    expect(place.loads).toHaveLength(2)
    expect(cache.counters()).toMatchObject({ refused: 1, inFlight: 0 })
    expectSumsToHold(cache)
  })

  test('a reader who can be served in time waits, and is', async () => {
    const place = new Place()
    const cache = await spent(place)
    await place.pass(600)
    const reader = place.read(cache)
    await place.settle()
    expect(reader.error).toBeNull()
    await place.pass(109)
    expect(place.loads).toHaveLength(2)
    await place.pass(2)
    expect(place.loads).toHaveLength(3)
    place.loads[2]!.answer('in time')
    await place.settle()
    expect(reader.answer).toMatchObject({ body: 'in time' })
  })

  test('a stale copy is served, and its refresh is put off, longer each time', async () => {
    const place = new Place()
    const cache = await place.alone({}, { rate: 1, concurrency: 1 })
    await place.filled(cache, 'old')
    await place.pass(FRESH_MS)
    await place.filled(cache, 'takes the budget', 0, 'other')
    const enters: number[] = []
    for (let ms = 0; ms < 900; ms += 50) {
      const before = cache.counters().refreshesShed
      const reader = place.read(cache)
      await place.settle()
      expect(reader.answer).toMatchObject({ body: 'old', result: 'stale' })
      if (cache.counters().refreshesShed > before) enters.push(ms)
      await place.pass(50)
    }
    expect(enters).toEqual([0, 250, 750])
  })

  test('without a share nothing is loaded, whatever is asked', async () => {
    const place = new Place()
    const ledger = { ...place.ledger, lease: () => Promise.reject(new Error('away')) }
    const faults: unknown[] = []
    const budget = await place.budget({}, { ledger, onFault: (error) => faults.push(error) })
    const cache = place.cache(budget)
    const readers = [place.read(cache), place.read(cache, { minVersion: 4 }, 'b'), place.read(cache, {}, 'c')]
    await place.settle()
    await place.pass(WAIT_MS)
    expect(place.loads).toHaveLength(0)
    for (const { error } of readers) expect(error).toMatchObject({ code: 'BUDGET_SPENT', reason: 'no-share' })
    expect(faults.length).toBeGreaterThan(0)
  })
})
