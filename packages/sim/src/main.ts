/**
 * `npm run sim -- --seeds N [--seed S] [--trace]`: runs N seeds from S on (default 500, from 1).
 * `npm run sim -- --mutants`: takes out one guard after the other, and writes into the README after how many seeds each
 * is found. Exits with 1 when a promise is broken, or a mutant is not found.
 */
import { execFileSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { systemClock } from '@garner/db'
import { describeFailure } from './failure.ts'
import { MUTANTS } from './mutants/index.ts'
import { search } from './mutants/search.ts'
import { writeTable } from './mutants/table.ts'
import { generate } from './plan/generate.ts'
import { run } from './run.ts'

/** 2,000: a guard whose loss so many seeds do not see needs a better generator. */
const SEEDS_PER_MUTANT = 2_000

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '500' },
    seed: { type: 'string', default: '1' },
    trace: { type: 'boolean', default: false },
    mutants: { type: 'boolean', default: false },
  },
})

process.exitCode = values.mutants
  ? await tryMutants()
  : await runSeeds({ first: wholeNumber('seed'), count: wholeNumber('seeds') })

async function runSeeds({ first, count }: { first: number; count: number }): Promise<number> {
  const clock = systemClock()
  const startedMs = clock.monotonicMs()
  const sums = { events: 0, jobs: 0, claimsToEnd: 0 }
  let failed = 0
  for (let seed = first; seed < first + count; seed++) {
    const plan = generate(seed)
    const { violation, trace, events, jobs, claimsToEnd } = await run(plan)
    sums.events += events
    sums.jobs += jobs
    sums.claimsToEnd = Math.max(sums.claimsToEnd, claimsToEnd)
    if (values.trace) console.log(trace.join('\n'))
    if (!violation) continue
    failed++
    console.error(`${await describeFailure(plan, violation, { commit: commit() })}\n`)
  }
  const seconds = Math.max(0.001, (clock.monotonicMs() - startedMs) / 1_000)
  console.log(
    `${count} seeds from ${first}: ${failed} failed; ${sums.jobs} jobs, ${sums.events} events; ` +
      `all ended within ${sums.claimsToEnd} claims of the healing; ${seconds.toFixed(1)} s`,
  )
  return failed > 0 ? 1 : 0
}

async function tryMutants(): Promise<number> {
  const found = []
  for (const mutant of MUTANTS) {
    const one = await search(mutant, SEEDS_PER_MUTANT)
    found.push(one)
    const how = one ? `${one.seeds} seeds, ${one.violation.promise}: ${one.violation.story}` : 'NOT FOUND'
    console.log(`${mutant.name}: ${how}`)
  }
  writeTable(found)
  return found.includes(null) ? 1 : 0
}

function wholeNumber(option: 'seed' | 'seeds'): number {
  const value = Number(values[option])
  if (!Number.isSafeInteger(value) || value < 0) {
    throw new RangeError(`--${option} ${values[option]}: expected a whole number.`)
  }
  return value
}

function commit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
  } catch {
    return 'no commit'
  }
}
