/** Meals and days for tests. */
import { UNKNOWN } from './amounts.ts'
import type { Day, Meal, MealItem, Nutrients } from './contract.ts'

export const kcal = (energy: number | null): Nutrients => ({ ...UNKNOWN, energy_kcal: energy })

export function mealOf(parts: Partial<Meal> = {}): Meal {
  return {
    id: 'm1',
    date: '2026-08-29',
    time: '12:31',
    is_time_guess: false,
    description: 'Lentil salad',
    items: [],
    nutrients: kcal(524),
    ai_assisted: true,
    estimate: 'estimated',
    reason: null,
    is_estimating: false,
    is_edited: false,
    has_photo: true,
    photo_url: '/api/photos/m1?v=1',
    version: 1,
    ...parts,
  }
}

export function itemOf(parts: Partial<MealItem> = {}): MealItem {
  return {
    food: 'Feta',
    serving: '1 slice',
    grams: 50,
    nutrients: { energy_kcal: 130, protein_g: 7, carbohydrate_g: 2, fat_g: 11, fiber_g: null },
    source: 'table',
    basis: null,
    ...parts,
  }
}

export function dayOf(date: string, energies: (number | null)[], waiting = 0): Day {
  const known = energies.filter((energy) => energy !== null)
  const uncounted = energies.length - known.length
  return {
    date,
    meals: energies.map((energy, i) => mealOf({ id: `${date}-${i}`, date, nutrients: kcal(energy) })),
    totals: {
      ...kcal(known.length === 0 ? null : known.reduce((sum, energy) => sum + energy, 0)),
      meals: energies.length,
      uncounted,
      unknown: { energy_kcal: uncounted, protein_g: 0, carbohydrate_g: 0, fat_g: 0, fiber_g: 0 },
      waiting,
    },
  }
}
