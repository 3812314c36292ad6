import { expect, test } from 'vitest'
import { chanceOf, Rng } from './random.ts'

test('a stream is the same for a seed, another for another, and spread over its range', () => {
  const draw = (seed: number) => {
    const rng = new Rng(seed)
    return Array.from({ length: 1_000 }, () => rng.int(1, 10))
  }
  expect(draw(1)).toEqual(draw(1))
  expect(draw(1)).not.toEqual(draw(2))
  for (let value = 1; value <= 10; value++) {
    const count = draw(1).filter((one) => one === value).length
    expect(count).toBeGreaterThan(60)
    expect(count).toBeLessThan(140)
  }
})

test('a name’s chance depends on the name alone', () => {
  const before = chanceOf(7, 'worker-1', 17, 'way')
  chanceOf(7, 'worker-1', 18, 'way')
  expect(chanceOf(7, 'worker-1', 17, 'way')).toBe(before)
  expect(chanceOf(8, 'worker-1', 17, 'way')).not.toBe(before)
  expect(chanceOf(7, 'worker-1', 17, 'back')).not.toBe(before)
  expect(chanceOf(7, 'worker', '-117', 'way')).not.toBe(before)
  const values = Array.from({ length: 1_000 }, (_, n) => chanceOf(7, 'worker-1', n, 'way'))
  const mean = values.reduce((sum, one) => sum + one, 0) / values.length
  expect(mean).toBeGreaterThan(0.45)
  expect(mean).toBeLessThan(0.55)
})

test('nothing can be picked from nothing', () => {
  expect(() => new Rng(1).pick([])).toThrow(RangeError)
})
