import { ManualClock } from '@garner/db'
import { expect, test } from 'vitest'
import { Deadlines } from './deadlines.ts'

const settle = async () => {
  for (let n = 0; n < 5; n++) await new Promise(setImmediate)
}

test('each is called once, when its time has come, whatever order they were set in', async () => {
  const clock = new ManualClock()
  const deadlines = new Deadlines(clock)
  const called: string[] = []
  for (const ms of [250, 75, 250, 1_000, 10])
    deadlines.in(ms, () => called.push(`${ms} at ${clock.monotonicMs()}`))
  for (let n = 0; n < 2_000; n += 5) {
    await settle()
    clock.advance(5)
  }
  expect(called).toEqual(['10 at 10', '75 at 75', '250 at 250', '250 at 250', '1000 at 1000'])
})

test('one that is not wanted any more is not called, and does not hold the others up', async () => {
  const clock = new ManualClock()
  const deadlines = new Deadlines(clock)
  const called: number[] = []
  const first = deadlines.in(100, () => called.push(1))
  deadlines.in(100, () => called.push(2))
  first.drop()
  await settle()
  clock.advance(100)
  await settle()
  expect(called).toEqual([2])
})

test('a sooner one wakes the sleeper earlier', async () => {
  const clock = new ManualClock()
  const deadlines = new Deadlines(clock)
  deadlines.in(1_000, () => {})
  deadlines.in(5, () => {})
  expect(clock.nextWakeInMs).toBe(5)
})

test('thousands that were all answered in time leave nothing behind', async () => {
  const clock = new ManualClock()
  const deadlines = new Deadlines(clock)
  for (let round = 0; round < 50; round++) {
    for (let n = 0; n < 200; n++) deadlines.in(250, () => {}).drop()
    clock.advance(20)
    await settle()
  }
  clock.advance(250)
  await settle()
  expect(clock.nextWakeInMs).toBeNull()
})

test('what one of them sets anew is called in its turn', async () => {
  const clock = new ManualClock()
  const deadlines = new Deadlines(clock)
  const called: number[] = []
  const again = () => {
    called.push(clock.monotonicMs())
    if (called.length < 3) deadlines.in(10, again)
  }
  deadlines.in(10, again)
  for (let n = 0; n < 5; n++) {
    await settle()
    clock.advance(10)
  }
  expect(called).toEqual([10, 20, 30])
})

test('closing calls those that are left, once, and lets the sleeper go', async () => {
  const clock = new ManualClock()
  const deadlines = new Deadlines(clock)
  const called: string[] = []
  deadlines.in(100, () => called.push('a'))
  deadlines.in(2_000, () => called.push('b'))
  deadlines.in(100, () => called.push('not wanted')).drop()
  deadlines.close()
  expect(called).toEqual(['a', 'b'])
  await settle()
  expect(clock.nextWakeInMs).toBeNull()
  deadlines.in(10, () => called.push('later'))
  clock.advance(10)
  await settle()
  expect(called).toEqual(['a', 'b', 'later'])
})
