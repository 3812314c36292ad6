import { ManualClock } from '@garner/db'
import { expect, test } from 'vitest'
import { PARK_MS, Parking } from './parking.ts'

test('one call an hour is let through, and all others are told how long it is', () => {
  const clock = new ManualClock()
  const parking = new Parking(clock)
  const began = clock.nowMs()
  expect(() => parking.enter()).not.toThrow()
  expect(parking.park('quota_exceeded').retryAfterMs).toBe(PARK_MS)
  clock.advance(PARK_MS - 1_000)
  expect(() => parking.enter()).toThrow(
    expect.objectContaining({ code: 'quota_exceeded', retryAfterMs: 1_000 }),
  )
  clock.advance(1_000)
  expect(() => parking.enter()).not.toThrow()
  expect(() => parking.enter()).toThrow(expect.objectContaining({ retry: 'parked', retryAfterMs: PARK_MS }))
  // Still so: since when is not forgotten.
  parking.park('quota_exceeded')
  expect(parking.parked).toEqual({
    ...{ reason: 'quota_exceeded', sinceMs: began, untilMs: clock.nowMs() + PARK_MS },
  })
  parking.clear()
  expect(parking.parked).toBeNull()
  expect(() => parking.enter()).not.toThrow()
})
