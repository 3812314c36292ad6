import { expect, test } from 'vitest'
import { addDays, daysBetween, isDay, isTime, longDay, shortDay, timeOf, todayOf } from './local-day.ts'

test('a day is text, and no zone moves it', () => {
  expect(longDay('2026-08-29', '2026-08-30')).toBe('Saturday 29 August')
  expect(longDay('2025-08-29', '2026-08-30')).toBe('Friday 29 August 2025')
  expect(shortDay('2026-08-24', '2026-08-29')).toBe('Mon 24 Aug')
})

test('days are counted over months, years and clock changes', () => {
  expect(addDays('2026-02-28', 1)).toBe('2026-03-01')
  expect(addDays('2026-01-01', -1)).toBe('2025-12-31')
  expect(addDays('2026-03-29', 1)).toBe('2026-03-30')
  expect(daysBetween('2026-10-24', '2026-10-26')).toBe(2)
})

test('today is the one here', () => {
  const atMs = Date.parse('2026-08-29T23:30:00Z')
  expect([todayOf(atMs, 'Europe/Berlin'), timeOf(atMs, 'Europe/Berlin')]).toEqual(['2026-08-30', '01:30'])
  expect(todayOf(atMs, 'America/Lima')).toBe('2026-08-29')
})

test.each([['2026-02-29'], ['2026-13-01'], ['26-01-01'], ['2026-1-1'], ['']])('%j is no day', (text) => {
  expect(isDay(text)).toBe(false)
})

test('padded minutes only', () => {
  expect(['09:05', '23:59', '9:05', '24:00', '12:60', ''].map(isTime)).toEqual([
    ...[true, true, false, false, false, false],
  ])
})
