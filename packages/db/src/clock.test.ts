import { expect, test } from 'vitest'
import { ManualClock, systemClock } from './clock.ts'

test('a manual clock stands still until it is told to move', async () => {
  const clock = new ManualClock(1_000)
  expect([clock.nowMs(), clock.monotonicMs()]).toEqual([1_000, 0])
  clock.advance(250)
  expect([clock.nowMs(), clock.monotonicMs()]).toEqual([1_250, 250])
  clock.jump(-5_000)
  expect([clock.nowMs(), clock.monotonicMs()]).toEqual([-3_750, 250])
})

test('sleepers wake in the order of their times, when those have come', async () => {
  const clock = new ManualClock()
  const woken: string[] = []
  const sleepers = [30, 10, 20, 40].map((ms) => clock.sleep(ms).then(() => woken.push(`${ms}`)))
  clock.advance(9)
  await new Promise(setImmediate)
  expect(woken).toEqual([])
  clock.advance(21)
  await Promise.all(sleepers.slice(0, 3))
  expect(woken).toEqual(['10', '20', '30'])
})

test.each([
  ['manual', new ManualClock()],
  ['system', systemClock()],
])(
  'a sleep on the %s clock ends at once when its signal aborts, before or while it sleeps',
  async (_name, clock) => {
    await clock.sleep(3_600_000, AbortSignal.abort())
    const controller = new AbortController()
    const sleeping = clock.sleep(3_600_000, controller.signal)
    controller.abort()
    await sleeping
  },
)

test('the system clock can live in the future, and its durations do not change', () => {
  const ahead = systemClock(86_400_000)
  const now = systemClock()
  expect(ahead.nowMs() - now.nowMs()).toBeGreaterThan(86_000_000)
  expect(Math.abs(ahead.monotonicMs() - now.monotonicMs())).toBeLessThan(1_000)
})

test('a manual clock says how far it is to the next sleeper', async () => {
  const clock = new ManualClock()
  expect(clock.nextWakeInMs).toBeNull()
  const gone = new AbortController()
  void clock.sleep(10, gone.signal)
  void clock.sleep(30)
  clock.advance(5)
  expect(clock.nextWakeInMs).toBe(5)
  gone.abort()
  expect(clock.nextWakeInMs).toBe(25)
})
