import { type Amount, KJ_PER_KCAL, readAmount } from './amount.ts'
import { type Found, findJson } from './find-json.ts'
import { plainText } from './plain.ts'
import type { Described, Seen, SeenItem, SeenNutrients } from './vision.ts'

/**
 * From the words of a model to what Garner keeps: everything a model says is bounded here, before anybody uses it. Pure.
 *
 * Words: plain text, with a length. Items: at most 20, each with a name. Amounts: finite, not negative, null where not
 * stated or not readable; keys that were not asked for are ignored, so that an amount per 100 g is never taken for the
 * portion's. An amount beyond what a meal can hold makes all of them doubtful: the words stay, no amount does.
 */
const DESCRIPTION_MAX = 500
const FOOD_MAX = 100
const SERVING_MAX = 60
/** 20: more dishes than any plate has; what comes after are usually inventions. */
const ITEMS_MAX = 20
/** A meal's most. 10,000 kcal is a whole roast goose with all its dumplings; 2,000 g of one item two litres of soup. */
const MEAL_KCAL_MAX = 10_000
const MEAL_NUTRIENT_MAX_G = 2_000
const ITEM_MAX_G = 2_000

const NUTRIENTS = ['energy_kcal', 'protein_g', 'carbohydrate_g', 'fat_g', 'fiber_g'] as const
const NO_NUTRIENTS: SeenNutrients = {
  ...{ energy_kcal: null, protein_g: null, carbohydrate_g: null, fat_g: null, fiber_g: null },
}

export function readAnswer(said: string): Described {
  if (said.trim() === '') return { outcome: 'unusable', reason: 'empty_answer' }
  const found = findJson(said)
  if (!found) return { outcome: 'unusable', reason: 'malformed_answer' }
  return described(found)
}

function described({ value, hasNotFinite }: Found): Described {
  const stated = value['items'] ?? []
  if (!Array.isArray(stated)) return { outcome: 'unusable', reason: 'malformed_answer' }
  const read = stated.map(readItem).filter((item) => item !== null)
  const items = read.slice(0, ITEMS_MAX).map(({ item }) => item)
  const description = plainText(value['description'], DESCRIPTION_MAX) || foodsOf(items)
  if (description === '') return { outcome: 'unusable', reason: 'malformed_answer' }
  if (isNo(value['is_food']))
    return { outcome: 'no-amounts', reason: 'not_food', seen: { description, isFood: false, items: [] } }

  const seen: Seen = { description, isFood: true, items: inKcal(items, value['energy_unit']) }
  const amounts = seen.items.flatMap(({ nutrients }) => Object.values(nutrients))
  const known = amounts.filter((amount) => amount !== null)
  const hasBad = read.some(({ isBad }) => isBad)
  if (known.length === 0 && hasNotFinite) return { outcome: 'unusable', reason: 'not_finite' }
  if (isBeyondAMeal(seen.items) || (known.length === 0 && hasBad))
    return { outcome: 'no-amounts', reason: 'absurd_amounts', seen: withoutAmounts(seen, false) }
  if (known.length > 0 && known.every((amount) => amount === 0))
    return { outcome: 'no-amounts', reason: 'all_zero', seen: withoutAmounts(seen, true) }
  return { outcome: 'estimated', seen }
}

function readItem(value: unknown): { item: SeenItem; isBad: boolean } | null {
  const stated = typeof value === 'string' ? { food: value } : value
  if (typeof stated !== 'object' || stated === null) return null
  const fields = stated as Record<string, unknown>
  const food = plainText(fields['food'], FOOD_MAX)
  if (food === '') return null
  const read = NUTRIENTS.map((name): [string, Amount] => [
    name,
    readAmount(fields[name], name === 'energy_kcal' ? 'kcal' : 'g'),
  ])
  const grams = readAmount(fields['grams'], 'g')
  const nutrients = Object.fromEntries(read.map(([name, { amount }]) => [name, amount])) as unknown
  return {
    isBad: grams.isBad || read.some(([, { isBad }]) => isBad),
    item: {
      ...{ food, serving: plainText(fields['serving'], SERVING_MAX) },
      // Nothing weighs nothing: a weight of 0 is one that was not guessed.
      grams: grams.amount === 0 ? null : grams.amount,
      nutrients: nutrients as SeenNutrients,
    },
  }
}

function foodsOf(items: SeenItem[]): string {
  return plainText(items.map(({ food }) => food).join(', '), DESCRIPTION_MAX)
}

function isNo(value: unknown): boolean {
  return value === false || (typeof value === 'string' && /^\s*(false|no)\s*$/i.test(value))
}

/**
 * Energy that was stated in kJ, by its unit's word or by arithmetic: protein and carbohydrate have about 4 kcal a gram,
 * fat 9, and a whole answer four times above that is in kJ. Only from `TELLING_KCAL` on: alcohol has energy and is
 * none of the three, so a light beer alone would look the same.
 */
function inKcal(items: SeenItem[], unit: unknown): SeenItem[] {
  const isSaid = typeof unit === 'string' && /^\s*(kj|kilojoules?)\s*$/i.test(unit)
  if (!isSaid && !looksLikeKj(items)) return items
  return items.map((item) => {
    const { energy_kcal: kj } = item.nutrients
    const kcal = kj === null ? null : Math.round((kj / KJ_PER_KCAL) * 10) / 10
    return { ...item, nutrients: { ...item.nutrients, energy_kcal: kcal } }
  })
}

function looksLikeKj(items: SeenItem[]): boolean {
  let stated = 0
  let reckoned = 0
  for (const { nutrients } of items) {
    const { energy_kcal: energy, protein_g: protein, carbohydrate_g: carbohydrate, fat_g: fat } = nutrients
    if (energy === null || protein === null || carbohydrate === null || fat === null) continue
    stated += energy
    reckoned += 4 * protein + 4 * carbohydrate + 9 * fat
  }
  const ratio = stated / reckoned
  return reckoned >= TELLING_KCAL && ratio > KJ_PER_KCAL * 0.88 && ratio < KJ_PER_KCAL * 1.12
}

const TELLING_KCAL = 100

function isBeyondAMeal(items: SeenItem[]): boolean {
  if (items.some(({ grams }) => grams !== null && grams > ITEM_MAX_G)) return true
  return NUTRIENTS.some((name) => {
    const sum = items.reduce((all, { nutrients }) => all + (nutrients[name] ?? 0), 0)
    return sum > (name === 'energy_kcal' ? MEAL_KCAL_MAX : MEAL_NUTRIENT_MAX_G)
  })
}

/** Weights that are not in doubt stay: the food table may know what such a weight holds. */
function withoutAmounts(seen: Seen, keepsGrams: boolean): Seen {
  return {
    ...seen,
    items: seen.items.map((item) => ({
      ...item,
      grams: keepsGrams ? item.grams : null,
      nutrients: NO_NUTRIENTS,
    })),
  }
}
