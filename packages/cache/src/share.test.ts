import { describe, expect, test } from 'vitest'
import { type Ask, divide, emptyLedger, type Grant, lend, partWith, reserved, TTL_MS } from './share.ts'

const NOW = { nowMs: 1_000_000, timeline: 'a' }

const ask = (incarnation: string, part: Partial<Ask> = {}): Ask => ({
  ...{
    incarnation,
    holder: incarnation,
    generation: 0,
    recent: 0,
    wantRate: 0,
    wantOwn: 0,
    wantConcurrency: 0,
  },
  ...part,
})

describe('dividing among wants', () => {
  test.each([
    [90, [100, 100, 100], [30, 30, 30]],
    [90, [10, 100, 100], [10, 40, 40]],
    [90, [0, 0, 5], [0, 0, 5]],
    [10, [100, 100, 100], [3, 3, 4]],
    [2, [5, 5, 5], [0, 1, 1]],
    [0, [5, 5], [0, 0]],
    [9, [], []],
  ])('%i among %j gives %j', (whole, wants, parts) => {
    expect(divide(whole, wants)).toEqual(parts)
  })

  test('gives nobody more than they want, nor all together more than there is, nor less than another wants no more', () => {
    for (let seed = 0; seed < 500; seed++) {
      const wants = Array.from({ length: (seed % 9) + 1 }, (_, n) => (seed * 7 + n * n * 13) % 60)
      const whole = (seed * 31) % 100
      const parts = divide(whole, wants)
      const sum = parts.reduce((total, one) => total + one, 0)
      expect(sum).toBe(
        Math.min(
          whole,
          wants.reduce((total, one) => total + one, 0),
        ),
      )
      parts.forEach((part, n) => {
        expect(part).toBeLessThanOrEqual(wants[n]!)
        // Whoever got less than wanted got no less than anybody else, but for what does not divide evenly.
        if (part < wants[n]!) expect(part).toBeGreaterThanOrEqual(Math.max(...parts) - 1)
      })
    }
  })
})

describe('what counts as used', () => {
  const grant = (part: Partial<Grant>): Grant => ({
    ...{
      generation: 1,
      incarnation: 'a',
      holder: 'a',
      rate: 10,
      concurrency: 4,
      wantRate: 0,
      wantConcurrency: 0,
    },
    ...{ expiresAtMs: 3_000, rateUntilMs: 4_250, inFlightUntilMs: 6_250 },
    ...part,
  })

  test.each([
    [0, 10, 4],
    [4_249, 10, 4],
    // Reads that were under way when the lease ended may still arrive, as many as it allowed at once.
    [4_250, 4, 4],
    [6_249, 4, 4],
    [6_250, 0, 0],
  ])('at %i ms: rate %i, concurrency %i', (timeMs, rate, concurrency) => {
    expect(reserved([grant({})], 'rate', timeMs)).toBe(rate)
    expect(reserved([grant({})], 'concurrency', timeMs)).toBe(concurrency)
  })

  test('of one holder only the largest, of several the sum', () => {
    const grants = [
      grant({}),
      grant({ generation: 2, rate: 7 }),
      grant({ incarnation: 'b', generation: 3, rate: 5 }),
    ]
    expect(reserved(grants, 'rate', 0)).toBe(15)
  })
})

test('a small budget keeps nothing back, and lends all of it', () => {
  const { lease } = lend(
    emptyLedger({ rate: 5, concurrency: 1, loadMaxMs: 1_000 }, NOW),
    ask('a', { wantRate: 5, wantConcurrency: 1 }),
    NOW,
  )
  expect(lease).toMatchObject({ rate: 5, concurrency: 1 })
})

test('idle holders keep a floor each, out of what demand is not given, and no more than that in all', () => {
  let ledger = emptyLedger({ rate: 100, concurrency: 20, loadMaxMs: 1_000 }, NOW)
  const rates: number[] = []
  for (let n = 0; n < 15; n++) {
    const lent = lend(ledger, ask(`idle-${String(n).padStart(2, '0')}`), NOW)
    ledger = lent.ledger
    rates.push(lent.lease.rate)
  }
  expect(rates.reduce((sum, one) => sum + one)).toBe(10)
  const busy = lend(ledger, ask('busy', { wantRate: 100 }), NOW)
  const again = lend(busy.ledger, ask('busy', { wantRate: 100, generation: busy.lease.generation }), NOW)
  expect(again.lease).toMatchObject({ rate: 90, isOwed: false })
})

test('an ask that lands after a later one of the same holder takes nothing back that the later one relies on', () => {
  const capacity = { rate: 100, concurrency: 20, loadMaxMs: 1_000 }
  const first = lend(emptyLedger(capacity, NOW), ask('a', { wantRate: 90 }), NOW)
  const later = lend(first.ledger, ask('a', { generation: 1, wantRate: 80 }), NOW)
  // Sent before, knows of nothing, wants little.
  const late = lend(later.ledger, ask('a', { generation: 0, wantRate: 1 }), NOW)
  expect(reserved(late.ledger.grants, 'rate', late.ledger.timeMs)).toBeGreaterThanOrEqual(later.lease.rate)
})

test('grants that have run out are forgotten', () => {
  const capacity = { rate: 100, concurrency: 20, loadMaxMs: 1_000 }
  let { ledger } = lend(emptyLedger(capacity, NOW), ask('a', { wantRate: 90 }), NOW)
  for (let nowMs = NOW.nowMs; nowMs < NOW.nowMs + TTL_MS * 3; nowMs += 200)
    ledger = partWith(ledger, { incarnation: 'nobody', recent: 0, inFlight: 0 }, { ...NOW, nowMs })
  expect(ledger.grants).toEqual([])
})
