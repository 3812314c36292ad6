import { ManualClock } from '@garner/db'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { createAround, createAroundCommit, FAULT_POINTS, InjectedFault, parseFaults } from './faults.ts'

const clock = new ManualClock()
const fault = (point: string) => new InjectedFault(point)
const BEFORE = 'publish.before-commit'
const AFTER = 'publish.after-commit'

/** An effect that can be counted. */
function effect() {
  return vi.fn(async () => 'done')
}

const turns = async () => {
  for (let n = 0; n < 5; n++) await new Promise(setImmediate)
}

afterEach(() => vi.restoreAllMocks())

describe('what can be asked for', () => {
  test.each([
    ['', {}],
    [' , ,', {}],
    [`${BEFORE}:fail`, { [BEFORE]: [{ action: { do: 'fail' }, at: undefined }] }],
    [`${BEFORE}:kill@3`, { [BEFORE]: [{ action: { do: 'kill' }, at: 3 }] }],
    [`${BEFORE}:delay=250@2`, { [BEFORE]: [{ action: { do: 'delay', ms: 250 }, at: 2 }] }],
    [
      ` ${BEFORE}:hang , ${AFTER}:land-then-fail,${BEFORE}:fail@2`,
      {
        [BEFORE]: [
          { action: { do: 'hang' }, at: undefined },
          { action: { do: 'fail' }, at: 2 },
        ],
        [AFTER]: [{ action: { do: 'land-then-fail' }, at: undefined }],
      },
    ],
  ])('%j', (text, expected) => {
    expect(Object.fromEntries(parseFaults(text) as Map<string, unknown>)).toEqual(expected)
  })

  test.each([
    ['nowhere:fail', 'POINT:ACTION'],
    ['fail', 'POINT:ACTION'],
    ['constructor:fail', 'POINT:ACTION'],
    [`${BEFORE}:explode`, 'kill, fail'],
    [`${BEFORE}:delay`, 'delay=MS'],
    [`${BEFORE}:fail=3`, 'delay=MS'],
    [`${BEFORE}:fail@0`, 'from 1'],
    [`${BEFORE}:fail@`, 'POINT:ACTION'],
    [`${BEFORE}:delay=-1`, 'POINT:ACTION'],
    [`${BEFORE}:fail,nowhere:fail`, 'nowhere'],
  ])('not %j, and it is said what is', (text, expected) => {
    expect(parseFaults(text)).toEqual({ expected: expect.stringContaining(expected) })
  })

  test('every point says what it stands for', () => {
    for (const [point, meaning] of Object.entries(FAULT_POINTS)) {
      expect(parseFaults(`${point}:fail`)).toBeInstanceOf(Map)
      expect(meaning.length).toBeGreaterThan(20)
    }
  })
})

describe('what then happens', () => {
  test('nothing, without faults and at other points', async () => {
    for (const text of ['', `${AFTER}:fail`]) {
      expect(await createAround(text, clock, fault)(BEFORE, effect())).toBe('done')
    }
  })

  test.each([
    [BEFORE, 0],
    [AFTER, 1],
  ])('fail at %s: an error, with the effect done %i times', async (point, times) => {
    const done = effect()
    await expect(createAround(`${point}:fail`, clock, fault)(point, done)).rejects.toThrow(point)
    expect(done).toHaveBeenCalledTimes(times)
  })

  test.each([BEFORE, AFTER])('land-then-fail at %s: the effect, and then an error', async (point) => {
    const done = effect()
    await expect(createAround(`${point}:land-then-fail`, clock, fault)(point, done)).rejects.toThrow(point)
    expect(done).toHaveBeenCalledTimes(1)
  })

  test('@N: the Nth time alone, each point counted for itself', async () => {
    const around = createAround(`${BEFORE}:fail@2,${AFTER}:fail@1`, clock, fault)
    const ends: string[] = []
    for (const point of [BEFORE, BEFORE, BEFORE, AFTER, AFTER]) {
      ends.push(await around(point, effect()).catch(() => 'failed'))
    }
    expect(ends).toEqual(['done', 'failed', 'done', 'failed', 'done'])
  })

  test('delay: late by so much', async () => {
    const done = effect()
    const late = createAround(`${BEFORE}:delay=250`, clock, fault)(BEFORE, done)
    clock.advance(249)
    await turns()
    expect(done).not.toHaveBeenCalled()
    clock.advance(1)
    expect(await late).toBe('done')
  })

  test('hang: never', async () => {
    const done = effect()
    const ended = vi.fn()
    createAround(`${BEFORE}:hang`, clock, fault)(BEFORE, done).then(ended, ended)
    clock.advance(1e9)
    await turns()
    expect([done.mock.calls.length, ended.mock.calls.length]).toEqual([0, 0])
  })

  test.each([
    [BEFORE, 0],
    [AFTER, 1],
  ])('kill at %s: this very process, with the effect done %i times', async (point, times) => {
    const kill = vi.spyOn(process, 'kill').mockReturnValue(true)
    const done = effect()
    void createAround(`${point}:kill`, clock, fault)(point, done)
    await turns()
    expect(kill).toHaveBeenCalledExactlyOnceWith(process.pid, 'SIGKILL')
    expect(done).toHaveBeenCalledTimes(times)
  })
})

describe('a commit', () => {
  const committed = (action: string) => {
    const commit = vi.fn()
    const run = createAroundCommit(`commit.sync:${action}`, fault)
    return { commit, run: () => run(commit) }
  }

  test('without faults is simply run', () => {
    const commit = vi.fn()
    createAroundCommit(`${BEFORE}:fail`, fault)(commit)
    expect(commit).toHaveBeenCalledTimes(1)
  })

  test('fail: nothing is durable', () => {
    const { commit, run } = committed('fail@2')
    run()
    expect(run).toThrow('commit.sync')
    run()
    expect(commit).toHaveBeenCalledTimes(2)
  })

  test('land-then-fail: durable, and an error', () => {
    const { commit, run } = committed('land-then-fail')
    expect(run).toThrow('commit.sync')
    expect(commit).toHaveBeenCalledTimes(1)
  })

  test('delay holds the thread, as a slow disk does', () => {
    const wait = vi.spyOn(Atomics, 'wait').mockReturnValue('timed-out')
    const { commit, run } = committed('delay=10')
    run()
    expect(wait.mock.calls[0]![3]).toBe(10)
    expect(commit).toHaveBeenCalledTimes(1)
  })

  test('hang and kill: it never ends, and nothing is durable', () => {
    const kill = vi.spyOn(process, 'kill').mockReturnValue(true)
    for (const action of ['hang', 'kill']) {
      const { commit, run } = committed(action)
      expect(run()).toBeInstanceOf(Promise)
      expect(commit).not.toHaveBeenCalled()
    }
    expect(kill).toHaveBeenCalledTimes(1)
  })
})
