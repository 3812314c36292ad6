import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { backoffMs, decide, type RetryPolicy } from './decide.ts'
import { Degrade, InvariantBroken, Permanent, QueueFull, Retry, StoreUnavailable } from './errors.ts'

const policy: RetryPolicy = { attemptsMax: 3, deadlineMs: 600_000, baseMs: 30_000, maxMs: 100_000 }
const NOW_MS = 1_000_000
const DEADLINE_AT_MS = NOW_MS + policy.deadlineMs

function decided(
  error: unknown,
  over: { attempt?: number; deadlineAtMs?: number; canDegrade?: boolean; random?: number } = {},
) {
  const { attempt = 1, deadlineAtMs = DEADLINE_AT_MS, canDegrade = true, random = 0.5 } = over
  return decide({
    error,
    job: { attempt, epoch: attempt, deadlineAtMs },
    policy,
    canDegrade,
    nowMs: NOW_MS,
    random: () => random,
  })
}

describe('backoffMs', () => {
  test.each([
    { attempt: 1, bound: 30_000 },
    { attempt: 2, bound: 60_000 },
    { attempt: 3, bound: 100_000 },
    { attempt: 50, bound: 100_000 },
    { attempt: 5_000, bound: 100_000 }, // 2 ** 4999 is Infinity
  ])('try $attempt waits anywhere between 0 and $bound ms', ({ attempt, bound }) => {
    expect(backoffMs(policy, attempt, () => 0)).toBe(0)
    expect(backoffMs(policy, attempt, () => 0.5)).toBe(bound / 2)
    expect(backoffMs(policy, attempt, () => 1 - Number.EPSILON)).toBe(bound - 1)
  })

  test('is a whole number of milliseconds within its bound, for any policy', () => {
    const aMs = fc.nat({ max: 10_000_000 })
    fc.assert(
      fc.property(
        aMs,
        aMs,
        fc.integer({ min: 1, max: 100 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (baseMs, maxMs, attempt, random) => {
          const waitMs = backoffMs({ ...policy, baseMs, maxMs }, attempt, () => random)
          expect(Number.isInteger(waitMs)).toBe(true)
          expect(waitMs).toBeGreaterThanOrEqual(0)
          expect(waitMs).toBeLessThanOrEqual(Math.min(maxMs, baseMs * 2 ** (attempt - 1)))
        },
      ),
    )
  })

  test('a base of 0 is no wait', () => {
    expect(backoffMs({ ...policy, baseMs: 0 }, 9, () => 0.9)).toBe(0)
  })
})

describe('decide', () => {
  test('Permanent is dead at once, also where the kind could degrade', () => {
    for (const canDegrade of [true, false]) {
      expect(decided(new Permanent('http_404'), { canDegrade })).toEqual({ next: 'dead', reason: 'http_404' })
    }
  })

  test('Degrade degrades at once; a kind that cannot is dead', () => {
    expect(decided(new Degrade('no_title'))).toEqual({ next: 'degrade', reason: 'no_title' })
    expect(decided(new Degrade('no_title'), { canDegrade: false })).toEqual({
      next: 'dead',
      reason: 'no_title',
    })
  })

  test('Retry comes again after the backoff', () => {
    expect(decided(new Retry('timeout'))).toEqual({
      next: 'retry',
      runAtMs: NOW_MS + 15_000,
      reason: 'timeout',
      isUncounted: false,
    })
    expect(decided(new Retry('timeout'), { attempt: 2 })).toMatchObject({ runAtMs: NOW_MS + 30_000 })
  })

  test.each([
    { afterMs: 0, waitMs: 15_000 },
    { afterMs: 14_999, waitMs: 15_000 },
    { afterMs: 15_001, waitMs: 15_001 },
    // What the other side asks for may be longer than the longest backoff.
    { afterMs: 400_000, waitMs: 400_000 },
    { afterMs: -5, waitMs: 15_000 },
    { afterMs: 20_000.2, waitMs: 20_001 },
    { afterMs: Number.NaN, waitMs: 15_000 },
  ])('Retry after $afterMs ms waits $waitMs ms', ({ afterMs, waitMs }) => {
    expect(decided(new Retry('http_429', { afterMs }))).toMatchObject({ runAtMs: NOW_MS + waitMs })
  })

  test('Retry after for ever is past the deadline', () => {
    const retry = new Retry('http_503', { afterMs: Number.POSITIVE_INFINITY })
    expect(decided(retry)).toEqual({ next: 'degrade', reason: 'http_503' })
  })

  test('the last try of a Retry degrades; a kind that cannot is dead', () => {
    expect(decided(new Retry('timeout'), { attempt: 2 })).toMatchObject({ next: 'retry' })
    for (const attempt of [3, 4, 99]) {
      expect(decided(new Retry('timeout'), { attempt })).toEqual({ next: 'degrade', reason: 'timeout' })
      expect(decided(new Retry('timeout'), { attempt, canDegrade: false })).toEqual({
        next: 'dead',
        reason: 'timeout',
      })
    }
  })

  test('`attemptsMax` of a Retry replaces the kind’s, up and down', () => {
    expect(decided(new Retry('save', { attemptsMax: 6 }), { attempt: 5 })).toMatchObject({ next: 'retry' })
    expect(decided(new Retry('save', { attemptsMax: 6 }), { attempt: 6 })).toMatchObject({ next: 'degrade' })
    expect(decided(new Retry('save', { attemptsMax: 1 }), { attempt: 1 })).toMatchObject({ next: 'degrade' })
    expect(decided(new Retry('save', { attemptsMax: 0 }), { attempt: 1 })).toMatchObject({ next: 'degrade' })
  })

  test('no try starts after the deadline, and one may start at it', () => {
    const retry = new Retry('http_503', { afterMs: 20_000 })
    expect(decided(retry, { deadlineAtMs: NOW_MS + 20_000 })).toMatchObject({ next: 'retry' })
    expect(decided(retry, { deadlineAtMs: NOW_MS + 19_999 })).toEqual({
      next: 'degrade',
      reason: 'http_503',
    })
    expect(decided(retry, { deadlineAtMs: NOW_MS - 1 })).toMatchObject({ next: 'degrade' })
  })

  const faults: [string, unknown][] = [
    ['an Error', new TypeError('x is not a function')],
    ['a broken invariant', new InvariantBroken('epoch went down')],
    ['a full queue', new QueueFull({ scope: 'total', limit: 1, pending: 1, retryAfterMs: 1 })],
    ['a store that is away', new StoreUnavailable('busy', 'testing')],
    ['a string', 'trouble'],
    ['nothing', undefined],
    ['null', null],
    ['a look-alike', { name: 'Permanent', code: 'PERMANENT', reason: 'forged' }],
  ]
  test.each(faults)('%s is a fault of ours: tried again, then dead, never degraded', (_name, error) => {
    expect(decided(error)).toEqual({
      next: 'retry',
      runAtMs: NOW_MS + 15_000,
      reason: 'internal_error',
      isUncounted: false,
    })
    expect(decided(error, { attempt: 3 })).toEqual({ next: 'dead', reason: 'internal_error' })
    expect(decided(error, { deadlineAtMs: NOW_MS })).toEqual({ next: 'dead', reason: 'internal_error' })
  })

  test('the reason is what the handler said, never an error’s text', () => {
    expect(decided(new Error('secret page contents'), { attempt: 3 }).reason).toBe('internal_error')
    expect(decided(new Retry('timeout', { cause: new Error('secret') })).reason).toBe('timeout')
  })

  test('a retry is never later than the deadline, never earlier than asked for, and only while tries are left', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: -1_000, max: 1_000_000 }),
        fc.nat({ max: 1_000_000 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (attempt, untilDeadlineMs, afterMs, random) => {
          const deadlineAtMs = NOW_MS + untilDeadlineMs
          const decision = decided(new Retry('timeout', { afterMs }), {
            attempt,
            deadlineAtMs,
            random,
          })
          if (decision.next !== 'retry') return
          expect(Number.isInteger(decision.runAtMs)).toBe(true)
          expect(decision.runAtMs).toBeGreaterThanOrEqual(NOW_MS + afterMs)
          expect(decision.runAtMs).toBeLessThanOrEqual(deadlineAtMs)
          expect(attempt).toBeLessThan(policy.attemptsMax)
        },
      ),
    )
  })
})

describe('a failure that says nothing of the work', () => {
  const offline = new Retry('offline', { isUncounted: true })

  test('is tried again however often it was tried, until the deadline', () => {
    expect(decided(offline, { attempt: 1000 })).toMatchObject({ next: 'retry', isUncounted: true })
    expect(decided(offline, { deadlineAtMs: NOW_MS - 1 })).toEqual({ next: 'degrade', reason: 'offline' })
  })

  test('waits longer each time all the same, by its claims', () => {
    const job = { attempt: 1, epoch: 1, deadlineAtMs: DEADLINE_AT_MS }
    const wait = (epoch: number) => {
      const input = {
        error: offline,
        job: { ...job, epoch },
        policy,
        canDegrade: true,
        nowMs: NOW_MS,
        random: () => 0.5,
      }
      const decision = decide(input)
      return decision.next === 'retry' ? decision.runAtMs - NOW_MS : null
    }
    expect([1, 2, 3].map(wait)).toEqual([15_000, 30_000, 50_000])
  })
})
