import { ACCEPTANCE_MUTANTS } from './acceptance.ts'
import { ENDING_MUTANTS } from './endings.ts'
import { FENCE_MUTANTS } from './fences.ts'
import type { Mutant } from './mutant.ts'
import { PAYMENT_MUTANTS } from './payments.ts'

export const MUTANTS: Mutant[] = [
  ...FENCE_MUTANTS,
  ...ACCEPTANCE_MUTANTS,
  ...ENDING_MUTANTS,
  ...PAYMENT_MUTANTS,
]
