import { ManualClock } from '@garner/db'
import { describe, expect, test } from 'vitest'
import { faulty } from '../testing/faulty-entries.ts'
import { Place } from '../testing/place.ts'
import { Deadlines } from './deadlines.ts'
import { createMemoryEntries } from './memory/entries.ts'
import { SharedTier } from './shared-tier.ts'

const SHARED_MS = 75
const KEY = { scope: 'group' }

describe('when the shared cache', () => {
  test('fails, it is as if there were none', async () => {
    const place = new Place()
    const { entries, state } = faulty(place)
    state.way = 'fails'
    const [cache] = await place.fleet(1, { shared: entries })
    const first = await place.filled(cache!, 'from the origin')
    expect(first.answer).toMatchObject({ result: 'origin' })
    expect(cache!.counters().shared).toMatchObject({ calls: 1, failures: 1 })
  })

  test('hangs, a reader loses one short timeout to it, and then nobody does', async () => {
    const place = new Place()
    const { entries, state } = faulty(place)
    state.way = 'hangs'
    const [cache] = await place.fleet(1, { shared: entries, sharedMs: SHARED_MS })
    for (let n = 0; n < 5; n++) {
      const reader = place.read(cache!, {}, `key-${n}`)
      await place.settle()
      expect(place.loads).toHaveLength(n)
      await place.pass(SHARED_MS)
      expect(place.loads).toHaveLength(n + 1)
      place.loads[n]!.answer('in spite of it')
      await place.settle()
      expect(reader.answer).toMatchObject({ ageMs: 0 })
    }
    place.read(cache!, {}, 'another')
    await place.settle()
    expect(place.loads).toHaveLength(6)
    expect(state.calls).toBe(5)
    expect(cache!.counters().shared).toMatchObject({ failures: 5, skipped: 1 })
  })

  test('is back, it is used again', async () => {
    const place = new Place()
    const { entries, state } = faulty(place)
    state.way = 'fails'
    const [cache] = await place.fleet(1, { shared: entries })
    for (let n = 0; n < 5; n++) await place.filled(cache!, 'x', 0, `key-${n}`)
    state.way = 'works'
    await place.filled(cache!, 'y', 0, 'soon')
    expect(state.calls).toBe(5)
    await place.pass(1_000)
    await place.filled(cache!, 'z', 0, 'later')
    expect(state.calls).toBe(7)
    const other = await place.alone({ shared: place.entries })
    const reader = place.read(other, {}, 'later')
    await place.settle()
    expect(reader.answer).toMatchObject({ body: 'z', result: 'hit' })
  })

  test('did not hear of a forgotten key, it is told when it is back, and not believed until then', async () => {
    const place = new Place()
    const { entries, state } = faulty(place)
    const [cache] = await place.fleet(1, { shared: entries })
    await place.filled(cache!, 'secret')
    state.way = 'fails'
    expect(await cache!.forget('list', KEY)).toBe(false)
    expect(cache!.counters().shared).toMatchObject({ owed: 1 })
    state.way = 'works'
    const reader = place.read(cache!)
    await place.settle()
    place.loads[1]!.answer('nothing')
    await place.settle()
    expect(reader.answer).toMatchObject({ body: 'nothing' })
    expect(cache!.counters().shared).toMatchObject({ owed: 0 })
    const other = await place.alone({ shared: place.entries })
    const elsewhere = place.read(other)
    await place.settle()
    expect(elsewhere.answer).toBeNull()
  })

  test('tells no news, who waits for another’s fill looks again, at ease', async () => {
    const place = new Place()
    const { entries, state } = faulty(place)
    const deaf = { ...entries, listen: () => ({ isUp: false, close: async () => {} }) }
    const [first] = await place.fleet(1)
    const [second] = await place.fleet(1, { shared: deaf })
    place.read(first!)
    await place.settle()
    const waiting = place.read(second!)
    await place.settle()
    place.loads[0]!.answer('there')
    await place.pass(99)
    expect(waiting.answer).toBeNull()
    await place.pass(1)
    expect(waiting.answer).toMatchObject({ body: 'there', ageMs: 100 })
    expect(state.calls).toBe(2)
  })

  test('is down for a fleet that misses at once, each instance asks the origin once', async () => {
    const place = new Place()
    const { entries, state } = faulty(place)
    state.way = 'fails'
    const caches = await place.fleet(10, { shared: entries })
    const readers = caches.flatMap((cache) => Array.from({ length: 20 }, () => place.read(cache)))
    await place.settle()
    expect(place.loads).toHaveLength(10)
    for (const load of place.loads) load.answer('each for itself')
    await place.settle()
    expect(readers.every((one) => one.answer?.body === 'each for itself')).toBe(true)
  })
})

test('what is owed is said as it is owed by then: a forgetting that was added while the others were told', async () => {
  const clock = new ManualClock()
  const memory = createMemoryEntries({ clock })
  const told: string[] = []
  const firstIsTold = Promise.withResolvers<void>()
  let isDown = true
  const tell = (kind: string) => async (address: string) => {
    if (isDown) throw new Error('connection lost')
    told.push(`${kind} ${address}`)
    if (address === 'first') await firstIsTold.promise
  }
  const tier = new SharedTier({
    entries: { ...memory, invalidate: tell('invalidate'), forget: tell('forget') },
    ...{ clock, deadlines: new Deadlines(clock), timeoutMs: SHARED_MS, onNews: () => {} },
  })
  const request = { isForgotten: false, version: 2, keepMs: 1_000 }
  for (const address of ['first', 'second']) expect(await tier.invalidate(address, request)).toBe(false)

  isDown = false
  await tier.release('any', 'nobody')
  expect(told).toEqual(['invalidate first'])
  isDown = true
  expect(await tier.invalidate('second', { ...request, isForgotten: true, version: 1 })).toBe(false)
  isDown = false
  firstIsTold.resolve()
  for (let n = 0; n < 5; n++) await new Promise(setImmediate)
  expect(told).toEqual(['invalidate first', 'forget second'])
  expect(tier.counters().owed).toBe(0)
})
