import { ManualClock } from '@garner/db'
import { beforeEach, describe, expect, test } from 'vitest'
import { Remembered } from './remembered.ts'

let clock: ManualClock
let reads: number
/** What the database says; null for nobody. */
let truth: string | null
beforeEach(() => {
  clock = new ManualClock()
  reads = 0
  truth = 'a member'
})

const read = async () => {
  reads++
  return truth
}
const remembered = ({ maxAgeMs = 5_000, count = null as (() => number) | null } = {}) =>
  new Remembered<string>({
    ...{ clock, maxAgeMs },
    changes: { now: () => (count === null ? null : Promise.resolve(count())) },
  })

describe('what is remembered of someone', () => {
  test('is at most so old, and using it does not make it last longer', async () => {
    const memory = remembered()
    for (const ms of [0, 2_000, 2_000, 1_000]) {
      clock.advance(ms)
      expect(await memory.get('alice', read)).toBe('a member')
    }
    expect(reads).toBe(1)
    truth = null
    clock.advance(1)
    expect(await memory.get('alice', read)).toBeNull()
    expect(reads).toBe(2)
  })

  test('ages while the machine sleeps', async () => {
    const memory = remembered()
    await memory.get('alice', read)
    clock.jump(5_001)
    await memory.get('alice', read)
    expect(reads).toBe(2)
  })

  test('counts from before the question, however long the answer takes', async () => {
    const memory = remembered()
    const slow = Promise.withResolvers<string>()
    const first = memory.get('alice', () => slow.promise)
    await new Promise(setImmediate)
    clock.advance(4_000)
    slow.resolve('a member')
    await first
    clock.advance(1_001)
    await memory.get('alice', read)
    expect(reads).toBe(1)
  })

  test('with 0 is nothing: every question is a read of its own', async () => {
    const memory = remembered({ maxAgeMs: 0 })
    await Promise.all([memory.get('alice', read), memory.get('alice', read)])
    expect(reads).toBe(2)
  })

  test('is asked again as soon as anything has been committed, where that can be known', async () => {
    let count = 1
    const memory = remembered({ count: () => count })
    await memory.get('alice', read)
    await memory.get('alice', read)
    expect(reads).toBe(1)
    count = 2
    truth = null
    expect(await memory.get('alice', read)).toBeNull()
  })

  test('is dropped when it is said so, and a read that began before is neither kept nor joined', async () => {
    const memory = remembered()
    const slow = Promise.withResolvers<string>()
    const before = memory.get('alice', () => slow.promise)
    await new Promise(setImmediate)
    memory.forget()
    truth = null
    expect(await memory.get('alice', read)).toBeNull()
    slow.resolve('a member')
    expect(await before).toBe('a member')
    expect(await memory.get('alice', read)).toBeNull()
    expect(reads).toBe(2)
  })

  test('is read once for all who ask at once; a refusal and a failure are not remembered', async () => {
    const memory = remembered()
    await Promise.all(Array.from({ length: 50 }, () => memory.get('alice', read)))
    expect(reads).toBe(1)
    truth = null
    await memory.get('carol', read)
    await memory.get('carol', read)
    expect(reads).toBe(3)
    const failing = () => Promise.reject(new Error('away'))
    await expect(memory.get('bob', failing)).rejects.toThrow('away')
    truth = 'a member'
    expect(await memory.get('bob', read)).toBe('a member')
  })

  test('of one is not of another, and the memory is bounded', async () => {
    const memory = remembered()
    await memory.get('alice', read)
    truth = 'someone else'
    expect(await memory.get('bob', read)).toBe('someone else')
    for (let n = 0; n < 10_000; n++) await memory.get(`person ${n}`, read)
    reads = 0
    await memory.get('person 9999', read)
    await memory.get('alice', read)
    expect(reads).toBe(1)
  })
})
