import { describe, expect, test } from 'vitest'
import { describeFailure } from '../failure.ts'
import { CACHE } from './cache.ts'
import { MUTANTS } from './mutants/index.ts'
import { generate } from './plan/generate.ts'
import { run } from './run.ts'

const SEEDS = 200

/** What 200 seeds must bring up, each in 5 of them or more: a generator that makes only fair weather proves nothing. */
const TROUBLE = [
  ...['hit', 'coalesced', 'origin', 'stale', 'went away', 'failed', 'VERSION_BEHIND', 'LOAD_LATE'],
  ...['BUDGET_SPENT spent', 'BUDGET_SPENT late', 'BUDGET_SPENT no-share', 'LOAD_TIMED_OUT'],
  ...['lent less', 'lent nothing', 'met late', 'stalled', 'stopping', 'emptied'],
  ...['looked yours', 'looked others', 'looked unneeded', 'stored', 'released', 'outdated', 'forgotten'],
  ...['told', 'told to forget', 'own save answered'],
]

test(`the promises of @garner/cache hold under ${SEEDS} seeds, and those bring up every kind of trouble`, {
  timeout: 180_000,
}, async () => {
  const seeds = new Map<string, number>()
  for (let seed = 1; seed <= SEEDS; seed++) {
    const plan = generate(seed)
    const { violation, seen } = await run(plan)
    if (violation) throw new Error(await describeFailure(CACHE, plan, { violation }))
    for (const one of seen.keys()) seeds.set(one, (seeds.get(one) ?? 0) + 1)
  }
  expect(TROUBLE.filter((one) => (seeds.get(one) ?? 0) < 5)).toEqual([])
})

describe('a run', () => {
  test('is the same, line by line, when its seed is run again, also beside another', async () => {
    for (const seed of [3, 14]) {
      const first = await run(generate(seed))
      const [again] = await Promise.all([run(generate(seed)), run(generate(seed + 1))])
      expect(again).toEqual(first)
      expect(first.trace.length).toBeGreaterThan(100)
    }
  })

  test('is another under another seed', async () => {
    expect((await run(generate(1))).trace).not.toEqual((await run(generate(2))).trace)
  })

  test('that fails says its seed, what was broken, and a schedule shrunk to what matters', {
    timeout: 60_000,
  }, async () => {
    const { mutation } = MUTANTS.find(({ name }) => name === 'no coalescing in a process')!
    let seed = 1
    let report = await run(generate(seed), mutation)
    while (!report.violation) report = await run(generate(++seed), mutation)
    const { violation } = report
    const plan = generate(seed)
    const text = await describeFailure(CACHE, plan, { violation, mutation })
    expect(text).toContain(`seed ${seed} `)
    expect(text).toContain(`--cache --seed ${seed} `)
    expect(text).toContain(violation.promise)
    const [, commands, faults] = /shrunk to (\d+) and (\d+)/.exec(text)!
    expect(Number(commands)).toBeLessThan(plan.commands.length)
    expect(Number(commands) + Number(faults)).toBeLessThanOrEqual(4)
  })
})
