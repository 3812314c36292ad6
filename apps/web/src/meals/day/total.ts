import { UNKNOWN } from '../amounts.ts'
import type { Day, Meal, Nutrients } from '../contract.ts'

/** A meal whose energy nobody knows: it is hatched, never taken for nought. */
export function isCounted(meal: Meal): boolean {
  return meal.nutrients.energy_kcal !== null
}

export interface DayTotal {
  /** Sums over what is known; null where nothing is. */
  amounts: Nutrients
  /** Meals without amounts, and photos that are still on their way to this day. */
  uncounted: number
  /** Meals and photos on their way. */
  meals: number
}

export function totalOf(day: Day | undefined): DayTotal {
  if (!day) return { amounts: UNKNOWN, uncounted: 0, meals: 0 }
  const { meals, uncounted, waiting, unknown: _, ...amounts } = day.totals
  return { amounts, uncounted: uncounted + waiting, meals: meals + waiting }
}

/** `2 meals are not counted yet.`; empty when all are. */
export function uncountedWords(uncounted: number): string {
  if (uncounted === 0) return ''
  return uncounted === 1 ? '1 meal is not counted yet.' : `${uncounted} meals are not counted yet.`
}

/** Where nobody knows what this person eats: a plain main dish. Only ever drawn as a hatch, never added to a sum. */
const PLAIN_MEAL_KCAL = 500

/** What a meal of these days usually comes to (the median, so that one feast does not count for many). */
export function typicalMealKcal(days: readonly Day[]): number {
  const known = days
    .flatMap((day) => day.meals.map((meal) => meal.nutrients.energy_kcal))
    .filter((energy) => energy !== null && energy > 0)
    .sort((a, b) => a! - b!) as number[]
  return known[Math.floor(known.length / 2)] ?? PLAIN_MEAL_KCAL
}

/** Shares of a whole (the goal, or what fills a jar), 0 to 1: what is counted, and what is on its way on top of it. */
export function fillOf(amounts: { counted: number; coming: number; whole: number }): {
  solid: number
  hatched: number
} {
  const { counted, coming, whole } = amounts
  if (whole <= 0) return { solid: 0, hatched: coming > 0 ? 1 : 0 }
  const solid = Math.min(1, counted / whole)
  return { solid, hatched: Math.min(1 - solid, coming / whole) }
}
