import { expect, test } from 'vitest'
import { Breaker } from './breaker.ts'

function broken(atMs = 0): Breaker {
  const breaker = new Breaker()
  for (let n = 0; n < 5; n++) breaker.failed(atMs)
  return breaker
}

test('lets everything through until five calls in a row have failed', () => {
  const breaker = new Breaker()
  for (let n = 0; n < 20; n++) {
    expect(breaker.lets(0)).toBe(true)
    breaker.failed(0)
    if (n % 4 === 3) breaker.succeeded()
  }
  expect(broken().lets(0)).toBe(false)
})

test('then nothing for a second, and then one to try', () => {
  const breaker = broken()
  expect(breaker.lets(999)).toBe(false)
  expect(breaker.lets(1_000)).toBe(true)
  expect(breaker.lets(1_000)).toBe(false)
})

test('is open twice as long each time that fails, ten seconds at most', () => {
  const breaker = broken()
  let nowMs = 0
  for (const openMs of [1_000, 2_000, 4_000, 8_000, 10_000, 10_000]) {
    expect([breaker.lets(nowMs + openMs - 1), breaker.lets(nowMs + openMs)]).toEqual([false, true])
    nowMs += openMs
    breaker.failed(nowMs)
  }
})

test('is closed, and forgets, when the one that tries succeeds', () => {
  const breaker = broken()
  expect(breaker.lets(1_000)).toBe(true)
  breaker.succeeded()
  for (let n = 0; n < 4; n++) breaker.failed(1_000)
  expect(breaker.lets(1_000)).toBe(true)
})

test('calls that were under way when it opened do not open it for longer', () => {
  const breaker = broken()
  for (let n = 0; n < 100; n++) breaker.failed(10)
  expect(breaker.lets(1_000)).toBe(true)
})
