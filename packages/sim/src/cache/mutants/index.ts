import { ANSWER_MUTANTS } from './answers.ts'
import { FILL_MUTANTS } from './fills.ts'
import type { Mutant } from './mutant.ts'
import { SHARE_MUTANTS } from './shares.ts'

export const MUTANTS: Mutant[] = [...SHARE_MUTANTS, ...FILL_MUTANTS, ...ANSWER_MUTANTS]
