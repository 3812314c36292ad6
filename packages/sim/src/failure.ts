import type { Violation } from './checks/checker.ts'
import type { Mutation } from './mutants/mutant.ts'
import type { Plan } from './plan/plan.ts'
import { scheduleOf, shrink } from './plan/shrink.ts'
import { run } from './run.ts'

/** 40: what led to it is among the last that happened; the whole trace is `--trace`. */
const TRACE_LINES = 40

/** What somebody needs who was not there: the seed, the promise, the shortest schedule that breaks it, and its trace. */
export async function describeFailure(
  plan: Plan,
  { promise }: Violation,
  { mutation, commit = 'this tree' }: { mutation?: Mutation | undefined; commit?: string } = {},
): Promise<string> {
  const isFailing = async (smaller: Plan) => (await run(smaller, mutation)).violation?.promise === promise
  const smallest = await shrink(plan, isFailing)
  const { violation, trace } = await run(smallest, mutation)
  return [
    `seed ${plan.seed} at ${commit} breaks "${promise}"`,
    `${violation?.story} (after ${violation?.atMs} ms)`,
    `again: npm run sim -- --seed ${plan.seed} --seeds 1`,
    `schedule, from ${plan.commands.length} commands and ${plan.faults.length} faults shrunk to ${smallest.commands.length} and ${smallest.faults.length}:`,
    ...scheduleOf(smallest).map((line) => `  ${line}`),
    'trace:',
    ...trace.slice(-TRACE_LINES).map((line) => `  ${line.slice(0, 240)}`),
  ].join('\n')
}
