import { describe, expect, test } from 'vitest'
import { away, inMemory, interrupted, LEASE_MS, POLL_MS } from '../testing/workplace.ts'
import { InvariantBroken, Retry } from './errors.ts'
import type { AttemptContext } from './kind.ts'

describe('one step, apart from the loop', () => {
  test('claims what is due, runs it, and says how it ended; it never sleeps', async () => {
    const place = inMemory()
    await place.submit()
    await place.submit()
    await place.submit({ runAtMs: place.clock.nowMs() + 5_000 })
    const step = await place.worker().step()
    expect([step.claimed, step.waitMs, place.tries.length]).toEqual([2, 0, 2])
    place.tries[0]!.answer({ result: 'a' })
    place.tries[1]!.fail(new Retry('http_503'))
    expect(await step.done).toEqual(['published', 'retried'])
    expect(place.clock.monotonicMs()).toBe(0)
    expect([(await place.job()).state, (await place.job()).result]).toEqual(['succeeded', 'a'])
  })

  test('says how long the loop may sleep: until the next job is due, and not longer than a poll', async () => {
    const place = inMemory()
    const worker = place.worker()
    expect((await worker.step()).waitMs).toBe(POLL_MS)
    await place.submit({ runAtMs: place.clock.nowMs() + 400 })
    expect((await worker.step()).waitMs).toBe(400)
    place.clock.advance(400)
    expect((await worker.step()).claimed).toBe(1)
  })

  test('claims no more than there are free slots', async () => {
    const place = inMemory()
    for (let n = 0; n < 5; n++) await place.submit()
    const worker = place.worker({ slots: 3 })
    const first = await worker.step()
    expect([first.claimed, worker.active]).toEqual([3, 3])
    expect(await worker.step()).toMatchObject({ claimed: 0, waitMs: POLL_MS })
    for (const one of place.tries) one.answer({})
    await first.done
    expect((await worker.step()).claimed).toBe(2)
  })

  test('does not spin when all that is due is held up by its key', async () => {
    const place = inMemory()
    for (let n = 0; n < 3; n++) await place.submit({ key: 'slow.example' })
    const worker = place.worker({ kinds: [place.kind({ perKey: 1 })] })
    expect((await worker.step()).claimed).toBe(1)
    expect(await worker.step()).toMatchObject({ claimed: 0, waitMs: POLL_MS })
  })

  test('passes trouble of the store on', async () => {
    const place = inMemory()
    const claim = interrupted(place.store.claim, ['fail'])
    await expect(place.worker({ store: { ...place.store, claim: claim.call } }).step()).rejects.toThrow(
      /unavailable/,
    )
  })
})

describe('the loop', () => {
  test('J2: a hint is only a hint; without one the next poll finds the work', async () => {
    const place = inMemory()
    const listening = { resting: async () => {}, busy: async () => {}, close: async () => {} }
    place.running({ store: { ...place.store, listen: async () => listening } })
    await place.pass(POLL_MS / 2)
    await place.submit()
    await place.settle()
    expect(place.tries).toHaveLength(0)
    await place.pass(POLL_MS)
    expect(place.tries).toHaveLength(1)
  })

  test('J2: with a hint the work is found at once, be it the store’s or a wake', async () => {
    const place = inMemory()
    const { worker } = place.running({ slots: 1 })
    await place.pass(POLL_MS / 2)
    await place.submit()
    await place.settle()
    expect([place.tries.length, place.clock.monotonicMs()]).toEqual([1, POLL_MS / 2])
    const second = await place.submit({ runAtMs: place.clock.nowMs() + 1 })
    place.tries[0]!.answer({})
    await place.settle()
    place.clock.jump(1) // it is due, and nothing has told the loop so
    await place.settle()
    expect(place.tries).toHaveLength(1)
    worker.wake()
    await place.settle()
    expect(place.tries[1]?.job.id).toBe(second.id)
  })

  test('a worker says that it rests before it looks a last time, and that it is busy when its claim is full', async () => {
    const place = inMemory()
    const said: string[] = []
    const listening = {
      resting: async (forMs: number) => void said.push(`resting ${forMs}`),
      busy: async () => void said.push('busy'),
      close: async () => void said.push('closed'),
    }
    const { stopped, end } = place.running({
      slots: 2,
      store: {
        ...place.store,
        listen: async () => listening,
        nextDueInMs: (kinds: string[]) => {
          said.push('looks')
          return place.store.nextDueInMs(kinds)
        },
      },
    })
    await place.settle()
    expect(said).toEqual([`resting ${2 * POLL_MS}`, 'looks'])
    await place.submit()
    await place.submit()
    await place.pass(POLL_MS)
    expect(said.slice(2)).toEqual(['busy'])
    end()
    await stopped
    expect(said.at(-1)).toBe('closed')
  })

  /** A loop that sleeps, its store's hint, and how often it has asked for jobs. `gate` holds its claims back. */
  async function asleep(gate: Promise<void> = Promise.resolve()) {
    const place = inMemory()
    let hint = () => {}
    let isAsleep = false
    const asked = { count: 0 }
    const running = place.running({
      store: {
        ...place.store,
        async listen(wake) {
          hint = wake
          return { resting: async () => {}, busy: async () => {}, close: async () => {} }
        },
        async claim(request) {
          asked.count++
          if (isAsleep) await gate
          return place.store.claim(request)
        },
      },
    })
    await place.settle()
    asked.count = 0
    isAsleep = true
    return { place, asked, hint: () => hint(), ...running }
  }

  // Only so can the claim share the commit of the transaction that the hint comes from.
  test('a hint to a loop that sleeps has asked for jobs when it returns, once for however many', async () => {
    const { place, asked, hint } = await asleep()
    await place.submit()
    for (let n = 0; n < 50; n++) hint()
    expect(asked.count).toBe(1)
    await place.settle()
    expect(place.tries).toHaveLength(1)
  })

  test('what a hint had asked for when the loop was ended is started: it waits for no lease to run out', async () => {
    const gate = Promise.withResolvers<void>()
    const { place, hint, end, stopped } = await asleep(gate.promise)
    await place.submit()
    hint()
    end()
    gate.resolve()
    await stopped
    expect(place.tries).toHaveLength(1)
    expect((await place.job()).state).toBe('running')
  })

  test('a claim that a hint has asked for and that fails is no fault of the loop: the next poll finds the job', async () => {
    const gate = Promise.withResolvers<void>()
    const { place, hint } = await asleep(gate.promise)
    await place.submit()
    hint()
    gate.reject(away())
    await place.settle()
    expect([place.tries.length, place.faults]).toEqual([0, []])
  })

  test('the store being away when hints are spoken of stops neither the loop nor its end', async () => {
    const place = inMemory()
    const fail = async () => {
      throw away()
    }
    const listen = async () => ({ resting: fail, busy: fail, close: fail })
    const { stopped, end } = place.running({ slots: 1, store: { ...place.store, listen } })
    await place.settle()
    await place.submit()
    await place.pass(POLL_MS)
    place.tries[0]!.answer({})
    await place.settle()
    expect([place.ends, place.faults]).toEqual([['published'], []])
    end()
    await stopped
  })

  test('goes on without hints while listening for them fails, and tries again', async () => {
    const place = inMemory()
    const listen = interrupted(place.store.listen, ['fail', 'fail'])
    place.running({ store: { ...place.store, listen: listen.call } })
    await place.submit()
    await place.settle()
    expect(place.tries).toHaveLength(1)
    await place.pass(2 * POLL_MS)
    expect(listen.calls()).toBe(3)
  })

  test('J2: wakes that are repeated, early or for nothing change nothing but the time', async () => {
    const place = inMemory()
    const { worker } = place.running()
    for (let n = 0; n < 50; n++) worker.wake()
    await place.submit()
    for (let n = 0; n < 50; n++) worker.wake()
    await place.settle()
    worker.wake()
    await place.settle()
    expect(place.tries).toHaveLength(1)
    place.tries[0]!.answer({})
    for (let n = 0; n < 50; n++) worker.wake()
    await place.settle()
    expect(place.ends).toEqual(['published'])
    expect(await place.outcomes()).toEqual(['succeeded'])
  })

  test('a wake during a claim is not lost', async () => {
    const place = inMemory()
    const gate = Promise.withResolvers<void>()
    let isFirst = true
    const { worker } = place.running({
      store: {
        ...place.store,
        claim: async (request) => {
          const claims = await place.store.claim(request)
          if (isFirst) {
            isFirst = false
            await gate.promise
          }
          return claims
        },
      },
    })
    await place.submit()
    worker.wake()
    gate.resolve()
    await place.settle()
    expect(place.tries).toHaveLength(1)
  })

  test('goes on at once when a slot becomes free', async () => {
    const place = inMemory()
    place.running({ slots: 1 })
    await place.submit()
    await place.submit()
    await place.pass(POLL_MS)
    expect(place.tries).toHaveLength(1)
    const before = place.clock.monotonicMs()
    place.tries[0]!.answer({})
    await place.settle()
    expect([place.tries.length, place.clock.monotonicMs()]).toEqual([2, before])
  })

  test('one handler that throws, at once or later, stops neither the loop nor the other attempts', async () => {
    const place = inMemory()
    let isFirst = true
    const kind = place.kind()
    place.running({
      kinds: [
        {
          ...kind,
          handle: (context: AttemptContext) => {
            if (!isFirst) return kind.handle(context)
            isFirst = false
            throw new TypeError('a bug')
          },
        },
      ],
    })
    for (let n = 0; n < 3; n++) await place.submit()
    await place.pass(POLL_MS)
    place.tries[0]!.fail(new RangeError('another bug'))
    place.tries[1]!.answer({})
    await place.settle()
    expect(place.ends).toEqual(['retried', 'retried', 'published'])
    expect(place.faults).toEqual([expect.any(TypeError), expect.any(RangeError)])
    expect((await place.job()).lastError).toBe('internal_error')
    await place.submit()
    await place.pass(POLL_MS)
    expect(place.tries).toHaveLength(3)
  })

  test('waits for a poll when the store is away, and does not call that a fault', async () => {
    const place = inMemory()
    const claim = interrupted(place.store.claim, ['fail', 'fail'])
    place.running({ store: { ...place.store, claim: claim.call } })
    await place.submit()
    await place.settle()
    expect([claim.calls(), place.tries.length]).toEqual([1, 0])
    await place.pass(POLL_MS)
    expect([claim.calls(), place.tries.length]).toEqual([2, 0])
    await place.pass(POLL_MS)
    expect([place.tries.length, place.faults]).toEqual([1, []])
  })

  test('goes on after a fault of the store too, and reports it', async () => {
    const place = inMemory()
    let isFirst = true
    place.running({
      store: {
        ...place.store,
        claim: async (request) => {
          if (!isFirst) return place.store.claim(request)
          isFirst = false
          throw new TypeError('a bug')
        },
      },
    })
    await place.submit()
    await place.pass(POLL_MS)
    expect([place.faults, place.tries.length]).toEqual([[expect.any(TypeError)], 1])
  })
})

describe('a claim of a kind that nobody registered', () => {
  test('is not made', async () => {
    const place = inMemory()
    await place.submit({ kind: 'unheard-of' })
    expect((await place.worker().step()).claimed).toBe(0)
    expect((await place.job()).state).toBe('ready')
  })

  test('is reported and left to its lease, if a store makes it all the same', async () => {
    const place = inMemory()
    await place.submit({ kind: 'unheard-of' })
    const store = {
      ...place.store,
      claim: () =>
        place.store.claim({ worker: 'w', limit: 1, leaseMs: LEASE_MS, kinds: [{ kind: 'unheard-of' }] }),
    }
    const step = await place.worker({ store }).step()
    expect(await step.done).toEqual(['stale'])
    expect(place.faults).toEqual([expect.objectContaining({ code: 'UNKNOWN_KIND' })])
    expect((await place.job()).state).toBe('running')
  })
})

test('a broken invariant is nobody’s outcome: it is thrown, and neither retried nor counted as an end', async () => {
  const place = inMemory()
  await place.submit()
  const store = {
    ...place.store,
    publish: async () => {
      throw new InvariantBroken('epoch went down')
    },
  }
  const step = await place.worker({ store }).step()
  place.tries[0]!.answer({})
  await expect(step.done).rejects.toThrow(InvariantBroken)
  expect(place.ends).toEqual([])
})

describe('stopping', () => {
  test('lets what ends within the grace end by itself', async () => {
    const place = inMemory()
    const { worker, stopped, end } = place.running()
    await place.submit()
    await place.pass(POLL_MS)
    end()
    const over = worker.stop(5_000)
    await place.pass(1_000)
    expect(place.tries[0]!.signal.aborted).toBe(false)
    place.tries[0]!.answer({})
    await place.pass(100)
    await Promise.all([over, stopped])
    expect(place.ends).toEqual(['published'])
  })

  test('gives back what does not, and its try is not spent', async () => {
    const place = inMemory()
    const { worker, end } = place.running()
    await place.submit()
    await place.pass(POLL_MS)
    end()
    const over = worker.stop(5_000)
    await place.pass(5_100)
    await over
    expect([place.ends, place.tries[0]!.signal.aborted]).toEqual([['released'], true])
    expect(await place.job()).toMatchObject({ state: 'ready', attempt: 0, epoch: 1, leaseUntilMs: null })
    expect(await place.takenByAnother()).toMatchObject({ epoch: 2, job: { attempt: 1 } })
  })

  test('gives back what a claim under way brings in after the stop', async () => {
    const place = inMemory()
    const gate = Promise.withResolvers<void>()
    const store = {
      ...place.store,
      claim: async (request: Parameters<typeof place.store.claim>[0]) => {
        const claims = await place.store.claim(request)
        await gate.promise
        return claims
      },
    }
    await place.submit()
    const { worker, end } = place.running({ store })
    await place.settle()
    end()
    let isOver = false
    const over = worker.stop(0).then(() => {
      isOver = true
    })
    await place.pass(100)
    expect(isOver).toBe(false)
    gate.resolve()
    await place.pass(100)
    await over
    expect(await place.job()).toMatchObject({ state: 'ready', attempt: 0 })
  })

  test('does not wait for ever for an attempt that cannot be given back', async () => {
    const place = inMemory()
    const publish = interrupted(place.store.publish, ['hang'])
    const { worker, end } = place.running({ store: { ...place.store, publish: publish.call } })
    await place.submit()
    await place.pass(POLL_MS)
    end()
    const over = worker.stop(5_000)
    await place.pass(7_100)
    await over
    expect(worker.active).toBe(1)
  })

  test('a stopped worker claims nothing more', async () => {
    const place = inMemory()
    const worker = place.worker()
    await worker.stop(0)
    await place.submit()
    expect((await worker.step()).claimed).toBe(0)
  })
})

test('a kind that no job of a key could ever run for is refused at once', () => {
  const place = inMemory()
  expect(() => place.worker({ kinds: [place.kind({ perKey: 0 })] })).toThrow(RangeError)
})
