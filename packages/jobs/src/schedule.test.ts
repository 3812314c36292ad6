import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { firingId, firingsOf, nextInstant, type ScheduleRecord } from './schedule.ts'

const at = (text: string) => Date.parse(`${text}Z`)
const texts = (instants: number[]) => instants.map((one) => new Date(one).toISOString().slice(0, 19))

/** The instants after `from` one by one, as a worker that is always there meets them. */
function following(schedule: { cron: string; zone?: string }, from: number, count: number): number[] {
  const found: number[] = []
  for (let atMs = from; found.length < count; found.push(atMs)) atMs = nextInstant(schedule, atMs)
  return found
}

describe('nextInstant', () => {
  test.each([
    { cron: '0 7 * * 1-5', after: '2026-11-27T06:59:59', next: '2026-11-27T07:00:00' },
    { cron: '0 7 * * 1-5', after: '2026-11-27T07:00:00', next: '2026-11-30T07:00:00' },
    { cron: '*/10 * * * * *', after: '2026-11-27T07:00:01', next: '2026-11-27T07:00:10' },
    { cron: '0 0 29 2 *', after: '2026-11-27T00:00:00', next: '2028-02-29T00:00:00' },
    { cron: '0 7 * * *', zone: 'Europe/Berlin', after: '2026-07-01T00:00:00', next: '2026-07-01T05:00:00' },
    { cron: '0 7 * * *', zone: 'Asia/Kathmandu', after: '2026-07-01T00:00:00', next: '2026-07-01T01:15:00' },
    { cron: ' 0  0 L * * ', after: '2026-02-01T00:00:00', next: '2026-02-28T00:00:00' },
  ])('$cron $zone after $after', ({ after, next, ...schedule }) => {
    expect(texts([nextInstant(schedule, at(after))])).toEqual([next])
  })

  test('is after the given instant, to the millisecond', () => {
    const noon = at('2026-11-27T12:00:00')
    expect(nextInstant({ cron: '* * * * * *' }, noon - 1)).toBe(noon)
    expect(nextInstant({ cron: '* * * * * *' }, noon)).toBe(noon + 1_000)
  })

  test.each([
    { cron: '' },
    { cron: 'daily' },
    { cron: '@daily' },
    { cron: '0 7 * *' },
    { cron: '* * * * * * 2027' },
    { cron: '60 * * * *' },
    { cron: '0 7 * * 1-9' },
    { cron: '2027-01-01T00:00:00' }, // one date, which comes once and then never more
    { cron: '0 0 30 2 *' }, // no such day
    { cron: '0 7 * * *', zone: 'Europe/Nowhere' },
    { cron: '0 7 * * *', zone: '' },
  ])('refuses $cron $zone', (schedule) => {
    expect(() => nextInstant(schedule, at('2026-11-27T00:00:00'))).toThrow(RangeError)
  })
})

describe('a change of clocks', () => {
  const zone = 'Europe/Berlin'

  test.each([
    { cron: '30 2 * * *', fires: ['2026-03-28T01:30:00', '2026-03-29T01:00:00', '2026-03-30T00:30:00'] },
    { cron: '0,30 2 * * *', fires: ['2026-03-28T01:30:00', '2026-03-29T01:00:00', '2026-03-30T00:00:00'] },
    { cron: '30 1,2 * * *', fires: ['2026-03-29T00:30:00', '2026-03-29T01:00:00', '2026-03-29T23:30:00'] },
  ])('what it skips is fired once, at its end: $cron', ({ cron, fires }) => {
    const from = at(fires[0]!) - 1
    expect(texts(following({ cron, zone }, from, 3))).toEqual(fires)
  })

  test.each([
    { cron: '30 2 * * *', fires: ['2026-10-24T00:30:00', '2026-10-25T00:30:00', '2026-10-26T01:30:00'] },
    { cron: '30 2,14 * * *', fires: ['2026-10-25T00:30:00', '2026-10-25T13:30:00', '2026-10-26T01:30:00'] },
  ])('what it repeats is fired once: $cron', ({ cron, fires }) => {
    const from = at(fires[0]!) - 1
    expect(texts(following({ cron, zone }, from, 3))).toEqual(fires)
  })

  test('a pattern with a step goes on through both hours', () => {
    const fires = ['00:00', '00:30', '01:00', '01:30', '02:00'].map((one) => `2026-10-25T${one}:00`)
    expect(texts(following({ cron: '*/30 * * * *', zone }, at('2026-10-24T23:45:00'), 5))).toEqual(fires)
  })
})

describe('firingsOf', () => {
  const record = (part: Partial<ScheduleRecord>) => ({
    ...{ cron: '0 7 * * *', zone: 'UTC', missed: 'once' as const, nextAtMs: at('2026-11-01T07:00:00') },
    ...part,
  })
  const fired = (part: Partial<ScheduleRecord>, now: string) => {
    const { fire, nextAtMs } = firingsOf(record(part), at(now))
    return { fire: texts(fire), next: texts([nextAtMs])[0] }
  }

  test.each(['skip', 'once', 'all'] as const)(
    'nothing before its time, all of it at its time (%s)',
    (missed) => {
      const before = { fire: [], next: '2026-11-01T07:00:00' }
      expect(fired({ missed }, '2026-11-01T06:59:59.999')).toEqual(before)
      const then = { fire: ['2026-11-01T07:00:00'], next: '2026-11-02T07:00:00' }
      expect(fired({ missed }, '2026-11-01T07:00:00')).toEqual(then)
      expect(fired({ missed }, '2026-11-01T07:00:00.500')).toEqual(then)
    },
  )

  test.each([
    { missed: 'skip', now: '2026-11-04T07:01:00', fire: ['2026-11-04T07:00:00'] },
    { missed: 'skip', now: '2026-11-04T07:01:00.001', fire: [] },
    { missed: 'once', now: '2026-11-04T19:00:00', fire: ['2026-11-04T07:00:00'] },
    {
      missed: 'all',
      now: '2026-11-04T19:00:00',
      fire: ['2026-11-01T07:00:00', '2026-11-02T07:00:00', '2026-11-03T07:00:00', '2026-11-04T07:00:00'],
    },
  ] as const)('what was missed: $missed at $now', ({ missed, now, fire }) => {
    expect(fired({ missed }, now)).toEqual({ fire, next: '2026-11-05T07:00:00' })
  })

  test.each([
    { missed: 'skip', count: 1 },
    { missed: 'once', count: 1 },
    { missed: 'all', count: 100 },
  ] as const)('of every second of ten years: $missed', ({ missed, count }) => {
    const nextAtMs = at('2016-11-01T00:00:00')
    const nowMs = at('2026-11-01T00:00:00')
    const { fire, nextAtMs: next } = firingsOf(record({ missed, cron: '* * * * * *', nextAtMs }), nowMs)
    expect(fire).toEqual(Array.from({ length: count }, (_, n) => nowMs - (count - 1 - n) * 1_000))
    expect(next).toBe(nowMs + 1_000)
  })

  test('an instant that the pattern does not know any more is passed over', () => {
    // Its zone has new rules since the instant was stored.
    expect(fired({ nextAtMs: at('2026-11-01T06:00:00') }, '2026-11-01T06:30:00')).toEqual({
      fire: [],
      next: '2026-11-01T07:00:00',
    })
  })

  test('looking back finds what a worker that was always there would have met', () => {
    const aSchedule = fc.record({
      cron: fc.constantFrom(
        ...['*/30 * * * *', '30 2 * * *', '0,30 2 * * *', '15 1-3 * * *', '*/7 * * * *', '0 */6 * * *'],
        ...['30 0 1 * *', '0 12 * * 1', '10 0 2 * * *', '*/20 30 2 * * *', '0 0 * * *'],
      ),
      zone: fc.constantFrom(
        'UTC',
        'Europe/Berlin',
        'America/New_York',
        'Australia/Lord_Howe',
        'Asia/Kathmandu',
      ),
    })
    // Around changes of clocks, where looking back and forward could differ.
    const aStart = fc.constantFrom(
      ...['2026-03-28T12:00:00', '2026-10-24T12:00:00', '2026-10-31T12:00:00', '2026-03-07T12:00:00'],
      ...['2026-04-04T06:00:00', '2026-10-03T06:00:00'],
    )
    fc.assert(
      fc.property(
        aSchedule,
        aStart,
        fc.integer({ min: 1, max: 100 }),
        fc.nat(999),
        (one, start, count, ms) => {
          const met = following(one, at(start), count)
          const nowMs = met.at(-1)! + ms
          const schedule = record({ ...one, missed: 'all', nextAtMs: met[0]! })
          expect(firingsOf(schedule, nowMs)).toEqual({ fire: met, nextAtMs: nextInstant(one, nowMs) })
        },
      ),
    )
  })
})

test('firingId: names the schedule and the instant', () => {
  expect(firingId('digest', 1_000)).toBe('schedule:digest:1000')
  expect(firingId('digest', 1_000)).not.toBe(firingId('digest', 2_000))
})
