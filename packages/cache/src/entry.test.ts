import { describe, expect, test } from 'vitest'
import { addressOf, refreshBackoffMs, replaces, spreadFreshMs, standing } from './entry.ts'

const entry = (part: Partial<{ version: number; readAtMs: number; freshMs: number }> = {}) => ({
  ...{ body: 'x', version: 5, readAtMs: 1_000, freshMs: 2_000 },
  ...part,
})

test.each([
  [1_000, 0, 'fresh'],
  [2_999, 5, 'fresh'],
  [3_000, 0, 'stale'],
  [2_000, 6, 'stale'],
  [61_000, 0, 'stale'],
  [61_001, 0, 'expired'],
  [61_001, 6, 'expired'],
] as const)('at %i ms with version %i known it is %s', (nowMs, floor, expected) => {
  expect(standing(entry(), { nowMs, floor, maxAgeMs: 60_000 })).toBe(expected)
})

describe('one copy takes the place of another', () => {
  test.each([
    [{}, undefined, true],
    [{ version: 6, readAtMs: 0 }, entry(), true],
    [{ version: 4, readAtMs: 9_000 }, entry(), false],
    [{ readAtMs: 1_000 }, entry(), true],
    [{ readAtMs: 999 }, entry(), false],
  ])('%j instead of %j: %s', (next, present, expected) => {
    expect(replaces(entry(next), present)).toBe(expected)
  })
})

test('times of being fresh are spread below the stated one, never above', () => {
  expect(spreadFreshMs({ freshMs: 1_000, spread: 0.1, random: 0 })).toBe(1_000)
  expect(spreadFreshMs({ freshMs: 1_000, spread: 0.1, random: 0.999 })).toBeCloseTo(900.1)
  expect(spreadFreshMs({ freshMs: 1_000, spread: 0, random: 0.5 })).toBe(1_000)
})

test('refreshes that fail are put off for twice as long each time, ten seconds at most', () => {
  expect([1, 2, 3, 6, 100].map((failures) => refreshBackoffMs(failures, 1))).toEqual([
    500, 1_000, 2_000, 10_000, 10_000,
  ])
  expect(refreshBackoffMs(1, 0)).toBe(250)
})

test('no scope and key can be mistaken for another', () => {
  const all = [
    ['a', 'bc'],
    ['ab', 'c'],
    ['', 'abc'],
    ['1:a', 'bc'],
    ['1', ':abc'],
  ].map(([scope, key]) => addressOf(scope!, key!))
  expect(new Set(all).size).toBe(all.length)
})
