import { expect, test } from 'vitest'
import { cannedVision } from './canned-vision.ts'

const call = { operationId: 'op', signal: new AbortController().signal, submitted: async () => {} }
const see = (bytes: number[]) => cannedVision().describe(new Uint8Array(bytes), call)

test('the same picture shows the same meal', async () => {
  expect(await see([1, 2, 3])).toEqual(await see([1, 2, 3]))
})

test('pictures show different meals, each of them one that a person could eat', async () => {
  const meals = await Promise.all(Array.from({ length: 200 }, (_, i) => see([i, 7])))
  const names = new Set<string>()
  for (const meal of meals) {
    if (meal.outcome !== 'estimated') throw new Error(meal.outcome)
    names.add(meal.seen.description)
    let kcal = 0
    for (const { grams, nutrients } of meal.seen.items) {
      kcal += nutrients.energy_kcal!
      // What the parts hold together weighs no more than the item.
      expect(nutrients.protein_g! + nutrients.carbohydrate_g! + nutrients.fat_g!).toBeLessThan(grams!)
    }
    expect(kcal).toBeGreaterThan(100)
    expect(kcal).toBeLessThan(1500)
  }
  expect(names.size).toBeGreaterThan(8)
})
