import { describe, expect, test } from 'vitest'
import {
  ago,
  clockTime,
  clockTimeWithSeconds,
  date,
  dayGroup,
  duration,
  localMoment,
  onDay,
  when,
} from './calendar.ts'

const zone = 'Europe/Berlin'
/** A Saturday afternoon. */
const nowMs = Date.parse('2026-08-29T14:07:00+02:00')
const here = { nowMs, zone }
const at = (text: string) => Date.parse(text)

describe('words for instants', () => {
  test('local moments are of the zone, also across midnight and the change of clocks', () => {
    expect(localMoment(at('2026-08-29T22:30:00Z'), zone)).toMatchObject({
      day: 30,
      hour: 0,
      minute: 30,
      weekday: 6,
    })
    expect(clockTime(at('2026-10-25T00:30:00Z'), zone)).toBe('02:30')
    expect(clockTime(at('2026-10-25T01:30:00Z'), zone)).toBe('02:30')
    expect(clockTimeWithSeconds(at('2026-08-29T12:06:34Z'), zone)).toBe('14:06:34')
    expect(clockTime(at('2026-08-28T22:00:00Z'), zone)).toBe('00:00')
  })

  test.each([
    ['2026-08-29T14:06:52+02:00', 'just now'],
    ['2026-08-29T14:07:40+02:00', 'just now'],
    ['2026-08-29T14:03:10+02:00', '3 min ago'],
    ['2026-08-29T13:07:01+02:00', '59 min ago'],
    ['2026-08-29T13:00:00+02:00', '13:00'],
    ['2026-08-28T18:31:00+02:00', '18:31'],
    ['2026-08-26T08:52:00+02:00', 'Wed 08:52'],
    ['2026-08-22T08:52:00+02:00', '22 August'],
    ['2026-03-03T08:52:00+01:00', '3 March'],
    ['2025-12-31T23:59:00+01:00', '31 December 2025'],
  ])('%s in a row is "%s"', (text, words) => {
    expect(when(at(text), here)).toBe(words)
  })

  test.each([
    ['2026-08-29T13:20:00+02:00', 'today at 13:20'],
    ['2026-08-28T23:59:00+02:00', 'yesterday at 23:59'],
    ['2026-08-26T08:52:00+02:00', 'on Wed at 08:52'],
    ['2025-08-26T08:52:00+02:00', 'on 26 August 2025'],
  ])('%s in a sentence is "%s"', (text, words) => {
    expect(onDay(at(text), here)).toBe(words)
  })

  test.each([
    ['2026-08-29T00:00:00+02:00', 'Today'],
    ['2026-08-30T09:00:00+02:00', 'Today'],
    ['2026-08-28T23:59:59+02:00', 'Yesterday'],
    ['2026-08-27T12:00:00+02:00', 'Earlier this week'],
    ['2026-08-24T00:00:00+02:00', 'Earlier this week'],
    ['2026-08-23T23:59:00+02:00', 'Last week'],
    ['2026-08-17T00:00:00+02:00', 'Last week'],
    ['2026-08-16T23:59:00+02:00', 'In August'],
    ['2026-07-31T12:00:00+02:00', 'In July'],
    ['2025-12-24T12:00:00+01:00', 'In December 2025'],
  ])('%s stands under "%s"', (text, words) => {
    expect(dayGroup(at(text), here)).toBe(words)
  })

  test('on a Monday, Sunday is yesterday and Saturday is last week', () => {
    const monday = { nowMs: at('2026-08-31T09:00:00+02:00'), zone }
    expect(dayGroup(at('2026-08-30T09:00:00+02:00'), monday)).toBe('Yesterday')
    expect(dayGroup(at('2026-08-29T09:00:00+02:00'), monday)).toBe('Last week')
  })

  test('durations never say 0, and ages do not count minutes that do not matter', () => {
    expect([-5, 0, 1, 1_001, 59_000, 60_000, 3_599_000, 7_200_000].map(duration)).toEqual([
      '1 s',
      '1 s',
      '1 s',
      '2 s',
      '59 s',
      '1 min',
      '60 min',
      '2 h',
    ])
    expect(ago(nowMs - 30_000, here)).toBe('just now')
    expect(ago(nowMs - 7_200_000, here)).toBe('2 hours ago')
    expect(ago(nowMs - 86_400_000, here)).toBe('yesterday')
    expect(ago(nowMs - 40 * 86_400_000, here)).toBe('on 20 July')
    expect(date(nowMs, here)).toBe('29 August')
  })
})
