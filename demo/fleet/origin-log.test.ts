import { describe, expect, test } from 'vitest'
import { busiestSecond } from './origin-log.ts'

describe('the busiest second', () => {
  test('is found wherever it begins', () => {
    // Two in each whole second, four from 0.9 to 1.1 s.
    expect(busiestSecond([0, 900, 950, 1_050, 1_100, 2_500])).toEqual({ count: 4, fromMs: 900 })
  })

  test('does not hold its own end', () => {
    expect(busiestSecond([0, 1_000, 2_000]).count).toBe(1)
    expect(busiestSecond([0, 999.9, 1_000]).count).toBe(2)
    expect(busiestSecond([]).count).toBe(0)
  })
})
