import { ManualClock } from '@garner/db'
import { expect, test } from 'vitest'
import { Deadlines } from './deadlines.ts'

async function settle() {
  for (let n = 0; n < 10; n++) await new Promise(setImmediate)
}

test('each ends at its own time, whatever the order they were added in', async () => {
  const clock = new ManualClock()
  const deadlines = new Deadlines(clock)
  const over: string[] = []
  deadlines.add(3_000, () => over.push('long'))
  deadlines.add(1_000, () => over.push('short'))
  clock.advance(500)
  deadlines.add(1_000, () => over.push('short, later'))
  for (const expected of [['short'], ['short', 'short, later'], ['short', 'short, later', 'long']]) {
    await settle()
    clock.advance(clock.nextWakeInMs!)
    await settle()
    expect(over).toEqual(expected)
  }
  expect(clock.nextWakeInMs).toBeNull()
})

test('one that is taken back in time never comes, and nothing goes on sleeping for it', async () => {
  const clock = new ManualClock()
  const deadlines = new Deadlines(clock)
  const over: string[] = []
  const done = deadlines.add(1_000, () => over.push('one'))
  done()
  done()
  await settle()
  expect(clock.nextWakeInMs).toBeNull()
  clock.advance(5_000)
  await settle()
  expect(over).toEqual([])
})

test('taking back and adding in one moment keeps the watch going', async () => {
  const clock = new ManualClock()
  const deadlines = new Deadlines(clock)
  const over: string[] = []
  deadlines.add(1_000, () => over.push('one'))()
  deadlines.add(1_000, () => over.push('two'))
  await settle()
  clock.advance(1_000)
  await settle()
  expect(over).toEqual(['two'])
})

test('thousands that end behind one that hangs are not kept, and it still ends at its time', async () => {
  const clock = new ManualClock()
  const deadlines = new Deadlines(clock)
  const over: string[] = []
  deadlines.add(1_000, () => over.push('hung'))
  for (let n = 0; n < 5_000; n++) deadlines.add(1_000, () => over.push('other'))()
  deadlines.add(1_000, () => over.push('last'))
  await settle()
  clock.advance(1_000)
  await settle()
  expect(over).toEqual(['hung', 'last'])
})
