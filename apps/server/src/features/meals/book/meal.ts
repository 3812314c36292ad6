import { photoUrl } from '../photo-url.ts'
import { perNutrient } from './amounts.ts'
import type { Meal, MealItem, MealNutrients, SharedMeal } from './schemas.ts'

/** A row of `meals`, with what its photo's entry says of the time. */
export interface MealRow extends MealNutrients {
  id: string
  user_id: string
  entry_id: string | null
  date: string
  time: string
  description: string
  /** JSON of MealItem[]; `basis` is missing until a person has changed an item. */
  items: string
  estimate: Meal['estimate']
  reason: string | null
  ai_assisted: number
  is_edited: number
  job_id: string | null
  blob: string | null
  version: number
  entry_date: string | null
  entry_time: string | null
  entry_is_guess: number | null
}

/** For SELECT: everything of MealRow. */
export const MEAL_ROWS = `SELECT m.*, e.date AS entry_date, e.time AS entry_time, e.is_guess AS entry_is_guess
  FROM meals m LEFT JOIN photo_entries e ON e.id = m.entry_id`

export function toMeal(row: MealRow): Meal {
  const { id, date, time, description, estimate, reason, version, blob } = row
  return {
    ...{ id, date, time, is_time_guess: isTimeGuess(row), description },
    items: itemsOf(row),
    nutrients: perNutrient((name) => row[name]),
    ai_assisted: row.ai_assisted === 1,
    ...{ estimate, reason },
    is_estimating: row.job_id !== null,
    is_edited: row.is_edited === 1,
    has_photo: blob !== null,
    photo_url: blob === null ? null : photoUrl(id, blob),
    version,
  }
}

/** The same for somebody with a share's link: nothing about how it came about, and photos only if they are shared. */
export function toSharedMeal(row: MealRow, photoAt: ((id: string) => string) | null): SharedMeal {
  const { reason, is_estimating, is_edited, version, ...shown } = toMeal(row)
  const hasPhoto = shown.has_photo && photoAt !== null
  return { ...shown, has_photo: hasPhoto, photo_url: hasPhoto ? photoAt(row.id) : null }
}

export function itemsOf({ items }: Pick<MealRow, 'items'>): MealItem[] {
  return (JSON.parse(items) as (Omit<MealItem, 'basis'> & Partial<MealItem>)[]).map((item) => ({
    ...item,
    basis: item.basis ?? null,
  }))
}

/** A guess stays one until its person moves the meal. */
function isTimeGuess({ date, time, entry_date, entry_time, entry_is_guess }: MealRow): boolean {
  return entry_is_guess === 1 && entry_date === date && entry_time === time
}
