import { describe, expect, test } from 'vitest'
import type { Cache } from '../src/cache.ts'
import { createMemoryLedger } from '../src/memory/ledger.ts'
import { expectSumsToHold, MAX_AGE_MS, Place, WAIT_MS } from './place.ts'

/** Ten instances without a shared cache, on one budget: each has a copy of one list, and all copies have expired. */
async function expiredEverywhere(rate: number): Promise<{ place: Place; caches: Cache<string>[] }> {
  const place = new Place()
  const ledger = createMemoryLedger({ clock: place.clock })
  const caches: Cache<string>[] = []
  for (let n = 0; n < 10; n++)
    caches.push(place.cache(await place.budget({ rate }, { ledger, budget: 'list-reads' })))
  await place.pass(5_000)
  for (const cache of caches) {
    await place.filled(cache, 'old')
    await place.pass(2_000)
  }
  await place.pass(MAX_AGE_MS + 1)
  return { place, caches }
}

/** Two hundred readers at once; the origin answers everything that it is asked. */
async function burst(place: Place, caches: Cache<string>[]) {
  const loadsBefore = place.loads.length
  const readers = caches.flatMap((cache) => Array.from({ length: 20 }, () => place.read(cache)))
  for (let ms = 0; ms <= WAIT_MS; ms += 5) {
    await place.pass(5)
    for (const load of place.loads.slice(loadsBefore)) load.answer('new')
  }
  await place.settle()
  for (const cache of caches) expectSumsToHold(cache)
  return { readers, loads: place.loads.length - loadsBefore }
}

describe('a hot key that has expired everywhere, without a shared cache', () => {
  test('is read once by each instance, and everybody is served', async () => {
    const { place, caches } = await expiredEverywhere(100)
    const { readers, loads } = await burst(place, caches)
    expect(loads).toBe(10)
    expect(readers.every(({ answer }) => answer?.body === 'new')).toBe(true)
  })

  test('is read no more often than the budget allows; whoever cannot be served in time is refused by then', async () => {
    const { place, caches } = await expiredEverywhere(4)
    const { readers, loads } = await burst(place, caches)
    expect(loads).toBeGreaterThan(0)
    expect(loads).toBeLessThanOrEqual(4)
    const served = readers.filter(({ answer }) => answer?.body === 'new')
    const refused = readers.filter(({ error }) => error?.code === 'BUDGET_SPENT')
    expect([served.length, served.length + refused.length]).toEqual([loads * 20, 200])
  })
})
