import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hundredths, nutrientsOf, perNutrient, sumOf, totalsOf } from './amounts.ts'
import { GRAMS_MAX, ITEMS_MAX, KCAL_MAX, type MealItem, type MealNutrients } from './schemas.ts'

const nothing = perNutrient(() => null)
const of = (more: Partial<MealNutrients>): MealNutrients => ({ ...nothing, ...more })

describe('unknown is not zero', () => {
  test('a sum of nothing known is unknown', () => {
    expect(sumOf([])).toEqual(nothing)
    expect(sumOf([nothing, nothing])).toEqual(nothing)
  })

  test('what is unknown is left out, and zero is known', () => {
    expect(sumOf([of({ fat_g: 0 }), of({ fat_g: 3, fiber_g: 1 }), nothing])).toEqual(
      of({ fat_g: 3, fiber_g: 1 }),
    )
    expect(sumOf([of({ fat_g: 0 }), nothing]).fat_g).toBe(0)
  })

  test('a day says how many meals are not counted, for energy and for each nutrient', () => {
    const meals = [of({ energy_kcal: 400, protein_g: 10 }), of({ energy_kcal: 0 }), nothing]
    expect(
      totalsOf(
        meals.map((nutrients) => ({ nutrients })),
        2,
      ),
    ).toEqual({
      ...of({ energy_kcal: 400, protein_g: 10 }),
      ...{ meals: 3, uncounted: 1, waiting: 2 },
      unknown: { energy_kcal: 1, protein_g: 2, carbohydrate_g: 3, fat_g: 3, fiber_g: 3 },
    })
  })
})

describe('sums', () => {
  test('have no dust of binary fractions, and no -0', () => {
    expect(sumOf([of({ fat_g: 0.1 }), of({ fat_g: 0.2 })]).fat_g).toBe(0.3)
    expect(Object.is(hundredths(-0), 0)).toBe(true)
    expect(Object.is(hundredths(-0.001), 0)).toBe(true)
  })

  test('of whatever may be written are finite, not negative, and the sums of the parts', () => {
    const amount = (max: number) => fc.option(fc.double({ min: 0, max, noNaN: true }).map(hundredths))
    const nutrients = fc.record({
      energy_kcal: amount(KCAL_MAX),
      ...Object.fromEntries(
        ['protein_g', 'carbohydrate_g', 'fat_g', 'fiber_g'].map((name) => [name, amount(GRAMS_MAX)]),
      ),
    }) as fc.Arbitrary<MealNutrients>
    fc.assert(
      fc.property(fc.array(nutrients, { maxLength: ITEMS_MAX }), (parts) => {
        const items = parts.map((one) => ({ nutrients: one }) as MealItem)
        for (const [name, sum] of Object.entries(nutrientsOf(items)) as [
          keyof MealNutrients,
          number | null,
        ][]) {
          const known = parts.flatMap((one) => one[name] ?? [])
          if (known.length === 0) expect(sum).toBeNull()
          else {
            expect(Number.isFinite(sum)).toBe(true)
            expect(sum!).toBeGreaterThanOrEqual(Math.max(...known) - 0.005)
            expect(sum!).toBeCloseTo(
              known.reduce((a, b) => a + b, 0),
              2,
            )
          }
        }
      }),
    )
  })
})
