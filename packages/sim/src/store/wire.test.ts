import { StoreUnavailable } from '@garner/db'
import { expect, test } from 'vitest'
import type { Fault } from '../plan/plan.ts'
import { Machine, WallClock } from '../world/machine.ts'
import { World } from '../world/world.ts'
import { Wire } from './wire.ts'

/** Three calls of one process, one after the other; `fault` hits the second. */
async function threeCalls(fault?: Fault) {
  const world = new World({
    ...{ seed: 1, startMs: 0, faults: fault ? [fault] : [] },
    latency: { mostMs: 0, slowMs: 0, slowOneIn: 1_000_000 },
    hints: { lost: 0, repeated: 0, mostDelayMs: 0 },
  })
  const { timeline } = world
  const machine = new Machine({ name: 'worker-1', timeline, wall: new WallClock(timeline, 0) })
  const wire = new Wire(world, machine.start())
  const landed: string[] = []
  const heard: string[] = []
  const run = async () => {
    for (const name of ['first', 'second', 'third']) {
      try {
        await wire.call('claim', async () => landed.push(`${name}@${timeline.nowMs}`))
        heard.push(`${name}@${timeline.nowMs}`)
      } catch (error) {
        expect(error).toBeInstanceOf(StoreUnavailable)
        heard.push(`${name} failed@${timeline.nowMs}`)
      }
    }
  }
  timeline.after(10, () => void run())
  await timeline.run(() => false)
  return { landed, heard, isAlive: machine.life !== null }
}

const SECOND = { machine: 'worker-1', call: 2 }

test('without a fault every call lands and is answered', async () => {
  expect(await threeCalls()).toEqual({
    landed: ['first@10', 'second@10', 'third@10'],
    heard: ['first@10', 'second@10', 'third@10'],
    isAlive: true,
  })
})

test('a failure before the effect, and one after it, say the same', async () => {
  const heard = ['first@10', 'second failed@40', 'third@40']
  const before = await threeCalls({ do: 'fail', when: 'before', inMs: 30, ...SECOND })
  expect(before).toEqual({ landed: ['first@10', 'third@40'], heard, isAlive: true })
  const after = await threeCalls({ do: 'fail', when: 'after', inMs: 30, ...SECOND })
  expect(after).toEqual({ landed: ['first@10', 'second@10', 'third@40'], heard, isAlive: true })
})

test('a crash before a call keeps it from landing, one after it keeps its answer from being heard', async () => {
  const before = await threeCalls({ do: 'crash', when: 'before', forMs: 5, ...SECOND })
  expect(before).toEqual({ landed: ['first@10'], heard: ['first@10'], isAlive: false })
  const after = await threeCalls({ do: 'crash', when: 'after', forMs: 5, ...SECOND })
  expect(after).toEqual({ landed: ['first@10', 'second@10'], heard: ['first@10'], isAlive: false })
})

test('a stall before a call delays it, one after it delays the answer', async () => {
  const heard = ['first@10', 'second@110', 'third@110']
  const before = await threeCalls({ do: 'stall', when: 'before', forMs: 100, ...SECOND })
  expect(before).toEqual({ landed: ['first@10', 'second@110', 'third@110'], heard, isAlive: true })
  const after = await threeCalls({ do: 'stall', when: 'after', forMs: 100, ...SECOND })
  expect(after).toEqual({ landed: ['first@10', 'second@10', 'third@110'], heard, isAlive: true })
})

test('a slow call lands late; a fault can be aimed at the n-th call of a method', async () => {
  const slow = await threeCalls({ do: 'slow', byMs: 500, machine: 'worker-1', op: 'claim', call: 2 })
  expect(slow.landed).toEqual(['first@10', 'second@510', 'third@510'])
  const other = await threeCalls({ do: 'slow', byMs: 500, machine: 'worker-1', op: 'publish', call: 2 })
  expect(other.landed).toEqual(['first@10', 'second@10', 'third@10'])
})

test('while the store is away every call fails', async () => {
  const { heard } = await threeCalls({ do: 'outage', atMs: 5, forMs: 100_000 })
  expect(heard.map((one) => one.split('@')[0])).toEqual(['first failed', 'second failed', 'third failed'])
})
