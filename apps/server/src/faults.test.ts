import { ManualClock } from '@garner/db'
import { describe, expect, test } from 'vitest'
import { createAround, createAroundCommit, FAULT_POINTS, parseFaults } from './faults.ts'

const around = (text: string, clock = new ManualClock()) =>
  createAround(text, clock, (point) => new Error(`fault at ${point}`))

/** What came of running an effect at a point: did it happen, and what was said. */
async function outcome(text: string, point: string): Promise<{ happened: number; said: unknown }> {
  let happened = 0
  const said = await around(text)(point, () => {
    happened++
    return 'done'
  }).catch((error: Error) => error.message)
  return { happened, said }
}

describe('a fault strikes', () => {
  test.each(['submit.before-commit', 'publish.before-commit', 'account.read', 'origin.read'])(
    'at %s before the effect: fail means that nothing happened',
    async (point) => {
      expect(await outcome(`${point}:fail`, point)).toEqual({ happened: 0, said: `fault at ${point}` })
    },
  )

  test.each(['submit.after-commit', 'claim.after-commit', 'fetch.after-response', 'publish.after-commit'])(
    'at %s after the effect: fail means that it happened and nobody was told',
    async (point) => {
      expect(await outcome(`${point}:fail`, point)).toEqual({ happened: 1, said: `fault at ${point}` })
    },
  )

  test('land-then-fail: it happened, and its answer is an error, wherever it stands', async () => {
    for (const point of Object.keys(FAULT_POINTS)) {
      expect(await outcome(`${point}:land-then-fail`, point)).toEqual({
        happened: 1,
        said: `fault at ${point}`,
      })
    }
  })

  test('hang at a point after a commit: the effect is there, and the caller waits for ever', async () => {
    let happened = false
    const answer = around('submit.after-commit:hang')('submit.after-commit', () => {
      happened = true
    })
    const first = await Promise.race([
      answer,
      new Promise((resolve) => setImmediate(resolve, 'still waiting')),
    ])
    expect({ happened, first }).toEqual({ happened: true, first: 'still waiting' })
  })

  test('only the Nth time, when it says so, and only at its own point', async () => {
    const run = around('account.read:fail@2')
    const once = (point: string) => run(point, () => 'done').catch(() => 'failed')
    expect(await once('account.read')).toBe('done')
    expect(await once('origin.read')).toBe('done')
    expect(await once('account.read')).toBe('failed')
    expect(await once('account.read')).toBe('done')
  })

  test('a commit that fails has not happened; one that lands and then fails has', () => {
    const commits = (text: string) => {
      let happened = 0
      const run = createAroundCommit(text, () => new Error('no'))
      expect(() => run(() => happened++)).toThrow('no')
      return happened
    }
    expect(commits('commit.sync:fail')).toBe(0)
    expect(commits('commit.sync:land-then-fail')).toBe(1)
  })
})

describe('the text of GARNER_FAULT', () => {
  test.each([
    'claim.after-commit:kill',
    'commit.sync:delay=10',
    'account.read:fail@3, origin.read:hang',
    'publish.after-commit:land-then-fail@1,',
  ])('%s is read', (text) => {
    expect(parseFaults(text)).toBeInstanceOf(Map)
  })

  test.each([
    ['no.such-point:kill', /faults. lists the points \(no\.such-point:kill\)/],
    ['claim.after-commit', /lists the points/],
    ['constructor:kill', /lists the points/],
    ['claim.after-commit:explode', /kill, fail, hang/],
    ['claim.after-commit:delay', /kill, fail, hang/],
    ['claim.after-commit:kill=5', /kill, fail, hang/],
    ['claim.after-commit:kill@0', /kill, fail, hang/],
    ['claim.after-commit:kill@x', /lists the points/],
  ])('%s is refused, and says what was expected', (text, expected) => {
    expect(parseFaults(text)).toEqual({ expected: expect.stringMatching(expected) })
  })
})
