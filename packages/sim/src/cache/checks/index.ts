import { ages, invalidations, watermarks } from './answers.ts'
import { budget, lending, shares } from './budget.ts'
import type { NamedChecker } from './checker.ts'
import { oneFill, oneLoad } from './fills.ts'
import { patience, sums } from './readers.ts'

/** All of them. What must be so once all has healed is looked at by the run itself (`run.ts`). */
export const CHECKERS: NamedChecker[] = [
  ...[budget, shares, lending, ages, watermarks, invalidations],
  ...[patience, sums, oneLoad, oneFill],
]
