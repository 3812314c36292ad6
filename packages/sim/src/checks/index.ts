import { accepted } from './accepted.ts'
import { allowances } from './allowances.ts'
import { bills } from './bills.ts'
import { bounds } from './bounds.ts'
import type { NamedChecker } from './checker.ts'
import { fairness } from './fairness.ts'
import { history } from './history.ts'
import { leases } from './leases.ts'
import { limits } from './limits.ts'
import { operations } from './operations.ts'
import { publications } from './publications.ts'
import { redo } from './redo.ts'
import { revocation } from './revocation.ts'
import { told } from './told.ts'
import { tries } from './tries.ts'

/** All of them. J2 and liveness are looked at by the run itself (`run.ts`): they are about its end. */
export const CHECKERS: NamedChecker[] = [
  ...[accepted, leases, told, publications, operations, tries, bills, allowances],
  ...[bounds, fairness, revocation, redo, limits, history],
]
