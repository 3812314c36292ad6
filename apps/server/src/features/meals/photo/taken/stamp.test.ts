import { describe, expect, test } from 'vitest'
import { dateOf, instantMs, offsetMinutes, offsetOf, parseOffset, parseStamp } from './stamp.ts'

describe('stamps as cameras and editors write them', () => {
  test.for([
    ['2026:08:01 20:30:15', '2026-08-01', '20:30', '15', null],
    ['2026-08-01T20:30:15.25+02:00', '2026-08-01', '20:30', '15.25', '+02:00'],
    ['2026:08:01 14:42:59+01:00', '2026-08-01', '14:42', '59', '+01:00'],
    ['2026-08-01T20:30:15Z', '2026-08-01', '20:30', '15', '+00:00'],
    ['2026-08-01T20:30', '2026-08-01', '20:30', '', null],
    ['2026/08/01 20:30:15\0', '2026-08-01', '20:30', '15', null],
    ['2026: 8: 1  9: 5: 3', '2026-08-01', '09:05', '03', null],
    ['2026:08:01 00:00:00', '2026-08-01', '00:00', '00', null],
    ['2026:12:31 23:59:60', '2026-12-31', '23:59', '59', null],
    ['2026:08:01', '2026-08-01', null, '', null],
    ['2024:02:29 12:00:00', '2024-02-29', '12:00', '00', null],
  ] as const)('%s', ([text, date, time, seconds, offset]) => {
    expect(parseStamp(text)).toEqual({ date, time, seconds, offset })
  })

  test.for([
    ...['', '    :  :     :  :  ', '0000:00:00 00:00:00', '2026:13:01 10:00:00', '2026:02:29 10:00:00'],
    ...['2026:04:31 10:00:00', '2026:08:01 24:00:00', '2026:08:01 10:60:00', '2026:08:01 10:00:61'],
    ...['58552:03:12 10:00:00', '2026:08:01 10', 'yesterday', '01.08.2026', '2026:08:01 20:30:15 and more'],
  ])('impossible: "%s"', (text) => {
    expect(parseStamp(text)).toBeNull()
  })

  test('days of every month, and no others', () => {
    const lengths = Array.from({ length: 12 }, (_, month) =>
      Array.from({ length: 33 }, (_, day) => dateOf(2026, month + 1, day)).filter((date) => date !== null),
    )
    expect(lengths.map((days) => days.length)).toEqual([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
  })
})

describe('offsets', () => {
  test.for([
    ['+02:00', '+02:00'],
    ['-5:00', '-05:00'],
    ['-03:30', '-03:30'],
    ['+0545', '+05:45'],
    ['Z', '+00:00'],
    ['+14:00', '+14:00'],
    ['-12:00', '-12:00'],
    ['+14:15', null],
    ['-12:15', null],
    ['+02:07', null],
    ['+02:75', null],
    ['   :  ', null],
    ['', null],
    ['Europe/Berlin', null],
  ] as const)('%s is %s', ([text, wanted]) => {
    expect(parseOffset(text)).toBe(wanted)
  })

  test('there and back, for every offset on earth', () => {
    for (let minutes = -720; minutes <= 840; minutes += 15) {
      expect(offsetMinutes(offsetOf(minutes))).toBe(minutes)
      expect(parseOffset(offsetOf(minutes))).toBe(offsetOf(minutes))
    }
  })

  test('an instant needs a minute and an offset', () => {
    const stamp = { date: '2026-08-01', time: '10:14', seconds: '22.5', offset: '+05:45' }
    expect(instantMs(stamp)).toBe(Date.parse('2026-08-01T04:29:22Z'))
    expect(instantMs({ ...stamp, offset: null })).toBeNull()
    expect(instantMs({ ...stamp, time: null })).toBeNull()
  })
})
