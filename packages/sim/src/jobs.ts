import { MUTANTS } from './mutants/index.ts'
import type { Mutation } from './mutants/mutant.ts'
import { generate } from './plan/generate.ts'
import type { Plan } from './plan/plan.ts'
import { scheduleOf, shrink } from './plan/shrink.ts'
import { run } from './run.ts'
import type { Simulation } from './simulation.ts'

/** The simulation of @garner/jobs. */
export const JOBS: Simulation<Plan, Mutation> = {
  option: '',
  mutants: MUTANTS,
  ...{ generate, run, shrink, scheduleOf },
}
