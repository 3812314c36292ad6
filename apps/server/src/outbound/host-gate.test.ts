import { ManualClock } from '@garner/db'
import { describe, expect, test } from 'vitest'
import { HostGate } from './host-gate.ts'

const never = new AbortController().signal
/** Lets everything that is already due happen. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

describe('the host gate', () => {
  test('lets two in at a time, 250 ms apart, in the order they came', async () => {
    const clock = new ManualClock()
    const gate = new HostGate(clock)
    const log: string[] = []
    const leaves = new Map<number, () => void>()
    for (let i = 0; i < 4; i++) {
      gate.enter('a.example:80', never).then((leave) => {
        log.push(`${i} at ${clock.monotonicMs()}`)
        leaves.set(i, leave)
      })
    }
    await settled()
    expect(log).toEqual(['0 at 0'])
    clock.advance(249)
    await settled()
    expect(log).toHaveLength(1)
    clock.advance(1)
    await settled()
    expect(log).toEqual(['0 at 0', '1 at 250'])
    clock.advance(10_000)
    await settled()
    expect(log).toHaveLength(2)
    leaves.get(1)!()
    leaves.get(1)!()
    await settled()
    expect(log).toEqual(['0 at 0', '1 at 250', '2 at 10250'])
    leaves.get(0)!()
    await settled()
    clock.advance(250)
    await settled()
    expect(log.at(-1)).toBe('3 at 10500')
  })

  test('another host does not wait', async () => {
    const gate = new HostGate(new ManualClock())
    await gate.enter('a.example:80', never)
    await gate.enter('b.example:80', never)
    await gate.enter('a.example:8080', never)
  })

  test('who gives up leaves the queue as it was', async () => {
    const clock = new ManualClock()
    const gate = new HostGate(clock)
    const first = await gate.enter('a', never)
    clock.advance(250)
    await gate.enter('a', never)
    const gone = new AbortController()
    const givesUp = gate.enter('a', gone.signal)
    const next = gate.enter('a', never)
    gone.abort(new Error('lease lost'))
    await expect(givesUp).rejects.toThrow('lease lost')
    clock.advance(250)
    let isIn = false
    next.then(() => {
      isIn = true
    })
    await settled()
    expect(isIn).toBe(false)
    first()
    await settled()
    expect(isIn).toBe(true)
  })

  test('giving up during the pause does not use up the turn', async () => {
    const clock = new ManualClock()
    const gate = new HostGate(clock)
    await gate.enter('a', never)
    const gone = new AbortController()
    const givesUp = gate.enter('a', gone.signal)
    await settled()
    gone.abort(new Error('stopped'))
    await expect(givesUp).rejects.toThrow('stopped')
    clock.advance(250)
    await gate.enter('a', never)
  })

  test('hosts long past are forgotten', async () => {
    const clock = new ManualClock()
    const gate = new HostGate(clock)
    for (let i = 0; i < 2_000; i++) {
      const leave = await gate.enter(`host-${i}`, never)
      leave()
      clock.advance(10)
    }
    expect(gate.size).toBeLessThan(300)
  })
})
