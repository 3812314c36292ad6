import {
  type Meal,
  type MealItem,
  type MealNutrients,
  NUTRIENTS,
  type Nutrient,
  type Totals,
} from './schemas.ts'

/** Sums of amounts. What nobody knows is left out, and a sum of nothing known is not zero but unknown. */
export function sumOf(parts: MealNutrients[]): MealNutrients {
  return perNutrient((name) => {
    const known = parts.flatMap((one) => one[name] ?? [])
    return known.length === 0 ? null : hundredths(known.reduce((sum, amount) => sum + amount, 0))
  })
}

export function nutrientsOf(items: MealItem[]): MealNutrients {
  return sumOf(items.map((item) => item.nutrients))
}

/** A day's totals; `waiting` photos are told beside them. */
export function totalsOf(meals: Pick<Meal, 'nutrients'>[], waiting: number): Totals {
  const nutrients = meals.map((meal) => meal.nutrients)
  const unknown = perNutrient((name) => nutrients.filter((one) => one[name] === null).length)
  return { ...sumOf(nutrients), meals: meals.length, uncounted: unknown.energy_kcal, unknown, waiting }
}

/** What is stored of an amount: hundredths are finer than any scale, and 0.1 + 0.2 is 0.3. Never -0. */
export function hundredths(amount: number): number {
  return Math.round(amount * 100) / 100 + 0
}

export function perNutrient<T>(of: (name: Nutrient) => T): Record<Nutrient, T> {
  return Object.fromEntries(NUTRIENTS.map((name) => [name, of(name)])) as Record<Nutrient, T>
}
