import { describe, expect, test } from 'vitest'
import { addDays, dayOf, daysIn, isDay } from './day.ts'

describe('days of the calendar', () => {
  test.each(['2026-08-29', '2024-02-29', '1900-01-01', '2199-12-31'])('%s is one', (text) => {
    expect(isDay(text)).toBe(true)
  })

  test.each([
    ...['2026-02-30', '2026-02-29', '2026-13-01', '2026-00-10', '2026-01-00', '2026-8-29', '26-08-29'],
    ...[
      '2026-08-29 ',
      '2026-08-29T00:00',
      '58552-03-12',
      '0001-01-01',
      '2200-01-01',
      '',
      'today',
      '２０２６-08-29',
    ],
  ])('%j is none', (text) => {
    expect(isDay(text)).toBe(false)
  })

  test('go over months, leap days and the nights when clocks change', () => {
    expect(addDays('2026-03-28', 2)).toBe('2026-03-30')
    expect(addDays('2026-10-24', 2)).toBe('2026-10-26')
    expect(addDays('2024-02-28', 1)).toBe('2024-02-29')
    expect(addDays('2026-01-01', -1)).toBe('2025-12-31')
    expect(daysIn({ first: '2026-03-28', last: '2026-03-30' })).toBe(3)
    expect(daysIn({ first: '2026-08-30', last: '2026-08-29' })).toBe(0)
  })

  test('begin when their person says', () => {
    const at = (time: string) => ({ date: '2026-08-01', time })
    expect(dayOf(at('00:00'), '00:00')).toBe('2026-08-01')
    expect(dayOf(at('03:59'), '04:00')).toBe('2026-07-31')
    expect(dayOf(at('04:00'), '04:00')).toBe('2026-08-01')
  })
})
