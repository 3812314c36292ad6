import type { Queryable, Transaction } from '@garner/db'
import { describe, expect, test } from 'vitest'
import { away, inMemory, inSqlite, interrupted, LEASE_MS } from '../testing/workplace.ts'
import { Degrade, Permanent, Retry } from './errors.ts'
import type { MemoryTransaction } from './memory/store.ts'

const write = (text: string) => async (tx: Transaction) => {
  await tx.run('INSERT INTO notes VALUES (?)', text)
  return undefined
}

describe('retries belong to the worker alone', () => {
  test('a failed try waits for a random part of a backoff that doubles, up to its bound', async () => {
    const place = inMemory()
    const policy = { attemptsMax: 6, deadlineMs: 86_400_000, baseMs: 10_000, maxMs: 60_000 }
    await place.submit()
    const worker = place.worker({ kinds: [place.kind({ policy })] })
    const waits: number[] = []
    for (const random of [0.5, 0.25, 0.999, 0.5]) {
      place.random = random
      const step = await worker.step()
      place.tries.at(-1)!.fail(new Retry('http_503'))
      expect(await step.done).toEqual(['retried'])
      waits.push((await place.job()).runAtMs - place.clock.nowMs())
      expect((await worker.step()).claimed).toBe(0)
      place.clock.advance(60_000)
    }
    expect(waits).toEqual([5_000, 5_000, 39_960, 30_000])
  })

  test('what the other side asked for with Retry-After is waited for, if it is longer', async () => {
    const place = inMemory()
    await place.submit()
    await place.submit()
    const step = await place.worker().step()
    place.tries[0]!.fail(new Retry('http_429', { afterMs: 120_000 }))
    place.tries[1]!.fail(new Retry('http_429', { afterMs: 1_000 }))
    expect(await step.done).toEqual(['retried', 'retried'])
    expect((await place.job()).runAtMs - place.clock.nowMs()).toBe(120_000)
    expect((await place.job('job-0002')).runAtMs - place.clock.nowMs()).toBe(5_000)
  })

  test('used up, the job is degraded with its useful part saved, and each try can be seen', async () => {
    const { place, notes } = await inSqlite()
    await place.submit()
    const degrade = async (tx: Transaction, _job: unknown, reason: string) =>
      write(`without title: ${reason}`)(tx)
    const worker = place.worker({ kinds: [place.kind({ degrade })] })
    for (const _ of [1, 2, 3]) {
      const step = await worker.step()
      place.tries.at(-1)!.fail(new Retry('timeout'))
      await step.done
      place.clock.advance(60_000)
    }
    expect(place.ends).toEqual(['retried', 'retried', 'degraded'])
    expect(await place.outcomes()).toEqual(['retried', 'retried', 'degraded'])
    expect(await notes()).toEqual(['without title: timeout'])
    expect(await place.job()).toMatchObject({ state: 'degraded', attempt: 3, lastError: 'timeout' })
    expect((await worker.step()).claimed).toBe(0)
  })

  test.each([
    ['Degrade, with something to save', new Degrade('http_404'), true, 'degraded', 'http_404'],
    ['Degrade, with nothing to save', new Degrade('http_404'), false, 'dead', 'http_404'],
    ['Permanent', new Permanent('no such kind of page'), true, 'dead', 'no such kind of page'],
  ])('%s ends the job at the first try', async (_name, error, canDegrade, state, reason) => {
    const place = inMemory()
    await place.submit()
    const kind = place.kind(canDegrade ? { degrade: async () => undefined } : {})
    const step = await place.worker({ kinds: [kind] }).step()
    place.tries[0]!.fail(error)
    expect(await step.done).toEqual([state])
    expect(await place.job()).toMatchObject({ state, attempt: 1, lastError: reason })
  })

  test('a fault of ours is tried again too, and dead in the end, where it can be seen and repaired', async () => {
    const place = inMemory()
    await place.submit()
    const shown: string[] = []
    const kind = place.kind({
      degrade: async () => undefined,
      died: async (_tx, _job, reason) => {
        shown.push(reason)
        return undefined
      },
    })
    const worker = place.worker({ kinds: [kind] })
    for (const _ of [1, 2, 3]) {
      const step = await worker.step()
      place.tries.at(-1)!.fail(new TypeError('a bug'))
      await step.done
      place.clock.advance(60_000)
    }
    expect([place.ends, place.faults.length, shown]).toEqual([
      ['retried', 'retried', 'dead'],
      3,
      ['internal_error'],
    ])
    await place.store.transaction((tx) => place.store.repair(tx, 'job-0001'))
    expect(await place.job()).toMatchObject({ state: 'ready', generation: 2, attempt: 0, epoch: 3 })
  })

  test('a job that waited out its deadline before its first try gets that one, and no retry', async () => {
    const place = inMemory()
    await place.submit({ deadlineMs: 60_000 })
    place.clock.advance(3_600_000)
    const step = await place.worker().step()
    place.tries[0]!.fail(new Retry('timeout'))
    expect(await step.done).toEqual(['dead'])
  })

  test('the trouble of the store while handling is not the job’s: it is tried again however often it was', async () => {
    const place = inMemory()
    await place.submit()
    const worker = place.worker()
    for (let n = 0; n < 10; n++) {
      const step = await worker.step()
      place.tries.at(-1)!.fail(away())
      expect(await step.done).toEqual(['retried'])
      place.clock.advance(60_000)
    }
    expect(place.faults).toEqual([])
  })

  test('that a try has failed and when the next is due is shown in the same transaction', async () => {
    const { place, notes } = await inSqlite()
    await place.submit()
    const retried = async (tx: Transaction, _job: unknown, next: { reason: string; runAtMs: number }) =>
      write(`${next.reason}, again in ${next.runAtMs - place.clock.nowMs()} ms`)(tx)
    const step = await place.worker({ kinds: [place.kind({ retried })] }).step()
    place.tries[0]!.fail(new Retry('timeout'))
    await step.done
    expect(await notes()).toEqual(['timeout, again in 5000 ms'])
  })
})

describe('a handler that never returns', () => {
  test('is given up after attemptMs: its slot and key are free, its late result is thrown away', async () => {
    const place = inMemory()
    await place.submit()
    const signals: AbortSignal[] = []
    const late = Promise.withResolvers<object>()
    const kind = place.kind({
      attemptMs: 90_000,
      handle: ({ signal }) => {
        signals.push(signal)
        return late.promise
      },
    })
    const worker = place.worker({ kinds: [kind] })
    const step = await worker.step()
    await place.pass(89_999)
    expect(worker.active).toBe(1)
    await place.pass(1)
    expect(await step.done).toEqual(['retried'])
    expect([signals[0]!.aborted, worker.active]).toEqual([true, 0])
    expect(await place.job()).toMatchObject({ state: 'ready', lastError: 'attempt_timeout' })
    late.resolve({ result: 'late' })
    await place.settle()
    expect(await place.job()).toMatchObject({ state: 'ready', result: null })
  })
})

describe('publication', () => {
  test('is repeated while the store is away, and the handler is not run again', async () => {
    const { place, notes } = await inSqlite()
    await place.submit()
    const publish = interrupted(place.store.publish, ['fail', 'fail', 'fail'])
    const step = await place.worker({ store: { ...place.store, publish: publish.call } }).step()
    place.tries[0]!.answer({ write: write('once') } as never)
    await place.pass(3_000)
    expect(await step.done).toEqual(['published'])
    expect([publish.calls(), place.tries.length, await notes()]).toEqual([4, 1, ['once']])
    expect(place.faults).toEqual([])
  })

  test('whose answer was lost after it landed is recognised: one write, counted once', async () => {
    const { place, notes } = await inSqlite()
    await place.submit()
    const answers: string[] = []
    const publish = interrupted(place.store.publish, ['land-then-fail'])
    const recorded: typeof publish.call = async (...args) => {
      const answer = await publish.call(...args)
      answers.push(answer)
      return answer
    }
    const step = await place.worker({ store: { ...place.store, publish: recorded } }).step()
    place.tries[0]!.answer({ write: write('once') } as never)
    await place.pass(1_000)
    expect(await step.done).toEqual(['published'])
    expect([answers, await notes(), place.tries.length]).toEqual([['already-published'], ['once'], 1])
    expect(await place.total('finished:succeeded')).toBe(1)
    expect(await place.total('stale_publications')).toBe(0)
  })

  test.each([
    ['a retry', new Retry('timeout'), 'retried', 'retries'],
    ['a death', new Permanent('no'), 'dead', 'finished:dead'],
  ])('of %s is recognised as well when its answer was lost', async (_name, error, end, total) => {
    const place = inMemory()
    await place.submit()
    const publish = interrupted(place.store.publish, ['land-then-fail'])
    const step = await place.worker({ store: { ...place.store, publish: publish.call } }).step()
    place.tries[0]!.fail(error)
    await place.pass(1_000)
    expect(await step.done).toEqual([end])
    expect([await place.total(total), (await place.outcomes()).length]).toEqual([1, 1])
  })

  test('that the store takes until the lease is over is dropped; the successor does it', async () => {
    const place = inMemory()
    await place.submit()
    const lost = new Array(40).fill('fail')
    const publish = interrupted(place.store.publish, lost)
    const heartbeat = interrupted(place.store.heartbeat, lost)
    const store = { ...place.store, publish: publish.call, heartbeat: heartbeat.call }
    const step = await place.worker({ store }).step()
    place.tries[0]!.answer({})
    await place.pass(LEASE_MS + 5_000)
    expect(await step.done).toEqual(['stale'])
    expect(place.faults).toEqual([])
    expect(await place.takenByAnother()).toMatchObject({ epoch: 2 })
  })

  test('whose writes fail has spent the try; nothing of them is there', async () => {
    const { place, notes } = await inSqlite()
    await place.submit()
    const step = await place.worker().step()
    const failing = async (tx: Transaction) => {
      await write('half')(tx)
      await tx.run('INSERT INTO notes VALUES (NULL)')
    }
    place.tries[0]!.answer({ write: failing } as never)
    expect(await step.done).toEqual(['retried'])
    expect([await notes(), place.faults.length]).toEqual([[], 1])
    expect(await place.job()).toMatchObject({ attempt: 1, lastError: 'internal_error' })
  })

  test('of the useful part, if that fails too, is tried again, and leaves the job dead and repairable in the end', async () => {
    const { place, notes } = await inSqlite()
    await place.submit()
    const degrade = async (tx: Transaction) => {
      await write('half')(tx)
      throw new RangeError('a bug in saving')
    }
    const worker = place.worker({ kinds: [place.kind({ degrade })] })
    for (const _ of [1, 2, 3]) {
      const step = await worker.step()
      place.tries.at(-1)!.fail(new Degrade('http_404'))
      await step.done
      place.clock.advance(60_000)
    }
    expect(place.ends).toEqual(['retried', 'retried', 'dead'])
    expect([await notes(), place.faults]).toEqual([[], [1, 2, 3].map(() => expect.any(RangeError))])
    expect(await place.job()).toMatchObject({ state: 'dead', attempt: 3, lastError: 'internal_error' })
  })

  test('the seam before its commit stands in front of a result, and not of the word that a try has failed', async () => {
    const { place, notes } = await inSqlite()
    await place.submit()
    const around = async <T>(point: string, effect: () => T | Promise<T>) => {
      if (point === 'publish.before-commit') throw new RangeError('injected')
      return effect()
    }
    const worker = place.worker({ around })
    for (const _ of [1, 2, 3]) {
      const step = await worker.step()
      place.tries.at(-1)!.answer({ write: write('result') } as never)
      await step.done
      place.clock.advance(60_000)
    }
    expect(place.ends).toEqual(['retried', 'retried', 'dead'])
    expect(await notes()).toEqual([])
  })

  test('of a death whose showing fails is still a death', async () => {
    const { place, notes } = await inSqlite()
    await place.submit()
    const died = async (tx: Transaction) => {
      await write('half')(tx)
      throw new RangeError('a bug in showing')
    }
    const step = await place.worker({ kinds: [place.kind({ died })] }).step()
    place.tries[0]!.fail(new Permanent('no'))
    expect(await step.done).toEqual(['dead'])
    expect([await notes(), (await place.job()).state]).toEqual([[], 'dead'])
  })

  test('meets that its subject has moved on: superseded, with nothing written', async () => {
    const { place, notes } = await inSqlite()
    await place.submit()
    const step = await place.worker().step()
    place.tries[0]!.answer({ write: async () => 'superseded' } as never)
    expect(await step.done).toEqual(['superseded'])
    expect([(await place.job()).state, await notes()]).toEqual(['superseded', []])
  })
})

describe('J9: whether it may be done at all', () => {
  const asking = (answers: boolean[]) => {
    const asked: unknown[] = []
    return {
      asked,
      isAllowed: async (query: MemoryTransaction | Transaction | Queryable) => {
        asked.push(query)
        return answers.shift()!
      },
    }
  }

  test('is asked when the job is claimed: no, and the handler is not run', async () => {
    const place = inMemory()
    await place.submit()
    const { isAllowed } = asking([false])
    const step = await place.worker({ kinds: [place.kind({ isAllowed })] }).step()
    expect(await step.done).toEqual(['discarded'])
    expect(place.tries).toHaveLength(0)
    expect(await place.job()).toMatchObject({ state: 'cancelled', lastError: 'discarded' })
  })

  test.each([
    ['a result', (place: ReturnType<typeof inMemory>) => place.tries[0]!.answer({})],
    ['a retry', (place: ReturnType<typeof inMemory>) => place.tries[0]!.fail(new Retry('timeout'))],
    ['a degraded end', (place: ReturnType<typeof inMemory>) => place.tries[0]!.fail(new Degrade('http_404'))],
    ['a dead end', (place: ReturnType<typeof inMemory>) => place.tries[0]!.fail(new Permanent('no'))],
  ])(
    'is asked again inside the publication of %s, in its transaction: no, and nothing is written',
    async (_, end) => {
      const place = inMemory()
      await place.submit()
      const { isAllowed, asked } = asking([true, false])
      const written: string[] = []
      const note = async () => void written.push('written')
      const kind = place.kind({ isAllowed, degrade: note, retried: note, died: note })
      const step = await place.worker({ kinds: [kind] }).step()
      end(place)
      expect(await step.done).toEqual(['discarded'])
      expect([written, asked.length, asked[0] === asked[1]]).toEqual([[], 2, false])
      expect((await place.job()).state).toBe('cancelled')
    },
  )

  test('cannot be known while the store is away: the job waits', async () => {
    const place = inMemory()
    await place.submit()
    const isAllowed = async () => {
      throw away()
    }
    const publish = interrupted(place.store.publish, [])
    const kind = place.kind({ isAllowed })
    const step = await place
      .worker({ kinds: [kind], store: { ...place.store, publish: publish.call } })
      .step()
    await place.pass(LEASE_MS / 2)
    expect([place.tries.length, place.ends]).toEqual([0, []])
    expect((await place.job()).state).toBe('running')
    void step
  })
})

describe('a job that kills its worker', () => {
  test.each([true, false])('is not tried for ever: degraded %s', async (canDegrade) => {
    const place = inMemory()
    await place.submit()
    for (const _ of [1, 2, 3]) {
      expect(await place.takenByAnother()).toBeDefined() // and never heard of again
      place.clock.advance(LEASE_MS)
    }
    const kind = place.kind(canDegrade ? { degrade: async () => undefined } : {})
    const step = await place.worker({ kinds: [kind] }).step()
    expect(await step.done).toEqual([canDegrade ? 'degraded' : 'dead'])
    expect(place.tries).toHaveLength(0)
    expect(await place.job()).toMatchObject({ attempt: 4, epoch: 4, lastError: 'lease_expired' })
    expect(await place.outcomes()).toEqual([
      ...['lease_expired', 'lease_expired', 'lease_expired'],
      canDegrade ? 'degraded' : 'dead',
    ])
  })

  test('is still tried as often as any other before that', async () => {
    const place = inMemory()
    await place.submit()
    for (const _ of [1, 2]) {
      await place.takenByAnother()
      place.clock.advance(LEASE_MS)
    }
    const step = await place.worker().step()
    place.tries[0]!.answer({})
    expect(await step.done).toEqual(['published'])
  })
})

describe('a job whose deadline has passed', () => {
  test('gets its first try all the same: nothing that was accepted ends untried', async () => {
    const place = inMemory()
    await place.submit()
    place.clock.advance(7 * 86_400_000)
    const step = await place.worker().step()
    place.tries[0]!.answer({})
    expect(await step.done).toEqual(['published'])
  })

  test('gets no further one', async () => {
    const place = inMemory()
    await place.submit()
    await place.takenByAnother()
    place.clock.advance(7 * 86_400_000)
    const step = await place.worker().step()
    expect(await step.done).toEqual(['dead'])
    expect(place.tries).toEqual([])
  })
})
