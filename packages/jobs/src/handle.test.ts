import { describe, expect, test } from 'vitest'
import { inMemory } from '../testing/workplace.ts'
import { Permanent, Retry } from './errors.ts'
import type { Json } from './job.ts'
import type { AttemptContext, JobKind, KindRules, Outcome } from './kind.ts'
import type { MemoryTransaction } from './memory/store.ts'

type Answers = (Outcome<MemoryTransaction> | Error)[]
type Place = ReturnType<typeof inMemory>

function batchKind(
  place: Place,
  handleBatch: (attempts: AttemptContext[]) => Promise<Answers>,
  part: Partial<Pick<KindRules<MemoryTransaction, Json>, 'isAllowed'>> = {},
): JobKind<MemoryTransaction> {
  const { handle, ...rules } = place.kind()
  return { ...rules, batchMax: 3, handleBatch, ...part }
}

async function submitted(place: Place, count: number) {
  for (let n = 0; n < count; n++) await place.submit()
}

describe('a batch handler', () => {
  test('gets what was claimed together, at most batchMax at a time', async () => {
    const place = inMemory()
    const sizes: number[] = []
    const kind = batchKind(place, async (attempts) => {
      sizes.push(attempts.length)
      return attempts.map(({ payload }) => ({ result: payload }))
    })
    await submitted(place, 7)
    const worker = place.worker({ kinds: [kind], slots: 10 })
    expect(await worker.drain()).toEqual(new Array(7).fill('published'))
    expect(sizes.sort()).toEqual([1, 3, 3])
    expect((await place.job('job-0005')).result).toEqual({ n: 5 })
  })

  test('says for each attempt by itself how it went', async () => {
    const place = inMemory()
    const kind = batchKind(place, async (attempts) =>
      attempts.map(({ job }) => {
        if (job.id === 'job-0001') return new Retry('http_503')
        if (job.id === 'job-0002') return new Permanent('gone')
        return {}
      }),
    )
    await submitted(place, 3)
    const ends = await place.worker({ kinds: [kind] }).drain()
    expect(ends.sort()).toEqual(['dead', 'published', 'retried'])
    expect((await place.job('job-0002')).lastError).toBe('gone')
  })

  test('that throws, or answers too few, has failed for all it did not answer for', async () => {
    const place = inMemory()
    let calls = 0
    const kind = batchKind(place, async () => {
      if (++calls === 1) throw new Retry('down')
      return [{}]
    })
    await submitted(place, 2)
    const worker = place.worker({ kinds: [kind] })
    expect(await worker.drain()).toEqual(['retried', 'retried'])
    place.clock.advance(60_000)
    expect((await worker.drain()).sort()).toEqual(['published', 'retried'])
    expect(place.faults).toEqual([expect.any(TypeError)])
  })

  test('is not given one whose time was up while it waited for another', async () => {
    const place = inMemory()
    const slow = Promise.withResolvers<boolean>()
    const seen: string[][] = []
    const kind = batchKind(
      place,
      async (attempts) => {
        seen.push(attempts.map(({ job }) => job.id))
        return attempts.map(() => ({}))
      },
      { isAllowed: async (_query, job) => job.id !== 'job-0002' || slow.promise },
    )
    await submitted(place, 2)
    const { done } = await place.worker({ kinds: [{ ...kind, attemptMs: 10_000 }] }).step()
    await place.settle()
    place.clock.advance(10_000)
    await place.settle()
    expect((await place.job('job-0001')).lastError).toBe('attempt_timeout')
    slow.resolve(true)
    expect((await done).sort()).toEqual(['published', 'retried'])
    expect(seen).toEqual([['job-0002']])
  })

  test('does not wait for one that may not be done any more', async () => {
    const place = inMemory()
    const seen: string[][] = []
    const kind = batchKind(
      place,
      async (attempts) => {
        seen.push(attempts.map(({ job }) => job.id))
        return attempts.map(() => ({}))
      },
      { isAllowed: async (_query, job) => job.id !== 'job-0002' },
    )
    await submitted(place, 3)
    const ends = await place.worker({ kinds: [kind] }).drain()
    expect(ends.sort()).toEqual(['discarded', 'published', 'published'])
    expect(seen.flat().sort()).toEqual(['job-0001', 'job-0003'])
  })

  test('is not called when none of its attempts may be done', async () => {
    const place = inMemory()
    let calls = 0
    const handleBatch = async () => {
      calls++
      return []
    }
    const kind = batchKind(place, handleBatch, { isAllowed: async () => false })
    await submitted(place, 2)
    expect(await place.worker({ kinds: [kind] }).drain()).toEqual(['discarded', 'discarded'])
    expect(calls).toBe(0)
  })
})
