import type { AnyPlan, Simulation, Violation } from './simulation.ts'

/** 40: what led to it is among the last that happened; the whole trace is `--trace`. */
const TRACE_LINES = 40

/** What somebody needs who was not there: the seed, the promise, the shortest schedule that breaks it, and its trace. */
export async function describeFailure<P extends AnyPlan, M>(
  { option, run, shrink, scheduleOf }: Simulation<P, M>,
  plan: P,
  {
    violation: { promise },
    mutation,
    commit = 'this tree',
  }: { violation: Violation; mutation?: M | undefined; commit?: string },
): Promise<string> {
  const isFailing = async (smaller: P) => (await run(smaller, mutation)).violation?.promise === promise
  const smallest = await shrink(plan, isFailing)
  const { violation, trace } = await run(smallest, mutation)
  return [
    `seed ${plan.seed} at ${commit} breaks "${promise}"`,
    `${violation?.story} (after ${violation?.atMs} ms)`,
    `again: ${['npm run sim --', option, `--seed ${plan.seed} --seeds 1`].filter(Boolean).join(' ')}`,
    `schedule, from ${plan.commands.length} commands and ${plan.faults.length} faults shrunk to ${smallest.commands.length} and ${smallest.faults.length}:`,
    ...scheduleOf(smallest).map((line) => `  ${line}`),
    'trace:',
    ...trace.slice(-TRACE_LINES).map((line) => `  ${line.slice(0, 240)}`),
  ].join('\n')
}
