import { describe, expect, test } from 'vitest'
import {
  type AllowanceUse,
  countOf,
  hasRoomFor,
  isNews,
  periodEndsAtMs,
  periodOf,
  type StepState,
  standingOf,
} from './allowance.ts'

const PERIODS: AllowanceUse['per'][] = ['hour', 'day', 'month']
const at = (text: string) => Date.parse(text)

describe('periods', () => {
  test.each([
    { now: '2026-11-29T20:41:07.123Z', hour: '2026-11-29T20', day: '2026-11-29', month: '2026-11' },
    { now: '2026-12-31T23:59:59.999Z', hour: '2026-12-31T23', day: '2026-12-31', month: '2026-12' },
    { now: '2027-01-01T00:00:00.000Z', hour: '2027-01-01T00', day: '2027-01-01', month: '2027-01' },
    { now: '2028-02-29T12:00:00.000Z', hour: '2028-02-29T12', day: '2028-02-29', month: '2028-02' },
  ])('of $now', ({ now, ...periods }) => {
    for (const per of PERIODS) expect(periodOf(at(now), per)).toBe(periods[per])
  })

  test.each([
    { now: '2026-11-29T20:41:07.123Z', hour: '2026-11-29T21', day: '2026-11-30', month: '2026-12-01' },
    { now: '2026-12-31T23:59:59.999Z', hour: '2027-01-01T00', day: '2027-01-01', month: '2027-01-01' },
    { now: '2027-01-01T00:00:00.000Z', hour: '2027-01-01T01', day: '2027-01-02', month: '2027-02-01' },
    { now: '2028-02-28T23:30:00.000Z', hour: '2028-02-29T00', day: '2028-02-29', month: '2028-03-01' },
  ])('after $now', ({ now, hour, day, month }) => {
    expect(periodEndsAtMs(at(now), 'hour')).toBe(at(`${hour}:00:00Z`))
    expect(periodEndsAtMs(at(now), 'day')).toBe(at(`${day}T00:00:00Z`))
    expect(periodEndsAtMs(at(now), 'month')).toBe(at(`${month}T00:00:00Z`))
  })

  test('each ends where the next begins, over two years of hours', () => {
    for (const per of PERIODS) {
      const endMs = at('2029-01-01T00:00:00Z')
      let atMs = at('2027-01-01T00:00:00Z')
      let count = 0
      while (atMs < endMs) {
        const nextMs = periodEndsAtMs(atMs, per)
        expect(periodOf(nextMs - 1, per)).toBe(periodOf(atMs, per))
        expect(periodOf(nextMs, per)).not.toBe(periodOf(atMs, per))
        expect(periodEndsAtMs(nextMs - 1, per)).toBe(nextMs)
        atMs = nextMs
        count++
      }
      expect(count).toBe({ hour: 731 * 24, day: 731, month: 24 }[per])
    }
  })
})

describe('hasRoomFor', () => {
  test.each([
    { used: 0, reserved: 0, unknown: 0, limit: 0, has: false },
    { used: 0, reserved: 0, unknown: 0, limit: 1, has: true },
    { used: 1, reserved: 0, unknown: 0, limit: 1, has: false },
    { used: 0, reserved: 1, unknown: 0, limit: 1, has: false },
    { used: 0, reserved: 0, unknown: 1, limit: 1, has: false },
    { used: 1, reserved: 1, unknown: 1, limit: 4, has: true },
    { used: 2, reserved: 1, unknown: 1, limit: 4, has: false },
    { used: 9, reserved: 0, unknown: 0, limit: 4, has: false },
  ])('$used used, $reserved reserved, $unknown unknown of $limit', ({ limit, has, ...allowance }) => {
    expect(hasRoomFor(allowance, limit)).toBe(has)
  })
})

describe('standingOf', () => {
  const step = (state: StepState, epoch = 3) => ({ state, epoch, providerId: 'p-1', result: { kcal: 500 } })
  const now = { epoch: 3, evenIfUnknown: false }
  const retry = { epoch: 3, evenIfUnknown: true }

  test('nothing stands in the way of what was never opened, or was refunded', () => {
    expect(standingOf(undefined, now)).toBeNull()
    expect(standingOf(step('refunded'), now)).toBeNull()
    expect(standingOf(step('refunded', 2), retry)).toBeNull()
  })

  test.each([2, 3])('what is settled or submitted is found, whoever opened it (epoch %s)', (epoch) => {
    for (const policy of [now, retry]) {
      expect(standingOf(step('settled', epoch), policy)).toEqual({ state: 'settled', result: { kcal: 500 } })
      expect(standingOf(step('submitted', epoch), policy)).toEqual({ state: 'submitted', providerId: 'p-1' })
    }
  })

  test('what this very attempt has reserved is open', () => {
    expect(standingOf(step('reserved'), now)).toEqual({ state: 'open' })
    expect(standingOf(step('reserved'), retry)).toEqual({ state: 'open' })
  })

  test('what an attempt that is gone has reserved is unknown, and may be paid again if that is the policy', () => {
    for (const gone of [step('reserved', 2), step('unknown', 2), step('unknown', 3)]) {
      expect(standingOf(gone, now)).toEqual({ state: 'unknown' })
      expect(standingOf(gone, retry)).toBeNull()
    }
  })
})

test('countOf: each state of a step is counted in one place, a refunded one nowhere', () => {
  const states: StepState[] = ['reserved', 'submitted', 'unknown', 'settled', 'refunded']
  expect(states.map(countOf)).toEqual(['reserved', 'reserved', 'unknown', 'used', null])
})

describe('isNews', () => {
  const changes = [
    { state: 'submitted', providerId: 'p-1' },
    { state: 'submitted', providerId: 'p-2' },
    { state: 'settled' },
    { state: 'refunded' },
  ] as const

  test.each([
    { state: 'reserved', providerId: null, news: [true, true, true, true] },
    { state: 'submitted', providerId: 'p-1', news: [false, true, true, true] },
    { state: 'unknown', providerId: null, news: [true, true, true, true] },
    { state: 'refunded', providerId: 'p-1', news: [true, true, true, false] },
    { state: 'settled', providerId: 'p-1', news: [false, false, false, false] },
  ] as const)('of a step that is $state', ({ news, ...step }) => {
    expect(changes.map((change) => isNews(step, change))).toEqual(news)
  })
})
