import { expect, test } from 'vitest'
import { apartRatio, figureOf, pairedRatio, quantile } from './statistics.ts'

test('a figure is the median of its rounds with their extremes, in whatever order they came', () => {
  expect(figureOf([9, 1, 5, 3, 7])).toEqual({ median: 5, low: 1, high: 9 })
  expect(figureOf([4])).toEqual({ median: 4, low: 4, high: 4 })
  expect(() => figureOf([])).toThrow(RangeError)
})

test('a ratio in turns pairs round with round: a minute that was slow for both changes nothing', () => {
  expect(pairedRatio([10, 2, 10], [5, 1, 5])).toEqual({ median: 2, low: 2, high: 2 })
})

test('a ratio of unequal numbers of rounds cannot pair them: medians, and the widest spread they allow', () => {
  expect(pairedRatio([10, 20, 30], [4, 5])).toEqual(apartRatio([10, 20, 30], [4, 5]))
  expect(apartRatio([10, 20, 30], [4, 5, 10])).toEqual({ median: 4, low: 1, high: 7.5 })
})

test('a quantile is one of the values, by the nearest rank', () => {
  const values = Array.from({ length: 100 }, (_, i) => 100 - i)
  expect(quantile(values, 0.5)).toBe(50)
  expect(quantile(values, 0.99)).toBe(99)
  expect(quantile([3], 0.5)).toBe(3)
  expect(quantile([], 0.5)).toBeNaN()
})
