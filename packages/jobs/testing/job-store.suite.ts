import { describe } from 'vitest'
import { allowanceTests } from './suite/allowances.ts'
import { boundTests } from './suite/bounds.ts'
import { cancelTests } from './suite/cancel.ts'
import { claimTests } from './suite/claim.ts'
import { collisionTests } from './suite/collisions.ts'
import { contractOf, type Deviation, type OpenStore } from './suite/contract.ts'
import { fairnessTests } from './suite/fairness.ts'
import { keyTests } from './suite/keys.ts'
import { leaseTests } from './suite/leases.ts'
import { lifecycleTests } from './suite/lifecycle.ts'
import { limitTests } from './suite/limits.ts'
import { listeningTests } from './suite/listening.ts'
import { manyTests } from './suite/many.ts'
import { pausingTests } from './suite/pausing.ts'
import { priorityTests } from './suite/priorities.ts'
import { progressTests } from './suite/progress.ts'
import { pruningTests } from './suite/pruning.ts'
import { publishTests } from './suite/publish.ts'
import { raceTests } from './suite/races.ts'
import { readingTests } from './suite/reading.ts'
import { scheduleTests } from './suite/schedules.ts'
import { stepTests } from './suite/steps.ts'
import { submitTests } from './suite/submit.ts'
import { togetherTests } from './suite/together.ts'

export type { Deviation, OpenStore, StoreUnderTest } from './suite/contract.ts'

export interface JobStoreSuite<Tx> {
  /** Of the store, as it shall stand in the report. */
  name: string
  /** Opens an empty store. Called once for each test, which closes it again. */
  open: OpenStore<Tx>
  /** Where the store is allowed to differ; each with its reason and a test of what happens instead. */
  deviations?: Deviation<Tx>[]
}

/**
 * The conformance suite of `JobStore` (src/store.ts): one test or more for each of its sentences. Call it at the
 * top of a Vitest file. It works on any store: hand over how to open one.
 */
export function describeJobStore<Tx>({ name, open, deviations = [] }: JobStoreSuite<Tx>): void {
  describe(`job store: ${name}`, () => {
    const contract = contractOf(open, deviations)
    submitTests(contract)
    manyTests(contract)
    boundTests(contract)
    claimTests(contract)
    priorityTests(contract)
    fairnessTests(contract)
    keyTests(contract)
    limitTests(contract)
    leaseTests(contract)
    publishTests(contract)
    togetherTests(contract)
    progressTests(contract)
    stepTests(contract)
    allowanceTests(contract)
    lifecycleTests(contract)
    cancelTests(contract)
    pausingTests(contract)
    scheduleTests(contract)
    pruningTests(contract)
    readingTests(contract)
    listeningTests(contract)
    raceTests(contract)
    collisionTests(contract)
    contract.assertDeviationsAreUsed()
  })
}
