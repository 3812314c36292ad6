import { describe, expect, test } from 'vitest'
import { away, inMemory, interrupted, LEASE_MS } from '../testing/workplace.ts'
import { AllowanceExhausted, NotBilled, Retry } from './errors.ts'
import type { Json } from './job.ts'
import type { AttemptContext, Outcome } from './kind.ts'
import type { MemoryTransaction } from './memory/store.ts'
import type { PaidStep } from './once.ts'

type Handle = (attempt: AttemptContext) => Promise<Outcome<MemoryTransaction>>
type Place = ReturnType<typeof inMemory>

/** A worker whose handler is `handle`, with one job submitted. */
async function working(place: Place, handle: Handle, store: Partial<Place['store']> = {}) {
  await place.submit()
  return place.worker({ kinds: [place.kind({ handle })], store: { ...place.store, ...store } })
}

const use = { allowance: 'vision', limit: 2, per: 'day' } as const
const used = (place: Place) => place.store.allowance({ tenant: 'alice', allowance: 'vision', per: 'day' })

/** A provider that counts its bills. */
class Provider {
  bills = 0
  resumed: string[] = []
  step(part: Partial<PaidStep<Json>> = {}): PaidStep<Json> {
    return {
      use,
      ifUnknown: 'degrade',
      call: async () => {
        this.bills++
        return `answer ${this.bills}`
      },
      ...part,
    }
  }
}

test('the seam allowance.reserve: a use that was set aside, though the store said no, is counted once', async () => {
  const place = inMemory()
  const provider = new Provider()
  await place.submit()
  const handle: Handle = async (attempt) => ({ result: await attempt.oncePaid('estimate', provider.step()) })
  let times = 0
  const worker = place.worker({
    kinds: [place.kind({ handle })],
    around: async (point, effect) => {
      const value = await effect()
      if (point === 'allowance.reserve' && ++times === 1) throw away()
      return value
    },
  })
  await worker.step()
  await place.pass(1_000)
  expect([times, provider.bills, (await used(place)).used]).toEqual([2, 1, 1])
})

describe('once', () => {
  test('is done once over all tries, and a later try gets the stored result', async () => {
    const place = inMemory()
    let works = 0
    const seen: Json[] = []
    const worker = await working(place, async (attempt) => {
      seen.push(await attempt.once('resize', async () => ++works))
      if (attempt.job.attempt < 3) throw new Retry('later')
      return { result: seen.length }
    })
    for (const end of ['retried', 'retried', 'published']) {
      expect(await worker.drain()).toEqual([end])
      place.clock.advance(60_000)
    }
    expect([works, seen]).toEqual([1, [1, 1, 1]])
  })

  test('that fails stores nothing and is done again', async () => {
    const place = inMemory()
    let works = 0
    const worker = await working(place, async (attempt) => {
      await attempt.once('resize', async () => {
        if (++works === 1) throw new Retry('disk')
        return null
      })
      return {}
    })
    expect(await worker.drain()).toEqual(['retried'])
    place.clock.advance(60_000)
    expect(await worker.drain()).toEqual(['published'])
    expect(works).toBe(2)
  })

  test('does not lose its result while the store is away for a moment', async () => {
    const place = inMemory()
    let works = 0
    const recordStep = interrupted(place.store.recordStep, ['fail', 'land-then-fail'])
    const worker = await working(
      place,
      async (attempt) => ({ result: await attempt.once('resize', async () => ++works) }),
      { recordStep: recordStep.call },
    )
    const step = await worker.step()
    await place.pass(1_000)
    expect(await step.done).toEqual(['published'])
    expect([works, recordStep.calls()]).toEqual([1, 3])
  })

  test('of a stalled worker is refused once its successor has claimed: counted, and nothing of it stored', async () => {
    const place = inMemory()
    const gate = Promise.withResolvers<void>()
    const heartbeat = async () => {
      throw away()
    }
    const worker = await working(
      place,
      async (attempt) => {
        await attempt.once('resize', async () => {
          await gate.promise
          return 'late'
        })
        return {}
      },
      { heartbeat },
    )
    const step = await worker.step()
    await place.settle()
    place.clock.advance(LEASE_MS)
    await place.takenByAnother()
    gate.resolve()
    await place.settle()
    expect(await step.done).toEqual(['stale'])
    expect(await place.store.steps('job-0001')).toEqual([])
    // Its end and its part: two words under the old epoch.
    expect(await place.total('stale_publications')).toBe(2)
  })
})

describe('oncePaid (J7)', () => {
  test('is counted before the call and settled before it is returned; a redo pays nothing', async () => {
    const place = inMemory()
    const provider = new Provider()
    const during: unknown[] = []
    const step = provider.step({
      call: async () => {
        during.push((await place.store.steps('job-0001'))[0]!.state, (await used(place)).reserved)
        return ++provider.bills
      },
    })
    const worker = await working(place, async (attempt) => {
      await attempt.oncePaid('estimate', step)
      if (attempt.job.attempt === 1) throw new Retry('the save failed')
      return {}
    })
    expect(await worker.drain()).toEqual(['retried'])
    place.clock.advance(60_000)
    expect(await worker.drain()).toEqual(['published'])
    expect(during).toEqual(['reserved', 1])
    expect(provider.bills).toBe(1)
    expect(await used(place)).toMatchObject({ used: 1, reserved: 0, unknown: 0 })
  })

  test('a repair starts a new generation with the paid result it has', async () => {
    const place = inMemory()
    const provider = new Provider()
    const worker = await working(place, async (attempt) => {
      const answer = await attempt.oncePaid('estimate', provider.step())
      if (attempt.job.generation === 1) throw new TypeError('a bug')
      return { result: answer }
    })
    for (const _ of [1, 2, 3]) {
      await worker.drain()
      place.clock.advance(60_000)
    }
    expect(await place.job()).toMatchObject({ state: 'dead' })
    await place.store.transaction((tx) => place.store.repair(tx, 'job-0001'))
    expect(await worker.drain()).toEqual(['published'])
    expect([provider.bills, (await place.job()).result]).toEqual([1, 'answer 1'])
  })

  test('a failure that is not billed gives the use back, and the next try calls again', async () => {
    const place = inMemory()
    const provider = new Provider()
    const worker = await working(place, async (attempt) => {
      await attempt.oncePaid(
        'estimate',
        provider.step({
          call: async () => {
            if (attempt.job.attempt === 1) throw new NotBilled('http_503', new Retry('http_503'))
            return ++provider.bills
          },
        }),
      )
      return {}
    })
    expect(await worker.drain()).toEqual(['retried'])
    expect(await used(place)).toMatchObject({ used: 0, reserved: 0, unknown: 0 })
    expect((await place.job()).lastError).toBe('http_503')
    place.clock.advance(60_000)
    expect(await worker.drain()).toEqual(['published'])
    expect(await used(place)).toMatchObject({ used: 1, reserved: 0, unknown: 0 })
  })

  test.each([
    ['degrade', 'dead', 1],
    ['retry', 'published', 2],
  ] as const)(
    'cut in the middle of the call, the bill is unknown: with `%s` the job ends %s',
    async (ifUnknown, end, bills) => {
      const place = inMemory()
      const provider = new Provider()
      const call = async () => {
        provider.bills++
        if (provider.bills === 1) throw new Retry('connection_cut')
        return 'an answer'
      }
      const worker = await working(place, async (attempt) => {
        await attempt.oncePaid('estimate', provider.step({ call, ifUnknown }))
        return {}
      })
      expect(await worker.drain()).toEqual(['retried'])
      expect(await used(place)).toMatchObject({ used: 0, reserved: 1, unknown: 0 })
      place.clock.advance(60_000)
      expect(await worker.drain()).toEqual([end])
      expect(provider.bills).toBe(bills)
      expect(await used(place)).toMatchObject({ used: bills - 1, reserved: 0, unknown: 1 })
    },
  )

  test('cut after the provider said its id, the next try resumes by it instead of paying again', async () => {
    const place = inMemory()
    const provider = new Provider()
    const worker = await working(place, async (attempt) => {
      const answer = await attempt.oncePaid(
        'estimate',
        provider.step({
          call: async (paid) => {
            provider.bills++
            await paid.submitted('resp_1')
            throw new Retry('connection_cut')
          },
          resume: async (providerId) => {
            provider.resumed.push(providerId)
            return 'the answer'
          },
        }),
      )
      return { result: answer }
    })
    expect(await worker.drain()).toEqual(['retried'])
    place.clock.advance(60_000)
    expect(await worker.drain()).toEqual(['published'])
    expect([provider.bills, provider.resumed, (await place.job()).result]).toEqual([
      1,
      ['resp_1'],
      'the answer',
    ])
    expect(await used(place)).toMatchObject({ used: 1, reserved: 0, unknown: 0 })
  })

  test('at the limit nobody is called: a handler that can do without goes on, another is degraded', async () => {
    const place = inMemory()
    const provider = new Provider()
    const ends: string[] = []
    const worker = await working(place, async (attempt) => {
      try {
        await attempt.oncePaid('estimate', provider.step({ use: { ...use, limit: 1 } }))
      } catch (error) {
        if (attempt.job.id !== 'job-0002' || !(error instanceof AllowanceExhausted)) throw error
        ends.push(`${error.allowance} is back at ${new Date(error.resetsAtMs).toISOString()}`)
      }
      return {}
    })
    await place.submit()
    await place.submit()
    expect((await worker.drain()).sort()).toEqual(['dead', 'published', 'published'])
    expect(provider.bills).toBe(1)
    expect(ends).toEqual(['vision is back at 2026-01-02T00:00:00.000Z'])
    expect((await place.job('job-0003')).lastError).toBe('allowance_exhausted')
  })
})
