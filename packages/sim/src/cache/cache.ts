import type { Simulation } from '../simulation.ts'
import { MUTANTS } from './mutants/index.ts'
import type { Mutation } from './mutants/mutant.ts'
import { generate } from './plan/generate.ts'
import type { Plan } from './plan/plan.ts'
import { scheduleOf, shrink } from './plan/shrink.ts'
import { run } from './run.ts'

/** The simulation of @garner/cache. */
export const CACHE: Simulation<Plan, Mutation> = {
  option: '--cache',
  mutants: MUTANTS,
  ...{ generate, run, shrink, scheduleOf },
}
