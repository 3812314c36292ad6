import { expect, test } from 'vitest'
import { Demand } from './demand.ts'

test('counts what was asked for in the last second', () => {
  const demand = new Demand()
  for (let nowMs = 0; nowMs < 2_000; nowMs += 50) demand.add(nowMs, 1)
  expect(demand.perSecond(1_999)).toBe(20)
  expect(demand.perSecond(2_499)).toBe(10)
  expect(demand.perSecond(60_000)).toBe(0)
})

test('remembers for a second how many were needed at once', () => {
  const demand = new Demand()
  demand.add(100, 7)
  demand.add(600, 2)
  expect(demand.atOnce(900)).toBe(7)
  expect(demand.atOnce(1_200)).toBe(2)
  expect(demand.atOnce(9_000)).toBe(0)
})
