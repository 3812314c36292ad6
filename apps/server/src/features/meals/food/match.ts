import { COMMON } from './common.ts'
import { isMixed, keyOf, wordsOf } from './words.ts'

/**
 * Which entry of the food table a name means, or none when that is not sure. Pure, and the same for the same name.
 *
 * A wrong match is worse than none: without one the model's own amounts stand, and it has seen the plate. So a name is
 * matched in two ways only. By `common.ts`, where somebody has said what it means. Or because every entry that the
 * words fit, leaving out special kinds of the food, has about the same energy: then it matters little which it is.
 */
export interface Food {
  /** The database's own number. */
  id: string
  name: string
  /** All per 100 g. */
  energyKcal: number
  proteinG: number
  carbohydrateG: number
  fatG: number
  fiberG: number
}

export type Match = (name: string) => Food | null

/** Entries may differ by 15 %, or by 8 kcal per 100 g, which is nothing on a plate. */
const SPREAD_MAX = 0.15
const SPREAD_KCAL = 8

const USUAL = new Map(
  Object.entries(COMMON).flatMap(([id, names]) =>
    names.map((name): [string, string] => [keyOf(wordsOf(name)), id]),
  ),
)

export function createMatch(foods: Food[]): Match {
  const byId = new Map(foods.map((food) => [food.id, food]))
  const entries = entriesOf(foods)
  return (name) => {
    const words = wordsOf(name)
    const usual = USUAL.get(keyOf(words))
    if (usual !== undefined) return byId.get(usual) ?? null
    if (words.length === 0 || isMixed(name)) return null
    return agreed(fitting(entries, words))
  }
}

/** Written in capitals, as companies like it. */
const BRAND = /[A-Z][A-Z']{2,}/
const FOR_BABIES = /^(Babyfood|Infant formula|Formulated bar)/

interface Entry {
  food: Food
  lower: string
  /** The words before the first comma. */
  head: string[]
  rest: string
}

/** Heads are few and names many: their words are taken once, those of the rest when a name gets that far. */
function entriesOf(foods: Food[]): Entry[] {
  const heads = new Map<string, string[]>()
  return foods
    .filter(({ name }) => !BRAND.test(name) && !FOR_BABIES.test(name))
    .map((food) => {
      const comma = food.name.indexOf(',')
      const text = comma === -1 ? food.name : food.name.slice(0, comma)
      const head = heads.get(text) ?? wordsOf(text)
      heads.set(text, head)
      return { food, lower: food.name.toLowerCase(), head, rest: food.name.slice(text.length) }
    })
}

interface Fit {
  food: Food
  /** Words of the entry that the name has not, and that change nothing. */
  extra: number
}

function fitting(entries: Entry[], words: string[]): Fit[] {
  // Cheap looks first: nearly eight thousand names are gone through. Singular and plural share their beginning.
  const beginnings = words.map((word) => word.slice(0, Math.max(3, word.length - 1)))
  const fits: Fit[] = []
  for (const { food, lower, head, rest } of entries) {
    if (!isHeadNamed(head, words) || !beginnings.every((beginning) => lower.includes(beginning))) continue
    const its = wordsOf(rest)
    if (!words.every((word) => head.includes(word) || its.includes(word))) continue
    const extra = its.filter((word) => !words.includes(word) && !head.includes(word))
    if (extra.every((word) => NEUTRAL.has(word))) fits.push({ food, extra: extra.length })
  }
  return fits
}

/** An entry's first words are what it is ("Broccoli, raw"), or only its shelf ("Nuts, almonds"). */
function isHeadNamed(head: string[], words: string[]): boolean {
  return head.every((word) => words.includes(word) || SHELVES.has(word))
}

const SHELVES = new Set('nut seed fish cheese bean spice crustacean mollusk'.split(' '))

/** Words of an entry that do not make it another food. What is cooked, canned, dried or sweetened is another one. */
const NEUTRAL = new Set([
  ...'raw cooked boiled drained without salt all variety type commercial commercially prepared plain regular'.split(
    ' ',
  ),
  ...'enriched unenriched with added year round average mature mixed specie dry heat moist'.split(' '),
  ...'ripe red whole unspecified common edible to table ready eat purchased'.split(' '),
])

function agreed(fits: Fit[]): Food | null {
  const energies = fits.map(({ food }) => food.energyKcal)
  const [least, most] = [Math.min(...energies), Math.max(...energies)]
  if (fits.length === 0 || most - least > Math.max(SPREAD_KCAL, most * SPREAD_MAX)) return null
  // The plainest entry; of equally plain ones, cooked before raw, as it lies on a plate, and then the first.
  const rank = ({ food, extra }: Fit) => extra * 2 + (/\bcooked\b/.test(food.name) ? 0 : 1)
  return [...fits].sort((a, b) => rank(a) - rank(b) || (a.food.id < b.food.id ? -1 : 1))[0]!.food
}
