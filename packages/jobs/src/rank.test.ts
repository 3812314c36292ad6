import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { brokenBound, costOf, nextRank, RANK_UNIT, returningRank } from './rank.ts'

const aRank = fc.nat({ max: 2 ** 40 })
const aWeight = fc.integer({ min: 1, max: 10_000 }).map((hundredths) => hundredths / 100)

/** Tenants with endless backlogs, served in order of rank; how many jobs of each are among the first `count`. */
function shares(weights: number[], count: number): number[] {
  const lines = weights.map((weight) => ({ weight, rank: costOf(weight), served: 0 }))
  let virtualTime = 0
  for (let n = 0; n < count; n++) {
    const next = lines.reduce((first, one) => (one.rank < first.rank ? one : first))
    virtualTime = Math.max(virtualTime, next.rank)
    next.served++
    // Its jobs were all there from the start, so each stands right behind the one before.
    next.rank = nextRank({ virtualTime: 0, lastRank: next.rank, weight: next.weight })
  }
  return lines.map((one) => one.served)
}

describe('costOf', () => {
  test.each([
    { weight: 1, cost: RANK_UNIT },
    { weight: 2, cost: RANK_UNIT / 2 },
    { weight: 0.01, cost: RANK_UNIT * 100 },
    { weight: 100, cost: RANK_UNIT / 100 },
    { weight: 3, cost: 333 },
  ])('a job of weight $weight takes $cost of its tenant’s turn', ({ weight, cost }) => {
    expect(costOf(weight)).toBe(cost)
  })

  test.each([0, -1, 0.0099, 100.01, Number.NaN, Number.POSITIVE_INFINITY])('refuses weight %s', (weight) => {
    expect(() => costOf(weight)).toThrow(RangeError)
  })

  test('is a whole number, at least 1, and within 1 % of exact up to weight 20, within 5 % up to 100', () => {
    fc.assert(
      fc.property(aWeight, (weight) => {
        const cost = costOf(weight)
        expect(Number.isSafeInteger(cost)).toBe(true)
        expect(cost).toBeGreaterThanOrEqual(1)
        expect(Math.abs((cost * weight) / RANK_UNIT - 1)).toBeLessThanOrEqual(weight <= 20 ? 0.01 : 0.05)
      }),
    )
  })
})

describe('nextRank', () => {
  test.each([
    { name: 'the first job of all', virtualTime: 0, lastRank: 0, rank: 1 },
    { name: 'a new tenant stands right behind what is being served', virtualTime: 40, lastRank: 0, rank: 41 },
    { name: 'a tenant who was away gets no credit', virtualTime: 40, lastRank: 7, rank: 41 },
    { name: 'a tenant with a backlog stands behind it', virtualTime: 40, lastRank: 90, rank: 91 },
    { name: 'a tenant served up to its last job', virtualTime: 40, lastRank: 40, rank: 41 },
    { name: 'a heavy tenant stands closer', virtualTime: 40, lastRank: 90, weight: 4, rank: 90.25 },
    { name: 'a light one further away', virtualTime: 40, lastRank: 0, weight: 0.1, rank: 50 },
  ])('$name', ({ virtualTime, lastRank, weight = 1, rank }) => {
    const backlog = { virtualTime: virtualTime * RANK_UNIT, lastRank: lastRank * RANK_UNIT, weight }
    expect(nextRank(backlog)).toBe(rank * RANK_UNIT)
  })

  test('is one turn behind the tenant’s last job and what is being served, and a whole number', () => {
    fc.assert(
      fc.property(aRank, aRank, aWeight, (virtualTime, lastRank, weight) => {
        const rank = nextRank({ virtualTime, lastRank, weight })
        expect(rank - Math.max(virtualTime, lastRank)).toBe(costOf(weight))
        expect(Number.isSafeInteger(rank)).toBe(true)
      }),
    )
  })

  test('a new tenant’s job comes before all but one of any backlog, however long', () => {
    fc.assert(
      fc.property(aRank, fc.integer({ min: 1, max: 1_000 }), (virtualTime, backlog) => {
        let lastRank = 0
        const ranks = Array.from({ length: backlog }, () => {
          lastRank = nextRank({ virtualTime, lastRank, weight: 1 })
          return lastRank
        })
        const single = nextRank({ virtualTime, lastRank: 0, weight: 1 })
        expect(ranks.filter((rank) => rank <= single)).toHaveLength(1)
      }),
    )
  })

  test('tenants that wait are served as their weights, within 1 % over 10,000 jobs', () => {
    const ofWeight = fc.constantFrom<number[]>(0.1, 0.5, 1, 1.5, 2, 5, 8, 10, 20)
    fc.assert(
      fc.property(fc.array(ofWeight, { minLength: 2, maxLength: 6 }), (weights) => {
        const sum = weights.reduce((all, one) => all + one, 0)
        const served = shares(weights, 10_000)
        for (const [n, weight] of weights.entries()) {
          const share = (10_000 * weight) / sum
          // One job of each other tenant may stand before or behind the line that is drawn.
          expect(Math.abs(served[n]! - share)).toBeLessThanOrEqual(share * 0.01 + weights.length)
        }
      }),
      { numRuns: 30 },
    )
  })
})

describe('returningRank', () => {
  test.each([
    { name: 'keeps a place that is still ahead', rank: 90, virtualTime: 40, place: 1, expected: 90 },
    { name: 'cannot use a rank others were served past', rank: 3, virtualTime: 40, place: 1, expected: 41 },
    { name: 'stands behind those that come back with it', rank: 3, virtualTime: 40, place: 5, expected: 45 },
    { name: 'by its weight', rank: 3, virtualTime: 40, place: 5, weight: 2, expected: 42.5 },
  ])('$name', ({ rank, virtualTime, place, weight = 1, expected }) => {
    const input = { rank: rank * RANK_UNIT, virtualTime: virtualTime * RANK_UNIT, place, weight }
    expect(returningRank(input)).toBe(expected * RANK_UNIT)
  })

  test('never moves a job forward, nor before what is being served', () => {
    fc.assert(
      fc.property(
        aRank,
        aRank,
        aWeight,
        fc.integer({ min: 1, max: 500 }),
        (rank, virtualTime, weight, place) => {
          const found = returningRank({ rank, virtualTime, weight, place })
          expect(found).toBeGreaterThanOrEqual(rank)
          expect(found).toBeGreaterThan(virtualTime)
        },
      ),
    )
  })
})

describe('brokenBound', () => {
  const bounds = { perTenant: 2, total: 5 }

  test.each([
    { pending: { tenant: 0, total: 0 }, broken: null },
    { pending: { tenant: 1, total: 4 }, broken: null },
    { pending: { tenant: 2, total: 4 }, broken: { scope: 'tenant', limit: 2, pending: 2 } },
    { pending: { tenant: 3, total: 4 }, broken: { scope: 'tenant', limit: 2, pending: 3 } },
    { pending: { tenant: 1, total: 5 }, broken: { scope: 'total', limit: 5, pending: 5 } },
    { pending: { tenant: 0, total: 9 }, broken: { scope: 'total', limit: 5, pending: 9 } },
    // Both: the tenant is told of its own bound, which it can do something about.
    { pending: { tenant: 2, total: 5 }, broken: { scope: 'tenant', limit: 2, pending: 2 } },
  ])('$pending.tenant of the tenant’s and $pending.total in all', ({ pending, broken }) => {
    expect(brokenBound(pending, bounds)).toEqual(broken)
  })

  test('a bound of 0 refuses the first job', () => {
    const none = { tenant: 0, total: 0 }
    expect(brokenBound(none, { perTenant: 0, total: 5 })).toMatchObject({ scope: 'tenant' })
    expect(brokenBound(none, { perTenant: 5, total: 0 })).toMatchObject({ scope: 'total' })
  })
})
