import { describe, expect, test } from 'vitest'
import { judged } from '../verdict.ts'
import { newTally, type Tally } from './readers.ts'
import { figuresOf, type Run, verdictsOf } from './report.ts'
import { courseOf } from './scenes.ts'

const options = { seconds: 20, withoutSharedS: 0, instances: 2, rate: 10, lists: 1, budget: 4 }

/** A run in which all is well: of ten reads per scene, one refused after 255 ms. */
function run({
  others,
  alone,
  ...rest
}: Partial<Run> & { others?: Partial<Tally>; alone?: Partial<Tally> } = {}): Run {
  const tally = { offered: 10, hit: 4, coalesced: 1, origin: 1, stale: 3, rejected: 1 }
  const waits = { waitedMs: [1, 2, 255], refusedMs: [255] }
  return {
    ...{ options, startedMs: 0, inFlight: 0, originReads: [0, 10, 20, 1_500], weights: [] },
    scenes: courseOf(options).scenes.map((scene) => ({
      ...scene,
      tally: {
        ...newTally(),
        ...tally,
        ...waits,
        ...(scene.name === 'shared cache killed' ? alone : others),
      },
    })),
    saves: { saved: 1, notSaved: 0, seen: 1, refused: 0, missed: 0, unanswered: 0 },
    own: { offered: 80, ended: 79, inFlight: 1 },
    ...rest,
  }
}

const broken = (one: Run) => verdictsOf(one).filter(({ isKept }) => !isKept)
const missed = (one: Run) => figuresOf(one).filter(({ isMet }) => isMet === false)

describe('a promise is broken', () => {
  test('by none of what is in a good run', () => {
    expect(broken(run())).toEqual([])
  })

  test.each<[string, RegExp, Run]>([
    ['a fifth read of the database within a second', /4 reads/, run({ originReads: [0, 10, 20, 30, 999] })],
    ['a database that was never asked', /4 reads/, run({ originReads: [] })],
    ['a read that ended twice', /answered or refused, once/, run({ others: { hit: 5 } })],
    ['a read that never ended', /answered or refused, once/, run({ inFlight: 1 })],
    ['one lost where nothing was killed', /none is lost/, run({ alone: { hit: 3, lost: 1 } })],
    [
      'instances that count otherwise',
      /count the same/,
      run({ own: { offered: 80, ended: 79, inFlight: 0 } }),
    ],
    ['a read without a share', /without a share/, run({ originReads: [0, dark()] })],
    ['a save that was not seen', /sees it at once/, run({ saves: { ...run().saves, missed: 1 } })],
  ])('by %s', (_, claim, one) => {
    const [first, ...more] = broken(one)
    expect(more).toEqual([])
    expect(first?.claim).toMatch(claim)
  })
})

describe('a figure is missed, and nothing is broken', () => {
  test.each<[string, number, Run]>([
    ['refusals that come late', 4, run({ alone: { refusedMs: [301], waitedMs: [301] } })],
    ['a reader who waits for longer than the rest', 1, run({ others: { waitedMs: [400] } })],
    ['an instance that keeps more and more', 1, run({ weights: [weighed(30, 40), weighed(30, 47)] })],
  ])('by %s', (_, figures, one) => {
    expect(missed(one)).toHaveLength(figures)
    expect(judged(verdictsOf(one), figuresOf(one)).code).toBe(0)
  })

  test('by nothing where it cannot be measured', () => {
    expect(missed(run({ weights: [weighed(null), weighed(null)] }))).toEqual([])
  })
})

test('a broken promise is the exit code, whatever was measured', () => {
  const one = run({ inFlight: 1 })
  const { code, lines } = judged(verdictsOf(one), figuresOf(one))
  expect([code, lines.at(-1)]).toEqual([1, 'A promise was broken.'])
})

/** Within the time in which no share can be alive any more. */
function dark(): number {
  const { toS } = run().scenes.find(({ name }) => name === 'budget not renewed')!
  return toS * 1_000 - 1
}

function weighed(...kept: (number | null)[]) {
  return kept.map((keptMb, n) => ({ name: `instance-${n}`, residentMb: keptMb, keptMb }))
}
