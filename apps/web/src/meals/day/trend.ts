import { addDays } from '../../words/local-day.ts'
import type { Day, Nutrient } from '../contract.ts'
import { totalOf, typicalMealKcal } from './total.ts'

/** One day of the chart. `counted` is null when nothing was logged; `coming` is a guess at what is not counted yet. */
export interface TrendDay {
  date: string
  counted: number | null
  coming: number
  uncounted: number
}

export interface Trend {
  days: TrendDay[]
  /** Over days with meals that are all counted, and past: a day half eaten would pull it down. Null when there is none. */
  average: number | null
  completeDays: number
  /** Each day with the six before it, over the complete ones among them; null where there are fewer than two. */
  weekly: (number | null)[]
  /** The top of the scale, a round number in the nutrient's own unit. */
  top: number
}

export const TREND_DAYS = 30

/** Shape: exactly 30 days, the last one `today`, also where the server has nothing to say about a day. */
export function trendOf(
  days: readonly Day[],
  { nutrient, today, goal }: { nutrient: Nutrient; today: string; goal: number | null },
): Trend {
  const known = new Map(days.map((day) => [day.date, day]))
  const typicalKcal = typicalMealKcal(days)
  const series = Array.from({ length: TREND_DAYS }, (_, i): TrendDay => {
    const date = addDays(today, i - TREND_DAYS + 1)
    const day = totalOf(known.get(date))
    const counted = day.meals === 0 ? null : (day.amounts[nutrient] ?? 0)
    return { date, counted, uncounted: day.uncounted, coming: 0 }
  })
  const isComplete = (day: TrendDay) => day.counted !== null && day.uncounted === 0 && day.date !== today
  const complete = series.filter(isComplete)
  const average = complete.length === 0 ? null : sum(complete) / complete.length
  const perMeal = nutrient === 'energy_kcal' ? typicalKcal : typicalOther(days, nutrient)
  for (const day of series) day.coming = day.uncounted * perMeal
  const weekly = series.map((_, i) => {
    const window = series.slice(Math.max(0, i - 6), i + 1).filter(isComplete)
    return window.length < 2 ? null : sum(window) / window.length
  })
  const highest = Math.max(goal ?? 0, ...series.map((day) => (day.counted ?? 0) + day.coming))
  const top = roundTop(highest > 0 ? highest : EMPTY_TOP[nutrient])
  return { days: series, average, completeDays: complete.length, weekly, top }
}

/** The scale of an empty chart: about what days usually come to. */
const EMPTY_TOP: Record<Nutrient, number> = {
  energy_kcal: 2400,
  protein_g: 120,
  carbohydrate_g: 240,
  fat_g: 90,
  fiber_g: 30,
}

function sum(days: readonly TrendDay[]): number {
  return days.reduce((total, day) => total + (day.counted ?? 0), 0)
}

function typicalOther(days: readonly Day[], nutrient: Nutrient): number {
  const known = days
    .flatMap((day) => day.meals.map((meal) => meal.nutrients[nutrient]))
    .filter((amount): amount is number => amount !== null)
    .sort((a, b) => a - b)
  return known[Math.floor(known.length / 2)] ?? 0
}

/** Three equal steps of a round number, so that the lines stand where one can read them. */
export function roundTop(highest: number): number {
  const step = Math.max(highest, 1) / 3
  const power = 10 ** Math.floor(Math.log10(step))
  const nice = [1, 1.5, 2, 2.5, 3, 4, 5, 10].find((factor) => factor * power >= step - 1e-9) ?? 10
  return nice * power * 3
}

/** The line of weekly averages as SVG path data over a box of 300 by 100; it breaks where a day has none. */
export function averagePath(weekly: readonly (number | null)[], top: number): string {
  let path = ''
  let isDown = false
  for (const [i, value] of weekly.entries()) {
    if (value === null) {
      isDown = false
      continue
    }
    const x = (300 / weekly.length) * (i + 0.5)
    const y = 100 - (Math.min(value, top) / top) * 100
    path += `${isDown ? 'L' : 'M'}${round(x)} ${round(y)}`
    isDown = true
  }
  return path
}

const round = (value: number) => Math.round(value * 10) / 10

/** Which days are named under the chart: the first, the last and every fifth between. */
export function axisDays(days: readonly TrendDay[]): string[] {
  const last = days.length - 1
  return days.filter((_, i) => (i % 5 === 0 && last - i >= 3) || i === last).map((day) => day.date)
}
