import { describe, expect, test } from 'vitest'
import { shiftBatch } from './shift.ts'
import type { Taken } from './taken.ts'

const NOW = Date.parse('2026-08-10T12:00:00Z')
const taken = (parts: Partial<Taken>): Taken => ({
  ...{ date: '2026-08-01', time: '12:30', seconds: '15.25', offset: null },
  ...{ source: 'exif:DateTimeOriginal', guess: false, offsetIsDerived: false },
  ...parts,
})
const shift = (parts: Partial<Taken>, byMinutes: number) =>
  shiftBatch([taken(parts)], { byMinutes, nowMs: NOW })[0]!

describe('a batch whose camera clock was wrong', () => {
  test.for([
    [60, '2026-08-01 13:30'],
    [-13 * 60, '2026-07-31 23:30'],
    [12 * 60 - 30, '2026-08-02 00:00'],
    [-40 * 1440, '2026-06-22 12:30'],
    [-365 * 1440, '2025-08-01 12:30'],
  ] as const)('moves by %s minutes to %s', ([byMinutes, wanted]) => {
    const { taken: moved, refused } = shift({}, byMinutes)
    expect([`${moved.date} ${moved.time}`, moved.seconds, refused]).toEqual([wanted, '15.25', null])
  })

  test('the night of the clock change is as long as any other', () => {
    expect(shift({ date: '2025-10-26', time: '01:30' }, 120).taken).toMatchObject({ time: '03:30' })
    expect(shift({ date: '2026-03-29', time: '01:30' }, 60).taken).toMatchObject({ time: '02:30' })
  })

  test('an offset that was written stays; one taken from the satellites keeps to the satellites', () => {
    expect(shift({ offset: '+02:00' }, 60).taken.offset).toBe('+02:00')
    expect(shift({ offset: '+02:00', offsetIsDerived: true }, 60).taken.offset).toBe('+03:00')
    expect(shift({ offset: '+02:00', offsetIsDerived: true }, 7).taken.offset).toBeNull()
  })

  test('into the future or before the camera was built is refused, and says so for that photo', () => {
    expect(shift({}, 11 * 1440)).toMatchObject({
      refused: 'future',
      taken: { date: '2026-08-01', time: '12:30' },
    })
    expect(shift({}, -40 * 365 * 1440)).toMatchObject({
      refused: 'reset-clock',
      taken: { date: '2026-08-01' },
    })
  })

  test('a day without a minute is not the camera’s, and stays', () => {
    expect(shift({ time: null, seconds: '' }, 60).taken).toMatchObject({ date: '2026-08-01', time: null })
  })
})
