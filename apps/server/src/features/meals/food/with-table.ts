import type { Described, Seen, SeenItem } from '../../../outbound/vision.ts'
import type { Estimate, Item, Nutrients, Outcome } from '../estimate.ts'
import type { Food, Match } from './match.ts'
import { foodTable } from './table.ts'

/**
 * What a photo's description becomes: for each item the table's amounts for its weight when the match is sure, else
 * the model's own. Done after the paid step, from its stored result: the same every time, and free.
 */
export async function withTable(described: Described): Promise<Outcome> {
  return applyTable(described, described.outcome === 'unusable' ? () => null : await foodTable())
}

/** Pure. */
export function applyTable(described: Described, match: Match): Outcome {
  if (described.outcome === 'unusable') return described
  const estimate = estimateOf(described.seen, match)
  if (described.outcome === 'estimated') return { outcome: 'estimated', estimate }
  const { reason } = described
  // Zeros that were doubted (a glass of water has none): the table knows every item and its weight.
  const isKnown = estimate.items.length > 0 && estimate.items.every(({ source }) => source === 'table')
  if (reason === 'all_zero' && isKnown) return { outcome: 'estimated', estimate }
  return { outcome: 'no-amounts', reason, estimate: estimateOf(described.seen, () => null) }
}

function estimateOf({ description, isFood, items }: Seen, match: Match): Estimate {
  return { description, isFood, items: items.map((item) => itemOf(item, match)) }
}

function itemOf({ food, serving, grams, nutrients }: SeenItem, match: Match): Item {
  const entry = grams === null ? null : match(food)
  if (entry === null || grams === null || !isNear(entry, grams, nutrients.energy_kcal))
    return { food, serving, grams, nutrients, source: 'model' }
  return { food, serving, grams, nutrients: nutrientsOf(entry, grams), source: 'table' }
}

/**
 * The model saw more than the name: when it states twice the entry's energy, or half, it saw something else (a breaded
 * fish, a drained tuna), and the match is not sure after all. Below 20 kcal there is nothing to tell.
 */
function isNear({ energyKcal }: Food, grams: number, statedKcal: number | null): boolean {
  const tableKcal = (energyKcal * grams) / 100
  if (statedKcal === null || Math.max(statedKcal, tableKcal) < 20) return true
  return statedKcal <= tableKcal * 2 && statedKcal >= tableKcal / 2
}

function nutrientsOf(entry: Food, grams: number): Nutrients {
  const of = (per100: number) => Math.round(per100 * grams) / 100
  return {
    energy_kcal: of(entry.energyKcal),
    ...{ protein_g: of(entry.proteinG), carbohydrate_g: of(entry.carbohydrateG) },
    ...{ fat_g: of(entry.fatG), fiber_g: of(entry.fiberG) },
  }
}
