import { describe, expect, test } from 'vitest'
import type { Described, SeenItem } from '../../../outbound/vision.ts'
import { COMMON } from './common.ts'
import { foodTable } from './table.ts'
import { applyTable, withTable } from './with-table.ts'

/** Names as vision models write them, with the entry that a person would choose, or null where none would be sure. */
const NAMES: Record<string, string | null> = {
  rice: '20045',
  'White rice, cooked': '20045',
  'steamed rice': '20045',
  'brown rice': '20037',
  'fried rice': null,
  Spaghetti: '20121',
  'spaghetti with tomato sauce': null,
  'Mashed potatoes': '11371',
  'French fries': '11403',
  'roasted potatoes': null,
  oatmeal: '08121',
  'White bread (2 slices)': '18069',
  'Whole-grain bread': '18075',
  bread: null,
  sandwich: null,
  'ham and cheese sandwich': null,
  croissant: '18239',
  'steamed broccoli': '11091',
  'Broccoli florets': '11091',
  'broccoli with cheese sauce': null,
  'cherry tomatoes': '11529',
  'Sliced cucumber': '11205',
  carrots: '11124',
  'cooked carrots': '11125',
  'carrot cake': null,
  'Green beans, cooked': '11053',
  'green peas': '11305',
  spinach: '11457',
  'mixed salad': null,
  'Caesar salad': null,
  lettuce: '11253',
  'red cabbage': '11112',
  celery: '11143',
  mushrooms: '11260',
  'Mushroom soup': null,
  avocado: '09037',
  apple: '09003',
  'Apple slices': '09003',
  'apple pie': null,
  banana: '09040',
  'banana bread': null,
  strawberries: '09316',
  blueberries: '09050',
  'blueberry muffin': '18274',
  grapes: '09132',
  raisins: null,
  figs: '09089',
  'fruit salad': null,
  'boiled egg': '01129',
  'Hard-boiled eggs (2)': '01129',
  'fried egg': '01128',
  'Scrambled eggs': '01132',
  'egg fried noodles': null,
  milk: '01077',
  'milk chocolate': '19120',
  milkshake: null,
  'plain yogurt': '01116',
  'fruit yogurt': null,
  'cheddar cheese': '01009',
  brie: '01006',
  cheese: null,
  cheesecake: null,
  butter: '01001',
  'butter chicken': null,
  'olive oil': '04053',
  mustard: null,
  'Grilled chicken breast': '05064',
  'chicken breast, grilled': '05064',
  'breaded chicken breast': null,
  'grilled chicken': null,
  'chicken curry': null,
  chicken: null,
  'Grilled salmon': '15237',
  'smoked salmon': null,
  'tuna salad': '15128',
  shrimp: '15151',
  'fish and chips': null,
  steak: null,
  burger: null,
  'cheese pizza': null,
  lentils: '16070',
  'lentil soup': null,
  hummus: '16158',
  almonds: '12061',
  cashews: '12087',
  honey: '19296',
  'honey mustard dressing': null,
  water: '14411',
  'Black coffee': '14209',
  'coffee with milk': null,
  'iced latte': null,
  'orange juice': '09206',
  beer: '14003',
  '': null,
  '🍕': null,
  'cut-up thing': null,
}

const item = (food: string, grams: number | null, kcal: number | null): SeenItem => ({
  ...{ food, serving: '', grams },
  nutrients: { energy_kcal: kcal, protein_g: 1, carbohydrate_g: 1, fat_g: 1, fiber_g: null },
})
const estimated = (...items: SeenItem[]): Described => ({
  outcome: 'estimated',
  seen: { description: 'A plate', isFood: true, items },
})

describe('the food table', () => {
  test('matches names with the entry that a person would choose, and never with another', async () => {
    const match = await foodTable()
    const found = Object.entries(NAMES).map(([name, id]) => ({ name, id, got: match(name)?.id ?? null }))
    const wrong = found.filter(({ id, got }) => got !== null && got !== id)
    const missed = found.filter(({ id, got }) => id !== null && got === null)
    expect({ wrong, missed }).toEqual({ wrong: [], missed: [] })
  })

  test('has every entry that a usual name stands for, and no name that stands for two', async () => {
    const match = await foodTable()
    for (const [id, names] of Object.entries(COMMON)) {
      for (const name of names) expect([name, match(name)?.id]).toEqual([name, id])
    }
  })

  test('gives the amounts of the weight that was seen', async () => {
    const outcome = await withTable(estimated(item('rice', 180, 234), item('grilled chicken', 140, 231)))
    expect(outcome).toMatchObject({
      outcome: 'estimated',
      estimate: {
        items: [
          { food: 'rice', source: 'table', nutrients: { energy_kcal: 234, protein_g: 4.84, fiber_g: 0.72 } },
          { food: 'grilled chicken', source: 'model', nutrients: { energy_kcal: 231, protein_g: 1 } },
        ],
      },
    })
  })

  test('leaves the model its amounts where there is no weight, or where it saw twice the energy, or half', async () => {
    const { items } = await estimateOf(
      estimated(
        item('rice', null, 234),
        item('rice', 100, 300),
        item('rice', 100, 60),
        item('rice', 100, null),
      ),
    )
    expect(items.map(({ source }) => source)).toEqual(['model', 'model', 'model', 'table'])
  })

  test('zeros that were doubted are believed when the table knows everything on the picture', async () => {
    const water = { ...item('water', 250, null) }
    const doubted = (...items: SeenItem[]): Described => ({
      ...{ outcome: 'no-amounts', reason: 'all_zero' },
      seen: { description: 'A glass', isFood: true, items },
    })
    expect(await withTable(doubted(water))).toMatchObject({
      outcome: 'estimated',
      estimate: { items: [{ source: 'table', nutrients: { energy_kcal: 0 } }] },
    })
    const strange = await withTable(doubted(water, item('a strange thing', 100, null)))
    expect(strange).toMatchObject({ outcome: 'no-amounts', reason: 'all_zero' })
    expect(strange.outcome === 'no-amounts' && strange.estimate.items[0]!.source).toBe('model')
  })

  test('passes on what cannot be used', () => {
    const unusable: Described = { outcome: 'unusable', reason: 'declined' }
    expect(applyTable(unusable, () => null)).toEqual(unusable)
  })
})

async function estimateOf(described: Described) {
  const outcome = await withTable(described)
  if (outcome.outcome === 'unusable') throw new Error('no estimate')
  return outcome.estimate
}
