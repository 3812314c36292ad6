import { expect, test } from 'vitest'
import { Machine, WallClock } from '../../world/machine.ts'
import { Timeline } from '../../world/timeline.ts'
import { HostClock } from './host-clock.ts'

function host(driftPpm: number) {
  const timeline = new Timeline()
  const wall = new WallClock(timeline, 1_000_000)
  const life = new Machine({ name: 'web', timeline, wall }).start()
  return { timeline, wall, life, clock: new HostClock(life, driftPpm) }
}

test('a clock that is too fast is ahead, and its sleepers wake early, but not by its own time', async () => {
  const { timeline, clock } = host(200)
  const woke: number[] = []
  void clock.sleep(10_000).then(() => woke.push(timeline.nowMs, clock.monotonicMs()))
  await timeline.run(() => false)
  expect(woke[0]).toBe(9_999)
  expect(woke[1]).toBeGreaterThanOrEqual(10_000)
})

test('suspended, its monotonic clock stands still, its wall clock does not, and who sleeps, sleeps on', async () => {
  const { timeline, life, clock } = host(0)
  const woke: number[] = []
  void clock.sleep(100).then(() => woke.push(timeline.nowMs, clock.monotonicMs(), clock.nowMs()))
  timeline.at(40, () => {
    life.stall(500)
    clock.suspended(500)
  })
  await timeline.run(() => false)
  expect(woke).toEqual([600, 100, 1_000_600])
})

test('a sleep that is called off ends at once', async () => {
  const { timeline, clock } = host(0)
  const off = new AbortController()
  const woke: number[] = []
  void clock.sleep(100, off.signal).then(() => woke.push(timeline.nowMs))
  timeline.at(30, () => off.abort())
  await timeline.run(() => false)
  expect(woke).toEqual([30])
})
