import { describe, expect, test } from 'vitest'
import { HeldShare, type Now } from './held-share.ts'
import type { Lease } from './share.ts'

const lease = (part: Partial<Lease> = {}): Lease => ({
  ...{ generation: 1, rate: 10, ownRate: 0, concurrency: 5, ttlMs: 3_000, isOwed: false },
  ...part,
})
const at = (ms: number): Now => ({ atLeastMs: ms, atMostMs: ms })

/** How many reads it lets begin at once. */
function begun(share: HeldShare, now: Now, rank: 'own' | 'read' | 'refresh' = 'read'): number {
  let count = 0
  while (share.begin(now, rank)) count++
  return count
}

describe('a lease', () => {
  test('is counted from before it was asked for, less a margin', () => {
    const share = new HeldShare()
    share.take(lease(), 1_000)
    expect(share.begin(at(3_899), 'read')).toBe(true)
    expect(share.begin(at(3_900), 'read')).toBe(false)
    expect([share.rate(at(3_899)), share.rate(at(3_900))]).toEqual([10, 0])
  })

  test('that was asked for earlier does not take the place of a later one', () => {
    const share = new HeldShare()
    expect(share.take(lease({ generation: 2, rate: 3 }), 500)).toBe(true)
    expect(share.take(lease({ generation: 1, rate: 90 }), 400)).toBe(false)
    expect(share.rate(at(600))).toBe(3)
  })

  test('ends when the machine was suspended, though its monotonic clock stood still', () => {
    const share = new HeldShare()
    share.take(lease(), 1_000)
    expect(share.begin({ atLeastMs: 1_100, atMostMs: 1_100 + 60_000 }, 'read')).toBe(false)
  })

  test('given up stays given up, whatever answer comes late', () => {
    const share = new HeldShare()
    share.take(lease(), 1_000)
    share.leave()
    expect(share.begin(at(1_001), 'read')).toBe(false)
    expect(share.take(lease({ generation: 2 }), 1_002)).toBe(false)
    expect(share.begin(at(1_003), 'read')).toBe(false)
  })
})

describe('reads', () => {
  test('are within the rate in any window, which a new lease does not empty', () => {
    const share = new HeldShare()
    share.take(lease({ concurrency: 100 }), 0)
    expect(begun(share, at(0))).toBe(10)
    for (let n = 0; n < 10; n++) share.end(at(0))
    share.take(lease({ generation: 2, concurrency: 100 }), 500)
    expect(begun(share, at(1_000))).toBe(0)
    expect(begun(share, at(1_010))).toBe(10)
  })

  test('are within the concurrency, however high the rate', () => {
    const share = new HeldShare()
    share.take(lease({ concurrency: 2 }), 0)
    expect(begun(share, at(0))).toBe(2)
    share.end(at(5))
    expect(begun(share, at(5))).toBe(1)
  })

  test('that are under way count for the rate, however long ago they began', () => {
    const share = new HeldShare()
    share.take(lease({ rate: 3, concurrency: 100 }), 0)
    expect(begun(share, at(0))).toBe(3)
    share.take(lease({ generation: 2, rate: 3, concurrency: 100 }), 2_000)
    expect(begun(share, at(2_500))).toBe(0)
  })

  test('after a wall clock that was set forward, do not find the window empty', () => {
    const share = new HeldShare()
    share.take(lease({ rate: 3 }), 0)
    expect(begun(share, at(0))).toBe(3)
    for (let n = 0; n < 3; n++) share.end(at(0))
    share.take(lease({ generation: 2, rate: 3 }), 3_600_000)
    expect(begun(share, { atLeastMs: 10, atMostMs: 3_600_010 })).toBe(0)
  })

  test('of one’s own saves may use what others leave: a twentieth, and what was lent for them', () => {
    const share = new HeldShare()
    share.take(lease({ rate: 40, concurrency: 100 }), 0)
    expect(begun(share, at(0), 'refresh')).toBe(38)
    expect(begun(share, at(0), 'own')).toBe(2)
    const lent = new HeldShare()
    lent.take(lease({ rate: 40, ownRate: 5, concurrency: 100 }), 0)
    expect(begun(lent, at(0), 'read')).toBe(35)
    expect(begun(lent, at(0), 'own')).toBe(5)
  })
})

describe('what it says of itself', () => {
  test('a smaller share is confirmed once what was begun with a larger one is within it', () => {
    const share = new HeldShare()
    share.take(lease({ generation: 1, rate: 10, concurrency: 5 }), 0)
    expect(begun(share, at(0))).toBe(5)
    expect(share.account(at(0))).toEqual({ generation: 1, recent: 5, inFlight: 5 })
    share.take(lease({ generation: 2, rate: 10, concurrency: 2 }), 10)
    expect(share.account(at(10))).toMatchObject({ generation: 1 })
    for (let n = 0; n < 3; n++) share.end(at(20))
    expect(share.account(at(20))).toEqual({ generation: 2, recent: 5, inFlight: 2 })
  })

  test('the same for the rate', () => {
    const share = new HeldShare()
    share.take(lease({ generation: 1 }), 0)
    expect(begun(share, at(0))).toBe(5)
    share.take(lease({ generation: 2, rate: 4 }), 10)
    expect(share.account(at(10))).toMatchObject({ generation: 0, inFlight: 5 })
    share.end(at(10))
    expect(share.account(at(10))).toMatchObject({ generation: 2, inFlight: 4 })
  })
})

test('tells when a read could begin, with so many before it', () => {
  const share = new HeldShare()
  expect(share.beginsInMs(at(0), 'read', 0)).toBeNull()
  share.take(lease({ rate: 2 }), 0)
  expect(share.beginsInMs(at(0), 'read', 0)).toBe(0)
  share.begin(at(0), 'read')
  share.end(at(100))
  share.begin(at(200), 'read')
  expect(share.beginsInMs(at(200), 'read', 0)).toBe(910)
  expect(share.beginsInMs(at(200), 'read', 1)).toBe(1_010)
  share.take(lease({ generation: 2, rate: 0 }), 300)
  expect(share.beginsInMs(at(300), 'read', 0)).toBeNull()
})
