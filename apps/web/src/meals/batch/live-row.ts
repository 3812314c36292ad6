import type { Meal, Pending } from '../contract.ts'
import type { Row } from './row.ts'

/** What became of an uploaded photo, as far as the server has said. */
export type Fate =
  | { is: 'queued'; before: number }
  | { is: 'describing' }
  | { is: 'retrying'; nextTry: string | null }
  | { is: 'logged'; meal: Meal | null }
  | { is: 'placeholder'; reason: string | null; meal: Meal | null }
  | { is: 'dead' }
  | { is: 'discarded' }

/** The meal that a photo became has the id of its entry. Null for a row that is not uploaded. */
export function fateOf(
  row: Row,
  pending: Pending | undefined,
  mealOf: (id: string) => Meal | null,
): Fate | null {
  if (row.upload.is !== 'uploaded') return null
  const { entryId } = row.upload
  const waiting = pending?.entries.find((entry) => entry.id === entryId)
  if (waiting?.state === 'describing') return { is: 'describing' }
  if (waiting?.state === 'retrying') return { is: 'retrying', nextTry: waiting.next_try }
  if (waiting) return { is: 'queued', before: waiting.before }
  const ended = pending?.finished.find((entry) => entry.id === entryId)
  const meal = mealOf(ended?.meal_id ?? entryId)
  if (ended?.state === 'dead') return { is: 'dead' }
  if (ended?.state === 'discarded') return { is: 'discarded' }
  if (ended?.state === 'placeholder' || (meal && meal.estimate !== 'estimated' && !meal.is_edited))
    return { is: 'placeholder', reason: ended?.reason ?? meal?.reason ?? null, meal }
  if (ended || meal) return { is: 'logged', meal }
  // Accepted a moment ago, and the next look has not come yet.
  return { is: 'queued', before: 0 }
}
