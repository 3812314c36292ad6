import { describe, expect, test } from 'vitest'
import { noEnds } from '../fleet/ends.ts'
import { figuresOf, verdictsOf } from './report.ts'
import type { Round } from './round.ts'

const options = { instances: 3, readers: 30, rounds: 1, budget: 4 }
const ends = { ...noEnds(), hit: 20, coalesced: 8, origin: 1, rejected: 1 }
const shared: Round = {
  ...{ hasShared: true, offered: 30, ends, longestMs: 90, unheard: 0, originReads: [0] },
}
const alone: Round = { ...shared, hasShared: false, originReads: [5_000, 5_001, 5_002] }

const broken = (rounds: Round[]) => verdictsOf(rounds, options).filter(({ isKept }) => !isKept)

describe('a promise is broken', () => {
  test('by none of what is in good rounds, and where there is no shared cache nothing is said of it', () => {
    expect(broken([shared, alone])).toEqual([])
    expect([broken([alone]), verdictsOf([alone], options).length]).toEqual([[], 3])
  })

  test.each<[string, RegExp, Round[]]>([
    ['a second read with the shared cache', /once for all/, [{ ...shared, originReads: [0, 1] }, alone]],
    ['no read at all', /once for all/, [{ ...shared, originReads: [] }, alone]],
    ['one read more than servers', /once by each of 3/, [{ ...alone, originReads: [0, 1, 2, 3] }]],
    ['more than the budget', /more than 4/, [alone, { ...alone, originReads: [5_900, 5_901] }]],
    ['a reader who is not heard of', /answered or refused/, [{ ...alone, offered: 31 }]],
    ['nobody who was served', /answered or refused/, [{ ...alone, ends: { ...noEnds(), rejected: 30 } }]],
  ])('by %s', (_, claim, rounds) => {
    const [first, ...more] = broken(rounds)
    expect(more).toEqual([])
    expect(first?.claim).toMatch(claim)
  })

  test('by one read more than servers that did not hear from the shared cache, not by as many', () => {
    const unheard = { ...shared, unheard: 2, originReads: [0, 1, 2] }
    expect(broken([unheard])).toEqual([])
    expect(broken([{ ...unheard, originReads: [0, 1, 2, 3] }])).toHaveLength(1)
  })
})

test('refusals and long waits are figures that are missed', () => {
  const met = (rounds: Round[]) => figuresOf(rounds).map(({ isMet }) => isMet)
  expect(met([{ ...shared, ends: noEnds() }])).toEqual([true, true])
  expect(met([shared, { ...alone, longestMs: 300 }])).toEqual([false, false])
})
