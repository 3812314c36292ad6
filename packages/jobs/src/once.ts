import type { Around, Clock } from '@garner/db'
import type { AllowanceUse } from './allowance.ts'
import { AllowanceExhausted, BillingUnknown, NotBilled } from './errors.ts'
import type { Claim, Json } from './job.ts'
import { untilStored } from './patience.ts'
import type { JobStore, StepChange } from './store.ts'

/** A part of a job that somebody bills for. */
export interface PaidStep<T extends Json> {
  use: AllowanceUse
  /**
   * Makes the call. Say `submitted` with the provider's own id for it as soon as it is known, if `resume` can ask
   * by it. Throw NotBilled for failures that the provider does not bill: the use is given back. Whatever else it
   * throws leaves the bill open: the next try finds it unknown.
   */
  call(paid: { submitted(providerId: string): Promise<void> }): Promise<T>
  /** Asks for the result of a call that an earlier try made, by the provider's id. NotBilled if there is none. */
  resume?(providerId: string): Promise<T>
  /** An earlier try may or may not have been billed: `degrade` pays nothing more, `retry` pays again. */
  ifUnknown: 'degrade' | 'retry'
}

/** The claim is not ours any more: the attempt ends, and nothing it says counts. */
export class ClaimLost extends Error {
  readonly code = 'CLAIM_LOST'
  constructor(id: string) {
    super(`Job ${id} has been claimed by another worker, or is gone.`)
    this.name = 'ClaimLost'
  }
}

export interface OnceDeps<Tx> {
  store: Pick<JobStore<Tx>, 'openStep' | 'recordStep'>
  clock: Clock
  claim: Claim
  /** The seam `allowance.reserve`. */
  around?: Around | undefined
  /** Aborted when the lease is lost. */
  lost: () => AbortSignal
}

/**
 * Cut before the result is stored: the part is done again by the next try. Cut after: the next try finds it.
 * The store being away does not lose it: storing is repeated until the lease is lost.
 */
export async function once<Tx, T extends Json>(
  deps: OnceDeps<Tx>,
  name: string,
  work: () => Promise<T>,
): Promise<T> {
  const standing = await untilStored(deps, () => deps.store.openStep(deps.claim, { name }))
  if (standing.state === 'settled') return standing.result as T
  if (standing.state === 'lost') throw new ClaimLost(deps.claim.job.id)
  const result = await work()
  await record(deps, name, { state: 'settled', result })
  return result
}

/**
 * Cut at each seam: before the opening is durable, nothing was called and nothing counted; between it and the call
 * or its answer, the step stays `reserved` (or `submitted`, then the next try resumes) and the next try finds it
 * unknown; after the result is stored, the next try finds the result.
 */
export async function oncePaid<Tx, T extends Json>(
  deps: OnceDeps<Tx>,
  name: string,
  { use, call, resume, ifUnknown }: PaidStep<T>,
): Promise<T> {
  const evenIfUnknown = ifUnknown === 'retry'
  const opening = { name, use, evenIfUnknown }
  const open = () => deps.store.openStep(deps.claim, opening)
  const reserve = () => (deps.around ? deps.around('allowance.reserve', open) : open())
  const standing = await untilStored(deps, reserve)
  switch (standing.state) {
    case 'settled':
      return standing.result as T
    case 'lost':
      throw new ClaimLost(deps.claim.job.id)
    case 'exhausted':
      throw new AllowanceExhausted({ ...standing, allowance: use.allowance })
    case 'unknown':
      throw new BillingUnknown()
    case 'submitted':
      if (!resume) throw new BillingUnknown()
      return settled(deps, name, () => resume(standing.providerId))
    case 'open': {
      const submitted = (providerId: string) => record(deps, name, { state: 'submitted', providerId })
      return settled(deps, name, () => call({ submitted }))
    }
  }
}

async function settled<Tx, T extends Json>(
  deps: OnceDeps<Tx>,
  name: string,
  pay: () => Promise<T>,
): Promise<T> {
  let result: T
  try {
    result = await pay()
  } catch (error) {
    if (!(error instanceof NotBilled)) throw error
    await record(deps, name, { state: 'refunded', reason: error.reason })
    throw error.outcome
  }
  await record(deps, name, { state: 'settled', result })
  return result
}

async function record<Tx>(deps: OnceDeps<Tx>, name: string, change: StepChange): Promise<void> {
  const answer = await untilStored(deps, () => deps.store.recordStep(deps.claim, name, change))
  if (answer === 'lost') throw new ClaimLost(deps.claim.job.id)
}
