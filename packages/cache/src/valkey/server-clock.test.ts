import { expect, test } from 'vitest'
import { ServerClock } from './server-clock.ts'

const anHour = 3_600_000

test('what the server shows now is never less than it does', () => {
  const server = new ServerClock()
  // The reading was taken somewhere between the question at 100 and its answer at 140.
  server.learn({ sentMs: 100, serverMs: 5_000 })
  for (const [takenMs, nowMs] of [
    [100, 140],
    [140, 140],
    [120, 900],
  ] as const)
    expect(server.atMostMs(nowMs)).toBeGreaterThanOrEqual(5_000 + (nowMs - takenMs))
})

test('a reading is used for a second; then the server is asked again', () => {
  const server = new ServerClock()
  expect(server.atMostMs(0), 'before the first').toBeNull()
  server.learn({ sentMs: 100, serverMs: 5_000 })
  expect(server.atMostMs(1_100)).toBe(6_001)
  expect(server.atMostMs(1_101)).toBeNull()
  server.learn({ sentMs: 1_101, serverMs: 5_000 + anHour })
  expect(server.atMostMs(1_101), 'set forward meanwhile').toBe(5_001 + anHour)
})

test('the answer to an earlier question does not undo what a later one has told', () => {
  const server = new ServerClock()
  server.learn({ sentMs: 200, serverMs: 5_100 })
  server.learn({ sentMs: 100, serverMs: 5_000 - anHour })
  expect(server.atMostMs(200)).toBe(5_101)
})

test('with the connection the reading goes, too', () => {
  const server = new ServerClock()
  server.learn({ sentMs: 100, serverMs: 5_000 })
  server.forget()
  expect(server.atMostMs(100)).toBeNull()
})
