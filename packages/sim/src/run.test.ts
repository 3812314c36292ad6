import { describe, expect, test } from 'vitest'
import { describeFailure } from './failure.ts'
import { JOBS } from './jobs.ts'
import { MUTANTS } from './mutants/index.ts'
import { generate } from './plan/generate.ts'
import { run } from './run.ts'

const SEEDS = 500

/** What 500 seeds must bring up, each in 10 of them or more: a generator that makes only fair weather proves nothing. */
const TROUBLE = [
  ...['submitted again', 'conflict', 'full', 'fired', 'claimed again', 'died', 'told to stop', 'fault'],
  ...[
    'heartbeat lost',
    'progress lost',
    'published failed',
    'published stale-epoch',
    'published already-published',
  ],
  ...[
    'published superseded',
    'published discarded',
    'ended as dead',
    'ended as degraded',
    'ended as retried',
  ],
  ...[
    'ended as released',
    'opened unknown',
    'opened submitted',
    'opened exhausted',
    'opened settled',
    'opened lost',
  ],
  ...[
    'recorded refunded',
    'recorded lost',
    'superseded',
    'cancelled',
    'discarded',
    'forgotten',
    'pruned',
    'repaired',
  ],
  ...['paused', 'weighed', 'not allowed when claimed', 'not allowed when published'],
]

test(`the promises of @garner/jobs hold under ${SEEDS} seeds, and those bring up every kind of trouble`, {
  timeout: 180_000,
}, async () => {
  const seeds = new Map<string, number>()
  for (let seed = 1; seed <= SEEDS; seed++) {
    const plan = generate(seed)
    const { violation, seen } = await run(plan)
    if (violation) throw new Error(await describeFailure(JOBS, plan, { violation }))
    for (const one of seen.keys()) seeds.set(one, (seeds.get(one) ?? 0) + 1)
  }
  expect(TROUBLE.filter((one) => (seeds.get(one) ?? 0) < 10)).toEqual([])
})

describe('a run', () => {
  test('is the same, line by line, when its seed is run again', async () => {
    for (const seed of [3, 14, 159]) {
      const first = await run(generate(seed))
      const again = await run(generate(seed))
      expect(again.trace).toEqual(first.trace)
      expect(again).toEqual(first)
      expect(first.trace.length).toBeGreaterThan(100)
    }
  })

  test('is another under another seed', async () => {
    const [one, other] = await Promise.all([run(generate(1)), run(generate(2))])
    expect(one.trace).not.toEqual(other.trace)
  })

  test('is not disturbed by another that runs at the same time', async () => {
    const alone = await run(generate(7))
    const [together] = await Promise.all([run(generate(7)), run(generate(8)), run(generate(7))])
    expect(together).toEqual(alone)
  })

  test('that fails says its seed, what was broken, and a schedule shrunk to what matters', async () => {
    const mutant = MUTANTS.find(({ name }) => name === 'no epoch check')!
    let seed = 1
    let report = await run(generate(seed), mutant.mutation)
    while (!report.violation) report = await run(generate(++seed), mutant.mutation)
    const plan = generate(seed)
    const text = await describeFailure(JOBS, plan, { violation: report.violation, mutation: mutant.mutation })
    expect(text).toContain(`seed ${seed} `)
    expect(text).toContain(report.violation.promise)
    const [, commands, faults] = /shrunk to (\d+) and (\d+)/.exec(text)!
    expect(Number(commands)).toBeLessThan(plan.commands.length)
    expect(Number(commands) + Number(faults)).toBeLessThanOrEqual(6)
  })
})
