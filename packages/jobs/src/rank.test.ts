import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { brokenBound, nextRank, RANK_UNIT, returningRank } from './rank.ts'

const aRank = fc.nat({ max: 2 ** 40 })

describe('nextRank', () => {
  test.each([
    { name: 'the first job of all', virtualTime: 0, lastRank: 0, rank: 1 },
    { name: 'a new tenant stands right behind what is being served', virtualTime: 40, lastRank: 0, rank: 41 },
    { name: 'a tenant who was away gets no credit', virtualTime: 40, lastRank: 7, rank: 41 },
    { name: 'a tenant with a backlog stands behind it', virtualTime: 40, lastRank: 90, rank: 91 },
    { name: 'a tenant served up to its last job', virtualTime: 40, lastRank: 40, rank: 41 },
  ])('$name', ({ virtualTime, lastRank, rank }) => {
    expect(nextRank({ virtualTime, lastRank })).toBe(rank * RANK_UNIT)
  })

  test('is above the virtual time and the tenant’s last rank, and by one unit only', () => {
    fc.assert(
      fc.property(aRank, aRank, (virtualTime, lastRank) => {
        const rank = nextRank({ virtualTime, lastRank })
        expect(rank - Math.max(virtualTime, lastRank)).toBe(RANK_UNIT)
        expect(Number.isSafeInteger(rank)).toBe(true)
      }),
    )
  })

  test('a new tenant’s job comes before all but one of any backlog, however long', () => {
    fc.assert(
      fc.property(aRank, fc.integer({ min: 1, max: 1_000 }), (virtualTime, backlog) => {
        let lastRank = 0
        const ranks = Array.from({ length: backlog }, () => {
          lastRank = nextRank({ virtualTime, lastRank })
          return lastRank
        })
        const single = nextRank({ virtualTime, lastRank: 0 })
        expect(ranks.filter((rank) => rank <= single)).toHaveLength(1)
      }),
    )
  })
})

describe('returningRank', () => {
  test.each([
    { name: 'keeps a place that is still ahead', rank: 90, virtualTime: 40, place: 1, expected: 90 },
    { name: 'cannot use a rank others were served past', rank: 3, virtualTime: 40, place: 1, expected: 41 },
    { name: 'stands behind those that come back with it', rank: 3, virtualTime: 40, place: 5, expected: 45 },
  ])('$name', ({ expected, ...input }) => {
    expect(returningRank(input)).toBe(expected * RANK_UNIT)
  })

  test('never moves a job forward, nor before what is being served', () => {
    fc.assert(
      fc.property(aRank, aRank, fc.integer({ min: 1, max: 500 }), (rank, virtualTime, place) => {
        const found = returningRank({ rank, virtualTime, place })
        expect(found).toBeGreaterThanOrEqual(rank)
        expect(found).toBeGreaterThan(virtualTime)
      }),
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
