import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readAnswer } from './answer.ts'
import type { Described, SeenItem } from './vision.ts'

const RICE = {
  ...{ food: 'rice', serving: '1 cup', grams: 180, energy_kcal: 234 },
  ...{ protein_g: 4.3, carbohydrate_g: 51, fat_g: 0.5, fiber_g: 0.6 },
}
const answer = (items: unknown, more: object = {}) =>
  readAnswer(JSON.stringify({ is_food: true, description: 'A plate', items, ...more }))

function itemsOf(described: Described): SeenItem[] {
  if (described.outcome === 'unusable') throw new Error(described.reason)
  return described.seen.items
}

describe('what is kept of an answer', () => {
  test('words and amounts as they were stated', () => {
    expect(answer([RICE])).toEqual({
      outcome: 'estimated',
      seen: {
        ...{ description: 'A plate', isFood: true },
        items: [
          {
            ...{ food: 'rice', serving: '1 cup', grams: 180 },
            nutrients: { energy_kcal: 234, protein_g: 4.3, carbohydrate_g: 51, fat_g: 0.5, fiber_g: 0.6 },
          },
        ],
      },
    })
  })

  test('amounts per 100 g are not the portion’s: a key that was not asked for is ignored', () => {
    const [item] = itemsOf(answer([{ food: 'chicken thigh', grams: 145, energy_kcal_per_100g: 199 }]))
    expect(item).toMatchObject({ grams: 145, nutrients: { energy_kcal: null } })
  })

  test('20 items at most, and only those with a name', () => {
    expect(itemsOf(answer(Array.from({ length: 25 }, () => RICE)))).toHaveLength(20)
    expect(itemsOf(answer([RICE, { grams: 5 }, null, 7, { food: '<b></b>' }, 'bread']))).toHaveLength(2)
  })

  test('without a description the foods are one', () => {
    expect(answer([RICE, { ...RICE, food: 'beans' }], { description: null })).toMatchObject({
      seen: { description: 'rice, beans' },
    })
  })

  test('no food is told, and has no items', () => {
    expect(answer([RICE], { is_food: false })).toEqual({
      ...{ outcome: 'no-amounts', reason: 'not_food' },
      seen: { description: 'A plate', isFood: false, items: [] },
    })
  })

  test.for([
    ['10,001 kcal in all', { ...RICE, energy_kcal: 10_001 }],
    ['2,001 g of one item', { ...RICE, grams: 2_001 }],
    ['2,001 g of fat', { ...RICE, fat_g: 2_001 }],
    ['nothing but negative amounts', { food: 'rice', energy_kcal: -5, fat_g: -1 }],
  ])('%s: the words stay, no amount does', ([, item]) => {
    const described = answer([item])
    expect(described).toMatchObject({ outcome: 'no-amounts', reason: 'absurd_amounts' })
    expect(itemsOf(described)[0]!.grams).toBeNull()
    expect(Object.values(itemsOf(described)[0]!.nutrients)).toEqual([null, null, null, null, null])
  })

  test('what a meal can hold just so is kept', () => {
    expect(answer([{ ...RICE, energy_kcal: 10_000, grams: 2_000 }])).toMatchObject({ outcome: 'estimated' })
  })

  test('a negative amount among good ones is unknown, the others stand', () => {
    const [item] = itemsOf(answer([{ ...RICE, fat_g: -3 }]))
    expect(item!.nutrients).toMatchObject({ fat_g: null, protein_g: 4.3 })
  })

  test('all zero is no estimate; a weight is kept, for the food table', () => {
    const zero = { energy_kcal: 0, protein_g: 0, carbohydrate_g: 0, fat_g: 0, fiber_g: 0 }
    const described = answer([{ food: 'water', grams: 250, ...zero }])
    expect(described).toMatchObject({ outcome: 'no-amounts', reason: 'all_zero' })
    expect(itemsOf(described)[0]).toMatchObject({ grams: 250, nutrients: { energy_kcal: null } })
  })

  test('energy in kJ is converted: said so, or four times what the nutrients have', () => {
    const kj = { ...RICE, energy_kcal: 979 }
    expect(itemsOf(answer([kj]))[0]!.nutrients.energy_kcal).toBeCloseTo(234, 0)
    const said = answer([{ food: 'light beer', energy_kcal: 418 }], { energy_unit: 'kJ' })
    expect(itemsOf(said)[0]!.nutrients.energy_kcal).toBeCloseTo(100, 0)
  })

  test('a light beer has four times the energy of its nutrients, and keeps it', () => {
    const beer = { food: 'light beer', energy_kcal: 103, protein_g: 0.8, carbohydrate_g: 5.8, fat_g: 0 }
    expect(itemsOf(answer([beer]))[0]!.nutrients.energy_kcal).toBe(103)
  })

  test.for([
    ['nothing', '', 'empty_answer'],
    ['a sentence', 'I see rice.', 'malformed_answer'],
    ['a schema', '{"type":"object","properties":{"description":{"type":"string"}}}', 'malformed_answer'],
    ['items as an object', '{"description":"x","items":{"rice":1}}', 'malformed_answer'],
    ['only NaN', '{"description":"x","items":[{"food":"rice","energy_kcal":NaN}]}', 'not_finite'],
  ])('%s cannot be used', ([, said, reason]) => {
    expect(readAnswer(said!)).toEqual({ outcome: 'unusable', reason })
  })

  test('NaN beside a number is unknown, and the number stands', () => {
    const said = '{"description":"x","items":[{"food":"rice","energy_kcal":NaN,"fat_g":2}]}'
    expect(itemsOf(readAnswer(said))[0]!.nutrients).toMatchObject({ energy_kcal: null, fat_g: 2 })
  })

  test('whatever an answer holds, what is kept is within its bounds', () => {
    const value = fc.oneof(fc.double(), fc.string(), fc.anything())
    const item = fc.record(Object.fromEntries(Object.keys(RICE).map((key) => [key, value])), {
      requiredKeys: [],
    })
    const whole = fc.record({
      ...{ description: value, is_food: fc.anything() },
      items: fc.oneof(fc.array(item, { maxLength: 30 }), fc.anything()),
    })
    fc.assert(
      fc.property(whole, (said) => {
        const described = readAnswer(JSON.stringify(said) ?? '')
        if (described.outcome === 'unusable') return
        const { description, items } = described.seen
        expect(description.length).toBeGreaterThan(0)
        expect(description.length).toBeLessThanOrEqual(500)
        expect(items.length).toBeLessThanOrEqual(20)
        const amounts = items.flatMap(({ grams, nutrients }) => [grams, ...Object.values(nutrients)])
        for (const amount of amounts) expect(amount === null || (amount >= 0 && amount <= 10_000)).toBe(true)
      }),
    )
  })
})
