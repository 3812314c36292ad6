import { expect, test } from 'vitest'
import { Timeline } from './timeline.ts'

test('events run in order of time, and those of one instant in the order they were asked for', async () => {
  const timeline = new Timeline()
  const ran: string[] = []
  for (const [name, ms] of [
    ['d', 20],
    ['b', 10],
    ['c', 10],
    ['a', 0],
    ['e', 30],
  ] as const) {
    timeline.after(ms, () => ran.push(`${name}@${timeline.nowMs}`))
  }
  await timeline.run(() => false)
  expect(ran).toEqual(['a@0', 'b@10', 'c@10', 'd@20', 'e@30'])
  expect(timeline.ran).toBe(5)
})

test('time stands still until everything that follows from an event is waiting again', async () => {
  const timeline = new Timeline()
  const ran: string[] = []
  timeline.after(5, async () => {
    for (let n = 0; n < 50; n++) await Promise.resolve()
    ran.push(`first, at ${timeline.nowMs}`)
    timeline.after(0, () => ran.push(`what it asked for, at ${timeline.nowMs}`))
  })
  timeline.after(6, () => ran.push(`second, at ${timeline.nowMs}`))
  await timeline.run(() => false)
  expect(ran).toEqual(['first, at 5', 'what it asked for, at 5', 'second, at 6'])
})

test('what is cancelled does not happen; what is asked for in the past happens now', async () => {
  const timeline = new Timeline()
  const ran: number[] = []
  timeline.after(1, () => ran.push(1)).cancel()
  timeline.after(2, () => timeline.at(0, () => ran.push(timeline.nowMs)))
  await timeline.run(() => false)
  expect(ran).toEqual([2])
})

test('a run that is over leaves the rest for later', async () => {
  const timeline = new Timeline()
  const ran: number[] = []
  for (const ms of [1, 2, 3]) timeline.after(ms, () => ran.push(ms))
  await timeline.run(() => ran.length === 2)
  expect(ran).toEqual([1, 2])
  await timeline.run(() => false)
  expect(ran).toEqual([1, 2, 3])
})
