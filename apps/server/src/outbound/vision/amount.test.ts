import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readAmount } from './amount.ts'

const kcal = (value: unknown) => readAmount(value, 'kcal').amount
const grams = (value: unknown) => readAmount(value, 'g').amount

describe('an amount that a model wrote', () => {
  test.for([
    [450, 450],
    [0, 0],
    ['450', 450],
    ['450 kcal', 450],
    ['~30', 30],
    ['about 300 kcal', 300],
    ['ca. 120', 120],
    ['1 200 kcal', 1200],
    ["1'200", 1200],
    ['1,234.5', 1234.5],
    ['1.234,5', 1234.5],
    ['1,234,567', null],
    ['0,25', 0.25],
    ['1046 kJ', 250],
  ] as const)('%j is %j kcal', ([said, amount]) => {
    expect(kcal(said)).toBe(amount)
  })

  test.for([
    ['12,5 g', 12.5],
    ['12.5 g', 12.5],
    ['≈ 180g', 180],
    ['200 ml', 200],
    ['0.5 kg', 500],
    ['1 oz', 28.35],
    ['250 mg', 0.25],
  ] as const)('%j is %j g', ([said, amount]) => {
    expect(grams(said)).toBe(amount)
  })

  test.for(['1,200', '1.200 kcal', '450-500', '2 cups', '12 g', 'many', '', '12,5,3', '1e3', '0x10'])(
    '%j is not read for sure, so it is unknown',
    (said) => {
      expect(readAmount(said, 'kcal')).toEqual({ amount: null, isBad: false })
    },
  )

  test.for([null, undefined, true, [5], { value: 5 }])('%j states nothing', (said) => {
    expect(readAmount(said, 'g')).toEqual({ amount: null, isBad: false })
  })

  test.for([-1, '-30 kcal', Number.NaN, Number.POSITIVE_INFINITY, 'NaN', '-Infinity'])(
    '%j can be nobody’s amount',
    (said) => {
      expect(readAmount(said, 'kcal')).toEqual({ amount: null, isBad: true })
    },
  )

  test('whatever is written, the amount is null or finite and not negative', () => {
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.string(), fc.double()), (said) => {
        const { amount } = readAmount(said, 'g')
        expect(amount === null || (Number.isFinite(amount) && amount >= 0)).toBe(true)
      }),
    )
  })

  test('a number as text, with either decimal sign, is that number', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 9999 }), fc.integer({ min: 0, max: 99 }), (whole, part) => {
        const text = `${whole}.${String(part).padStart(2, '0')}`
        expect(grams(text)).toBe(Number(text))
        expect(grams(`${text.replace('.', ',')} g`)).toBe(Number(text))
      }),
    )
  })
})
