import { createHash } from 'node:crypto'
import type { SeenItem, Vision } from './vision.ts'

/**
 * The demo's vision model: makes up a meal out of the picture's bytes, so the same picture always shows the same meal
 * and another one most likely another. It looks at nothing, sends nothing and costs nothing.
 */
export function cannedVision(): Vision {
  return {
    isConfigured: true,
    describe: async (photo) => ({ outcome: 'estimated', seen: mealOf(photo) }),
    // It has no calls that outlive it.
    resume: async () => ({ outcome: 'unusable', reason: 'answer_lost' }),
    test: async () => ({
      finding: 'simulated',
      detail:
        'Demo mode: a canned model makes a meal up from the bytes of a picture; nothing is sent anywhere.',
    }),
    parked: () => null,
    close: async () => {},
  }
}

function mealOf(photo: Uint8Array): { description: string; isFood: true; items: SeenItem[] } {
  const dice = createHash('sha256').update(photo).digest()
  const [description, foods] = MEALS[dice.readUInt32BE(0) % MEALS.length]!
  const items = foods.map(([food, serving, grams, kcal, protein, carbohydrate, fat, fiber], i): SeenItem => {
    // From 0.8 to 1.2 of the usual portion, in steps that a person might guess.
    const share = 0.8 + (dice[4 + i]! % 9) / 20
    const weight = Math.max(5, Math.round((grams * share) / 5) * 5)
    const of = (per100: number) => Math.round((per100 * weight) / 10) / 10
    return {
      ...{ food, serving, grams: weight },
      nutrients: {
        ...{ energy_kcal: Math.round((kcal * weight) / 100), protein_g: of(protein) },
        ...{ carbohydrate_g: of(carbohydrate), fat_g: of(fat), fiber_g: of(fiber) },
      },
    }
  })
  return { description, isFood: true, items }
}

/** Name, portion in words, its grams, and per 100 g: kcal, protein, carbohydrate, fat, fibre. */
type Portion = [string, string, number, number, number, number, number, number]

const RICE: Portion = ['rice, white, cooked', '1 cup', 160, 130, 2.7, 28, 0.3, 0.4]
const CHICKEN: Portion = ['chicken breast, grilled', '1 piece', 140, 165, 31, 0, 3.6, 0]
const BROCCOLI: Portion = ['broccoli, cooked', '1 cup', 90, 35, 2.4, 7.2, 0.4, 3.3]
const SALMON: Portion = ['salmon, grilled', '1 fillet', 150, 206, 22, 0, 12.4, 0]
const POTATOES: Portion = ['potatoes, boiled', '3 small', 200, 86, 1.7, 20, 0.1, 1.8]
const EGGS: Portion = ['scrambled eggs', '2 eggs', 120, 149, 10, 1.6, 11, 0]
const BREAD: Portion = ['whole wheat bread', '2 slices', 70, 247, 13, 41, 3.4, 7]
const TOMATOES: Portion = ['cherry tomatoes', '1 handful', 80, 18, 0.9, 3.9, 0.2, 1.2]
const AVOCADO: Portion = ['avocado', '1 half', 70, 160, 2, 8.5, 14.7, 6.7]
const LEAVES: Portion = ['lettuce', '1 bowl', 60, 15, 1.4, 2.9, 0.2, 1.3]

const MEALS: [string, Portion[]][] = [
  ['Grilled chicken breast with rice and broccoli', [CHICKEN, RICE, BROCCOLI]],
  [
    'Grilled salmon with boiled potatoes and green beans',
    [SALMON, POTATOES, ['green beans, cooked', '1 cup', 100, 35, 1.9, 7.9, 0.3, 3.2]],
  ],
  ['Scrambled eggs on whole wheat toast with cherry tomatoes', [EGGS, BREAD, TOMATOES]],
  [
    'Oatmeal with banana and blueberries',
    [
      ['oatmeal, cooked', '1 bowl', 240, 71, 2.5, 12, 1.5, 1.7],
      ['banana', '1 medium', 115, 89, 1.1, 23, 0.3, 2.6],
      ['blueberries', '1 handful', 60, 57, 0.7, 14.5, 0.3, 2.4],
    ],
  ],
  [
    'Spaghetti with tomato sauce and parmesan',
    [
      ['spaghetti, cooked', '1 plate', 220, 158, 5.8, 31, 0.9, 1.8],
      ['tomato sauce', '1 ladle', 120, 45, 1.4, 7.5, 1.2, 1.6],
      ['grated parmesan', '1 tablespoon', 10, 431, 38, 4.1, 29, 0],
    ],
  ],
  ['Avocado toast with a boiled egg', [BREAD, AVOCADO, ['boiled egg', '1 egg', 50, 155, 12.6, 1.1, 10.6, 0]]],
  ['Lentil curry with rice', [['lentil curry', '1 bowl', 250, 105, 6, 14, 3, 4.5], RICE]],
  [
    'Green salad with feta, cucumber and olives',
    [
      LEAVES,
      ['feta cheese', '1 piece', 50, 264, 14, 4.1, 21, 0],
      ['cucumber', '1 half', 100, 15, 0.7, 3.6, 0.1, 0.5],
      ['black olives', '6 olives', 25, 115, 0.8, 6.3, 10.7, 3.2],
    ],
  ],
  [
    'Plain yogurt with strawberries and almonds',
    [
      ['plain yogurt', '1 bowl', 180, 61, 3.5, 4.7, 3.3, 0],
      ['strawberries', '1 handful', 100, 32, 0.7, 7.7, 0.3, 2],
      ['almonds', '1 small handful', 20, 575, 21, 22, 49, 12],
    ],
  ],
  [
    'Cheeseburger with French fries',
    [
      ['cheeseburger', '1 burger', 180, 263, 14, 22, 13, 1.3],
      ['French fries', '1 portion', 120, 274, 3.5, 36, 14, 3.4],
    ],
  ],
  [
    'Vegetable soup with a slice of rye bread',
    [
      ['vegetable soup', '1 bowl', 300, 30, 1.1, 5.2, 0.6, 1.1],
      ['rye bread', '1 slice', 35, 258, 8.5, 48, 3.3, 5.8],
    ],
  ],
  ['Salmon bowl with rice and avocado', [SALMON, RICE, AVOCADO, LEAVES]],
  [
    'Cappuccino and a croissant',
    [
      ['croissant', '1 croissant', 60, 406, 8.2, 46, 21, 2.6],
      ['cappuccino', '1 cup', 180, 40, 2.2, 3.4, 1.9, 0],
    ],
  ],
]
