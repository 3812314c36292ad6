import type { Meal } from './contract.ts'

/** What a photo without a description is called; the server writes the very same. */
export const PENDING_DESCRIPTION = 'Photo meal — description pending'

/**
 * Why a photo has no estimate, for a person. An unknown word (a newer server) still says what is true of every
 * placeholder.
 */
export function reasonWords(reason: string | null): string {
  switch (reason) {
    case 'allowance_exhausted':
      return 'Today’s estimates were used up when it arrived.'
    case 'no_provider':
      return 'No vision provider is set up. Nothing was counted.'
    case 'billing_unknown':
    case 'answer_lost':
      return 'We could not tell whether the estimate was made, so we did not ask twice.'
    case 'declined':
    case 'cut_short':
    case 'empty_answer':
    case 'malformed_answer':
    case 'not_finite':
    case 'answer_too_large':
      return 'The estimate’s answer could not be used. Nothing was counted.'
    case 'request_refused':
    case 'too_large':
      return 'The provider does not take this photo. Nothing was counted.'
    case 'photo_missing':
      return 'The photo could not be found for the estimate. Nothing was counted.'
    default:
      return 'The estimate did not answer in 3 tries. Nothing was counted.'
  }
}

/** On its card: no estimate, no words of a person. */
export function isPlaceholder(meal: Meal): boolean {
  return meal.has_photo && meal.estimate !== 'estimated' && !meal.is_edited
}

/** Which tag its card has; null for a meal written by hand. */
export function tagOf(meal: Meal): { words: string; isOwn: boolean } | null {
  if (!meal.ai_assisted) return null
  return meal.is_edited ? { words: 'corrected by you', isOwn: true } : { words: 'estimated', isOwn: false }
}

/** `Breakfast`, `Lunch`, …: by the clock, only for a sheet's heading. */
export function mealName(time: string): string {
  const hour = Number(time.slice(0, 2))
  if (hour >= 5 && hour < 11) return 'Breakfast'
  if (hour >= 11 && hour < 15) return 'Lunch'
  if (hour >= 15 && hour < 18) return 'Snack'
  if (hour >= 18 && hour < 23) return 'Dinner'
  return 'Meal'
}
