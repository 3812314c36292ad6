import { expect, test } from 'vitest'
import { SlidingLog } from './sliding-log.ts'

test('counts reads from their beginning until a window after their end', () => {
  const log = new SlidingLog(1_000)
  log.begin()
  expect(log.count(5_000)).toBe(1)
  log.end(5_000)
  expect(log.count(5_999)).toBe(1)
  expect(log.count(6_000)).toBe(0)
})

test('one that was given back was never there', () => {
  const log = new SlidingLog(1_000)
  log.begin()
  log.giveBack()
  expect([log.count(0), log.inFlight]).toEqual([0, 0])
})

test('says when the next ones are out of the window, as far as that is known', () => {
  const log = new SlidingLog(1_000)
  for (const endMs of [100, 300]) {
    log.begin()
    log.end(endMs)
  }
  log.begin()
  expect([0, 1, 2, 3].map((n) => log.freedInMs(n, 400))).toEqual([0, 700, 900, null])
})

test('never lets more through in any window than were counted, however long it goes on', () => {
  const log = new SlidingLog(1_000)
  const begun: number[] = []
  for (let nowMs = 0; nowMs < 60_000; nowMs += 7) {
    if (log.count(nowMs) < 10) {
      log.begin()
      log.end(nowMs)
      begun.push(nowMs)
    }
  }
  for (const fromMs of begun)
    expect(begun.filter((atMs) => atMs >= fromMs && atMs < fromMs + 1_000).length).toBeLessThanOrEqual(10)
  expect(begun.length).toBeGreaterThan(500)
})
