import { ManualClock } from '@garner/db'
import { expect, test } from 'vitest'
import { AgeClock } from './age-clock.ts'

test('goes on with the monotonic clock', () => {
  const clock = new ManualClock()
  const age = new AgeClock(clock)
  const before = age.nowMs()
  clock.advance(1_234)
  expect(age.nowMs() - before).toBe(1_234)
})

test('goes on when the wall clock alone does: the machine was suspended, or its clock was set forward', () => {
  const clock = new ManualClock()
  const age = new AgeClock(clock)
  const before = age.nowMs()
  clock.jump(60_000)
  clock.advance(10)
  expect(age.nowMs() - before).toBe(60_010)
  expect(age.now()).toEqual({ atLeastMs: 10, atMostMs: before + 60_010 })
})

test('does not go back when the wall clock is set back, and sees a suspension after that', () => {
  const clock = new ManualClock()
  const age = new AgeClock(clock)
  const before = age.nowMs()
  clock.jump(-3_600_000)
  expect(age.nowMs() - before).toBe(0)
  clock.jump(5_000)
  expect(age.nowMs() - before).toBe(5_000)
})

test('small differences between the two clocks do not add up', () => {
  const clock = new ManualClock()
  const age = new AgeClock(clock)
  const before = age.nowMs()
  for (let n = 0; n < 1_000; n++) {
    clock.advance(10)
    clock.jump(n % 2 ? 3 : -3)
    age.nowMs()
  }
  expect(age.nowMs() - before).toBe(10_000)
})
