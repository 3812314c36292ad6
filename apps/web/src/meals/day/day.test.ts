import { describe, expect, test } from 'vitest'
import { addDays } from '../../words/local-day.ts'
import { dayOf } from '../testing.ts'
import { allowanceDetails, allowanceHeading, leftOf } from './allowance.ts'
import { fillOf, totalOf, typicalMealKcal, uncountedWords } from './total.ts'
import { averagePath, axisDays, roundTop, trendOf } from './trend.ts'

const today = '2026-08-29'
const energy = { nutrient: 'energy_kcal', today, goal: 2100 } as const

describe('the day in numbers', () => {
  test('what is not counted is said and hatched, and never taken for nought', () => {
    const day = totalOf(dayOf(today, [412, null, 318], 1))
    expect(day.amounts.energy_kcal).toBe(730)
    expect(day.uncounted).toBe(2)
    expect(uncountedWords(day.uncounted)).toBe('2 meals are not counted yet.')
    expect(uncountedWords(1)).toBe('1 meal is not counted yet.')
    expect(uncountedWords(0)).toBe('')
    expect(totalOf(dayOf(today, [null])).amounts.energy_kcal).toBeNull()
    expect(totalOf(undefined)).toMatchObject({ uncounted: 0, meals: 0 })
  })

  test('a typical meal is the middle one; one feast does not move it', () => {
    expect(typicalMealKcal([dayOf(today, [400, 500, 4000, null])])).toBe(500)
    expect(typicalMealKcal([])).toBe(500)
  })

  test('solid and hatched together never overflow the whole', () => {
    expect(fillOf({ counted: 1000, coming: 500, whole: 2000 })).toEqual({ solid: 0.5, hatched: 0.25 })
    expect(fillOf({ counted: 1900, coming: 500, whole: 2000 }).hatched).toBeCloseTo(0.05)
    expect(fillOf({ counted: 3000, coming: 500, whole: 2000 })).toEqual({ solid: 1, hatched: 0 })
    expect(fillOf({ counted: 0, coming: 0, whole: 0 })).toEqual({ solid: 0, hatched: 0 })
  })
})

describe('the last 30 days', () => {
  const days = [
    dayOf('2026-08-20', [2000]),
    dayOf('2026-08-21', [1000, null]),
    dayOf('2026-08-22', []),
    dayOf('2026-08-23', [2200]),
    dayOf(today, [500], 1),
  ]
  const trend = trendOf(days, energy)

  test('30 days, the last one today, whatever the server left out', () => {
    expect(trend.days).toHaveLength(30)
    expect([trend.days[0]?.date, trend.days.at(-1)?.date]).toEqual(['2026-07-31', today])
    expect(trend.days.filter((day) => day.counted === null)).toHaveLength(26)
  })

  test('days without meals, half counted ones and today are no part of the average', () => {
    expect([trend.average, trend.completeDays]).toEqual([2100, 2])
    expect(trendOf([], energy).average).toBeNull()
  })

  test('what is not counted stands on top as typical meals', () => {
    const at = (date: string) => trend.days.find((day) => day.date === date)
    expect(at('2026-08-21')).toMatchObject({ counted: 1000, uncounted: 1, coming: 2000 })
    expect(at(today)).toMatchObject({ counted: 500, uncounted: 1 })
  })

  test('the line of weeks needs two complete days, and breaks where there are none', () => {
    const known = trend.weekly.map((value, i) => [trend.days[i]?.date, value]).filter(([, value]) => value)
    expect(known).toEqual(
      ['2026-08-23', '2026-08-24', '2026-08-25', '2026-08-26'].map((date) => [date, 2100]),
    )
    expect(averagePath([null, 50, 100, null, 25], 100)).toBe('M90 50L150 0M270 75')
  })

  test('lines at round numbers, also over an empty chart', () => {
    expect([2600, 95, 31, 0].map((top) => Math.round(roundTop(top) * 10) / 10)).toEqual([3000, 120, 45, 1.2])
    expect(trendOf([], { ...energy, goal: null }).top).toBe(3000)
  })

  test('the first, the last and every fifth day are named, none on top of another', () => {
    const named = axisDays(trend.days)
    expect(named[0]).toBe('2026-07-31')
    expect(named.at(-1)).toBe(today)
    expect(named).toHaveLength(7)
    expect(named.at(-2)).toBe(addDays(today, -4))
  })
})

describe('the allowance in words', () => {
  const allowance = {
    ...{ limit: 50, used: 35, reserved: 3, unknown: 0, resets_at: '2026-08-30T00:00:00Z' },
    ...({ provider: 'ready', provider_reason: null, provider_until: null } as const),
  }
  test('used, set aside, left; what may have been billed counts as used', () => {
    expect(allowanceHeading(allowance)).toBe('12 of 50 estimates left today')
    expect(allowanceDetails(allowance, 'Europe/Berlin')).toBe(
      '35 used, 3 set aside for photos on their way. Starts again at 02:00.',
    )
    expect(leftOf({ ...allowance, unknown: 2 })).toBe(10)
  })
  test('all used', () => {
    const used = { ...allowance, used: 50, reserved: 0 }
    expect(allowanceHeading(used)).toBe('Today’s 50 estimates are used')
    expect(allowanceDetails(used, 'Europe/Berlin')).toBe(
      'Photos are still logged with their time. Describe them from 02:00, or write them yourself.',
    )
    expect(leftOf({ ...used, used: 60 })).toBe(0)
  })
})
