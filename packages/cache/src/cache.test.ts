import { describe, expect, test } from 'vitest'
import { expectSumsToHold, FRESH_MS, LOAD_MS, MAX_AGE_MS, Place, WAIT_MS } from '../testing/place.ts'

describe('a copy in this process', () => {
  test('is loaded once, then served until it is no longer fresh', async () => {
    const place = new Place()
    const cache = await place.alone()
    const first = await place.filled(cache, 'the links', 3)
    expect(first.answer).toEqual({ body: 'the links', version: 3, ageMs: 0, result: 'origin' })
    await place.pass(FRESH_MS - 1)
    const second = place.read(cache)
    await place.settle()
    expect(second.answer).toEqual({ body: 'the links', version: 3, ageMs: FRESH_MS - 1, result: 'hit' })
    expect(place.loads).toHaveLength(1)
    expectSumsToHold(cache)
  })

  test('that is no longer fresh is served at once, and refreshed behind, once', async () => {
    const place = new Place()
    const cache = await place.alone()
    await place.filled(cache, 'old')
    await place.pass(FRESH_MS)
    const readers = [place.read(cache), place.read(cache), place.read(cache)]
    await place.settle()
    for (const { answer } of readers)
      expect(answer).toMatchObject({ body: 'old', result: 'stale', ageMs: FRESH_MS })
    expect(place.loads).toHaveLength(2)
    place.loads[1]!.answer('new')
    await place.settle()
    const after = place.read(cache)
    await place.settle()
    expect(after.answer).toMatchObject({ body: 'new', result: 'hit' })
  })

  test('is never served beyond its greatest age, also when its refresh fails', async () => {
    const place = new Place()
    const cache = await place.alone()
    await place.filled(cache, 'old')
    await place.pass(MAX_AGE_MS)
    const last = place.read(cache)
    await place.settle()
    expect(last.answer).toMatchObject({ result: 'stale', ageMs: MAX_AGE_MS })
    place.loads.at(-1)!.fail(new Error('down'))
    await place.pass(1)
    const beyond = place.read(cache)
    await place.settle()
    place.loads.at(-1)!.fail(new Error('still down'))
    await place.settle()
    expect(beyond.answer).toBeNull()
    expect(beyond.error).toMatchObject({ message: 'still down' })
  })

  test('ages by the time the origin was asked, not by when it answered', async () => {
    const place = new Place()
    const cache = await place.alone()
    const slow = place.read(cache, { waitMs: 1_000 })
    await place.settle()
    await place.pass(400)
    place.loads[0]!.answer('slow')
    await place.settle()
    expect(slow.answer).toMatchObject({ ageMs: 400 })
  })

  test('ages while the machine is suspended, though the monotonic clock stands still', async () => {
    const place = new Place()
    const cache = await place.alone()
    await place.filled(cache, 'old')
    place.clock.jump(MAX_AGE_MS + 1)
    const reader = place.read(cache)
    await place.settle()
    expect(reader.answer).toBeNull()
  })

  test('expires a little earlier than stated, by chance, so that not all do at once', async () => {
    const place = new Place()
    const cache = await place.alone()
    place.random = 0.999
    await place.filled(cache, 'short-lived')
    await place.pass(FRESH_MS * 0.91)
    const reader = place.read(cache)
    await place.settle()
    expect(reader.answer).toMatchObject({ result: 'stale' })
  })

  test('belongs to its scope, however scope and key are cut', async () => {
    const place = new Place()
    const cache = await place.alone()
    await place.filled(cache, 'of the group')
    const others = [place.read(cache, { scope: 'other' }), place.read(cache, { scope: 'grou' }, 'plist')]
    await place.settle()
    expect(place.loads).toHaveLength(3)
    expect(others.map((one) => one.answer)).toEqual([null, null])
  })

  test('takes its place among others within the bound in bytes', async () => {
    const place = new Place()
    const cache = await place.alone({ memoryMaxBytes: 5_000 })
    for (let n = 0; n < 20; n++) await place.filled(cache, 'x'.repeat(500), 0, `key-${n}`)
    const { memory } = cache.counters()
    expect(memory.bytes).toBeLessThanOrEqual(5_000)
    expect(memory.entries).toBeGreaterThan(2)
    const last = place.read(cache, {}, 'key-19')
    const first = place.read(cache, {}, 'key-0')
    await place.settle()
    expect(last.answer).toMatchObject({ result: 'hit' })
    expect(first.answer).toBeNull()
  })
})

describe('readers of one key', () => {
  test('share one load', async () => {
    const place = new Place()
    const cache = await place.alone()
    const readers = Array.from({ length: 200 }, () => place.read(cache))
    await place.settle()
    expect(place.loads).toHaveLength(1)
    expectSumsToHold(cache)
    expect(cache.counters().inFlight).toBe(200)
    place.loads[0]!.answer('the links')
    await place.settle()
    expect(readers.every((one) => one.answer?.body === 'the links')).toBe(true)
    expect(cache.counters()).toMatchObject({ origin: 1, coalesced: 199, inFlight: 0, loads: 1 })
    expectSumsToHold(cache)
  })

  test('all hear of a load that fails; it is not kept, and the next reader loads anew', async () => {
    const place = new Place()
    const cache = await place.alone()
    const readers = Array.from({ length: 3 }, () => place.read(cache))
    await place.settle()
    place.loads[0]!.fail(new Error('no such table'))
    await place.settle()
    expect(readers.map((one) => one.error?.message)).toEqual(Array(3).fill('no such table'))
    expect(cache.counters()).toMatchObject({ failed: 3, loadsFailed: 1, budget: { inFlight: 0 } })
    expectSumsToHold(cache)
    expect((await place.filled(cache, 'back')).answer).toMatchObject({ body: 'back', result: 'origin' })
  })

  test('a load that throws at once is a failure like any other', async () => {
    const place = new Place()
    const cache = await place.alone()
    const load = () => {
      throw new Error('thrown, not rejected')
    }
    const reader = place.read(cache, { load })
    await place.settle()
    expect(reader.error).toMatchObject({ message: 'thrown, not rejected' })
    expect(cache.counters().budget.inFlight).toBe(0)
  })

  test('one that goes away cancels nobody', async () => {
    const place = new Place()
    const cache = await place.alone()
    const away = new AbortController()
    const first = place.read(cache, { signal: away.signal })
    const second = place.read(cache)
    await place.settle()
    away.abort(new Error('gone'))
    await place.settle()
    expect(first.error).toMatchObject({ message: 'gone' })
    expect(place.loads[0]!.signal.aborted).toBe(false)
    place.loads[0]!.answer('the links')
    await place.settle()
    expect(second.answer).toMatchObject({ body: 'the links' })
    expect(cache.counters()).toMatchObject({ abandoned: 1 })
    expectSumsToHold(cache)
  })

  test('one that has gone away before it came asks for nothing', async () => {
    const place = new Place()
    const cache = await place.alone()
    const reader = place.read(cache, { signal: AbortSignal.abort(new Error('gone')) })
    await place.settle()
    expect(reader.error).toMatchObject({ message: 'gone' })
    expect(place.loads).toHaveLength(0)
    expect(cache.counters()).toMatchObject({ abandoned: 1, inFlight: 0, budget: { inFlight: 0 } })
  })

  test('a load that nobody waits for any more goes on, and is kept', async () => {
    const place = new Place()
    const cache = await place.alone()
    const reader = place.read(cache)
    await place.settle()
    await place.pass(WAIT_MS)
    expect(reader.error).toMatchObject({ code: 'LOAD_LATE', retryAfterMs: WAIT_MS })
    place.loads[0]!.answer('late, but here')
    await place.settle()
    const next = place.read(cache)
    await place.settle()
    expect(next.answer).toMatchObject({ body: 'late, but here', result: 'hit', ageMs: WAIT_MS })
  })

  test('a load ends by its own deadline, and its place in the budget is free again', async () => {
    const place = new Place()
    const cache = await place.alone()
    place.read(cache)
    await place.settle()
    await place.pass(LOAD_MS - 1)
    expect(place.loads[0]!.signal.aborted).toBe(false)
    await place.pass(1)
    expect(place.loads[0]!.signal.reason).toMatchObject({ code: 'LOAD_TIMED_OUT' })
    expect(cache.counters()).toMatchObject({ loadsFailed: 1, budget: { inFlight: 0 } })
  })

  test('a load that ignores its signal loses its place half a second later', async () => {
    const place = new Place()
    const cache = await place.alone()
    const reader = place.read(cache, { load: () => new Promise(() => {}), waitMs: 10_000 })
    await place.settle()
    await place.pass(LOAD_MS)
    expect(reader.error).toMatchObject({ code: 'LOAD_TIMED_OUT' })
    expect(cache.counters().budget.inFlight).toBe(1)
    await place.pass(500)
    expect(cache.counters().budget.inFlight).toBe(0)
  })

  test('a load may not outlast what the ledger counts with', async () => {
    const place = new Place()
    const budget = await place.budget({ loadMaxMs: 1_000 })
    expect(() => place.cache(budget, { loadMs: 501 })).toThrow(RangeError)
    expect(() => place.cache(budget, { loadMs: 500, maxAgeMs: FRESH_MS - 1 })).toThrow(RangeError)
  })

  test('more of them than may wait at once are turned away without a wait', async () => {
    const place = new Place()
    const cache = await place.alone({ readersMax: 5 })
    const readers = Array.from({ length: 7 }, () => place.read(cache))
    await place.settle()
    expect(readers.filter((one) => one.error?.code === 'BUDGET_SPENT')).toHaveLength(2)
    expect(cache.counters()).toMatchObject({ inFlight: 5, refused: 2 })
    expectSumsToHold(cache)
  })

  test('a version that is none is a bug of the load', async () => {
    const place = new Place()
    const cache = await place.alone()
    expect((await place.filled(cache, 'x', 1.5)).error).toBeInstanceOf(RangeError)
  })
})
