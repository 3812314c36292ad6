import { ManualClock, StoreUnavailable } from '@garner/db'
import { beforeEach, describe, expect, test } from 'vitest'
import { hearAccessNews, type Listen } from './access-news.ts'

let clock: ManualClock
let news: number
/** What each call of `listen` was given and answered with, in order. */
let calls: { channel: string; wake: () => void }[]
let closed: number
beforeEach(() => {
  clock = new ManualClock()
  news = 0
  calls = []
  closed = 0
})

const turn = () => new Promise(setImmediate)
const hearing = { close: async () => void closed++ }
const listening =
  (answer: (nth: number) => Promise<typeof hearing | null>): Listen =>
  (channel, wake) => {
    calls.push({ channel, wake })
    return answer(calls.length)
  }
const hear = (listen: Listen) => hearAccessNews({ listen, clock, onNews: () => void news++ })
const away = () => Promise.reject(new StoreUnavailable('missing', 'connecting to listen'))

describe('news of access', () => {
  test('are passed on, and beginning to hear is one: something may have changed before', async () => {
    const ear = hear(listening(async () => hearing))
    await turn()
    expect(news).toBe(1)
    calls[0]!.wake()
    expect(news).toBe(2)
    await ear.close()
    expect(closed).toBe(1)
  })

  test('that cannot be heard yet are tried for again, whatever the reason', async () => {
    const strange = () => Promise.reject(new Error('LISTEN is not supported here'))
    const ear = hear(listening(async (nth) => (nth === 1 ? away() : nth === 2 ? strange() : hearing)))
    await turn()
    expect([calls.length, news]).toEqual([1, 0])
    clock.advance(4_999)
    await turn()
    expect(calls).toHaveLength(1)
    clock.advance(1)
    await turn()
    expect([calls.length, news]).toEqual([2, 0])
    clock.advance(5_000)
    await turn()
    expect([calls.length, news]).toEqual([3, 1])
    await ear.close()
  })

  test('that cannot be heard at all are not tried for again', async () => {
    const ear = hear(listening(async () => null))
    await turn()
    clock.advance(60_000)
    await turn()
    expect(calls).toHaveLength(1)
    await ear.close()
  })

  test('are not heard any more once it is closed, also while it is being tried for', async () => {
    const late = Promise.withResolvers<typeof hearing>()
    const ear = hear(listening(() => late.promise))
    const closing = ear.close()
    late.resolve(hearing)
    await closing
    expect(closed).toBe(1)
    const waiting = hear(listening(away))
    await turn()
    await waiting.close()
    expect(calls).toHaveLength(2)
    expect(clock.nextWakeInMs).toBeNull()
  })
})
