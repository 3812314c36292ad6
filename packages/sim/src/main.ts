/**
 * `npm run sim -- [--cache] --seeds N [--seed S] [--trace]`: runs N seeds from S on (default 500, from 1), of the jobs or
 * of the cache. `npm run sim -- [--cache] --mutants`: takes out one guard after the other, and writes into the README
 * after how many seeds each is found. Exits with 1 when a promise is broken, or a mutant is not found.
 */
import { execFileSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { systemClock } from '@garner/db'
import { CACHE } from './cache/cache.ts'
import { describeFailure } from './failure.ts'
import { JOBS } from './jobs.ts'
import { search } from './mutants/search.ts'
import { writeTable } from './mutants/table.ts'
import type { AnyPlan, Simulation } from './simulation.ts'

/** 2,000: a guard whose loss so many seeds do not see needs a better generator. */
const SEEDS_PER_MUTANT = 2_000

const { values } = parseArgs({
  options: {
    cache: { type: 'boolean', default: false },
    seeds: { type: 'string', default: '500' },
    seed: { type: 'string', default: '1' },
    trace: { type: 'boolean', default: false },
    mutants: { type: 'boolean', default: false },
  },
})

process.exitCode = values.cache ? await main(CACHE) : await main(JOBS)

function main<P extends AnyPlan, M>(simulation: Simulation<P, M>): Promise<number> {
  if (values.mutants) return tryMutants(simulation)
  return runSeeds(simulation, { first: wholeNumber('seed'), count: wholeNumber('seeds') })
}

async function runSeeds<P extends AnyPlan, M>(
  simulation: Simulation<P, M>,
  { first, count }: { first: number; count: number },
): Promise<number> {
  const clock = systemClock()
  const startedMs = clock.monotonicMs()
  const sums: Record<string, number> = {}
  const most: Record<string, number> = {}
  let failed = 0
  for (let seed = first; seed < first + count; seed++) {
    const plan = simulation.generate(seed)
    const report = await simulation.run(plan)
    for (const [name, value] of Object.entries(report.sums)) sums[name] = (sums[name] ?? 0) + value
    for (const [name, value] of Object.entries(report.most)) most[name] = Math.max(most[name] ?? 0, value)
    if (values.trace) console.log(report.trace.join('\n'))
    const { violation } = report
    if (!violation) continue
    failed++
    console.error(`${await describeFailure(simulation, plan, { violation, commit: commit() })}\n`)
  }
  const seconds = Math.max(0.001, (clock.monotonicMs() - startedMs) / 1_000)
  const figures = [
    ...Object.entries(sums).map(([name, value]) => `${value} ${name}`),
    ...Object.entries(most).map(([name, value]) => `at most ${value} ${name}`),
  ]
  console.log(
    `${count} seeds from ${first}: ${failed} failed; ${figures.join(', ')}; ${seconds.toFixed(1)} s`,
  )
  return failed > 0 ? 1 : 0
}

async function tryMutants<P extends AnyPlan, M>(simulation: Simulation<P, M>): Promise<number> {
  const found = []
  for (const mutant of simulation.mutants) {
    const one = await search(simulation, mutant, SEEDS_PER_MUTANT)
    found.push(one)
    const how = one ? `${one.seeds} seeds, ${one.violation.promise}: ${one.violation.story}` : 'NOT FOUND'
    console.log(`${mutant.name}: ${how}`)
  }
  writeTable(simulation, found)
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
