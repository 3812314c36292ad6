import type { UnusableReason } from '../../outbound/vision.ts'

/** The five nutrients of a meal or an item, for the portion; null is unknown, and unknown is not zero. */
export interface Nutrients {
  energy_kcal: number | null
  protein_g: number | null
  carbohydrate_g: number | null
  fat_g: number | null
  fiber_g: number | null
}

/** Where an item's amounts come from. */
export type NutrientSource = 'table' | 'model' | 'hand'

export interface Item {
  food: string
  /** As a person would say it: `1 slice`, `200 ml`; empty when unknown. */
  serving: string
  grams: number | null
  nutrients: Nutrients
  source: NutrientSource
}

/** What a photo was found to show, bounded and clean: plain text, finite amounts, at most 20 items. */
export interface Estimate {
  /** At most 500 characters of plain text. */
  description: string
  items: Item[]
  /** False: the picture shows no food, and the description says what it shows. */
  isFood: boolean
}

/**
 * What came of a photo's description, with the food table's amounts where its match is sure (food/with-table.ts).
 * `no-amounts`: the words are kept and every amount is null. `unusable`: nothing is kept but the placeholder.
 */
export type Outcome =
  | { outcome: 'estimated'; estimate: Estimate }
  | { outcome: 'no-amounts'; estimate: Estimate; reason: 'not_food' | 'absurd_amounts' | 'all_zero' }
  | { outcome: 'unusable'; reason: UnusableReason }
