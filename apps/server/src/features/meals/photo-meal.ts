import type { Transaction } from '@garner/db'
import type { Estimate, Nutrients, Outcome } from './estimate.ts'
import type { EntryRow } from './intake/entry.ts'

/** What a meal says of itself while there is nothing else to say. */
export const PLACEHOLDER = 'Photo meal — description pending'

/** What an estimate, or the lack of one, makes of a meal. */
export interface MealWords {
  description: string
  /** JSON. */
  items: string
  nutrients: Nutrients
  estimate: 'estimated' | 'none' | 'unknown'
  reason: string | null
  isAiAssisted: boolean
}

export function wordsOf(outcome: Exclude<Outcome, { outcome: 'unusable' }>): MealWords {
  const { description, items } = outcome.estimate
  return {
    ...{ description, items: JSON.stringify(items), nutrients: totalOf(outcome.estimate) },
    estimate: outcome.outcome === 'estimated' ? 'estimated' : 'none',
    reason: outcome.outcome === 'estimated' ? null : outcome.reason,
    isAiAssisted: true,
  }
}

export function placeholder(reason: string): MealWords {
  const nutrients = { energy_kcal: null, protein_g: null, carbohydrate_g: null, fat_g: null, fiber_g: null }
  return {
    ...{ description: PLACEHOLDER, items: '[]', nutrients, reason, isAiAssisted: false },
    estimate: reason === 'billing_unknown' ? 'unknown' : 'none',
  }
}

/** The total is always the sum of the items; unknown, and not zero, where no item says anything. */
function totalOf({ items }: Estimate): Nutrients {
  const sum = (name: keyof Nutrients) => {
    const known = items.flatMap(({ nutrients }) => nutrients[name] ?? [])
    if (known.length === 0) return null
    return Math.round(known.reduce((total, amount) => total + amount, 0) * 100) / 100
  }
  return {
    ...{
      energy_kcal: sum('energy_kcal'),
      protein_g: sum('protein_g'),
      carbohydrate_g: sum('carbohydrate_g'),
    },
    ...{ fat_g: sum('fat_g'), fiber_g: sum('fiber_g') },
  }
}

/** In the order of the statements below. */
export function valuesOf(words: MealWords): (string | number | null)[] {
  const { description, items, nutrients, estimate, reason, isAiAssisted } = words
  return [
    ...[description, items, nutrients.energy_kcal, nutrients.protein_g, nutrients.carbohydrate_g],
    ...[nutrients.fat_g, nutrients.fiber_g, estimate, reason, isAiAssisted ? 1 : 0],
  ]
}

const COLUMNS = [
  ...['description', 'items', 'energy_kcal', 'protein_g', 'carbohydrate_g'],
  ...['fat_g', 'fiber_g', 'estimate', 'reason', 'ai_assisted'],
]
export const SET_WORDS = COLUMNS.map((name) => `${name} = ?`).join(', ')

/**
 * The id is the entry's, so a redo meets the row that is there (J10): it gives words to a placeholder that nobody has
 * touched, and changes nothing else.
 */
const PUT = `INSERT INTO meals (id, user_id, entry_id, date, time, blob, ${COLUMNS.join(', ')},
    is_edited, version, created_at_ms, changed_at_ms)
  VALUES (?, ?, ?, ?, ?, ?, ${COLUMNS.map(() => '?').join(', ')}, 0, 1, ?, ?)
  ON CONFLICT (id) DO UPDATE SET ${COLUMNS.map((name) => `${name} = excluded.${name}`).join(', ')},
    version = meals.version + 1, changed_at_ms = excluded.changed_at_ms
  WHERE meals.is_edited = 0 AND meals.ai_assisted = 0 AND meals.job_id IS NULL`

/** Makes the meal of a photo, at the day and the minute that its entry has by now. */
export async function putMeal(
  tx: Transaction,
  { entry, words, nowMs }: { entry: EntryRow; words: MealWords; nowMs: number },
): Promise<void> {
  const { id, user_id, date, time, blob } = entry
  await tx.run(PUT, ...[id, user_id, id, date, time, blob], ...valuesOf(words), ...[nowMs, nowMs])
}
