import { expect, test } from 'vitest'
import { isZone, wallClock } from './zone.ts'

test.for([
  ['2026-08-01T22:30:00Z', 'Europe/Berlin', '2026-08-02 00:30 +02:00'],
  ['2026-01-20T11:00:00Z', 'Europe/Berlin', '2026-01-20 12:00 +01:00'],
  ['2025-10-26T00:30:00Z', 'Europe/Berlin', '2025-10-26 02:30 +02:00'],
  ['2025-10-26T01:30:00Z', 'Europe/Berlin', '2025-10-26 02:30 +01:00'],
  ['2026-08-01T00:00:00Z', 'Asia/Kathmandu', '2026-08-01 05:45 +05:45'],
  ['2026-08-01T00:00:00Z', 'America/St_Johns', '2026-07-31 21:30 -02:30'],
  ['2026-08-01T00:00:00Z', 'UTC', '2026-08-01 00:00 +00:00'],
  ['2026-01-01T00:00:00Z', 'Europe/London', '2026-01-01 00:00 +00:00'],
] as const)('%s in %s', ([instant, zone, wanted]) => {
  const { date, time, offset } = wallClock(Date.parse(instant), { zone })!
  expect(`${date} ${time} ${offset}`).toBe(wanted)
})

test('a fixed offset, and nothing at all', () => {
  const atMs = Date.parse('2026-08-01T22:30:07Z')
  expect(wallClock(atMs, { offset: '-03:30' })).toEqual({
    date: '2026-08-01',
    time: '19:00',
    seconds: '07',
    offset: '-03:30',
  })
  expect(wallClock(atMs, {})).toBeNull()
})

test('zones that there are, and zones that there are not', () => {
  expect(['Europe/Berlin', 'UTC', 'Pacific/Auckland'].every(isZone)).toBe(true)
  expect(['', 'Berlin', 'Europe/Atlantis', '../etc', 'x'.repeat(10_000)].some(isZone)).toBe(false)
})
