import type { Around, Transaction } from '@garner/db'
import {
  type AttemptContext,
  Degrade,
  type Job,
  type JobStore,
  type Json,
  NotBilled,
  type PaidStep,
  Retry,
} from '@garner/jobs'
import type { Objects } from '../../outbound/objects.ts'
import { type Described, type Vision, VisionError, type VisionErrorCode } from '../../outbound/vision.ts'
import { VISION_ALLOWANCE } from './allowance.ts'
import type { Outcome } from './estimate.ts'

/**
 * The paid part of a photo's jobs: one call of the vision model, paid from its person's allowance.
 *
 * Promises (J7). The use is set aside before the call and the answer stored before anything is done with it, so that
 * a redo finds it. What the provider does not bill is given back. What came back and cannot be used was billed all the
 * same: it is stored like any answer, and nobody calls again. Whether a call was billed whose answer nobody has, only
 * the operator's setting decides (GARNER_BILLING_UNKNOWN), and at most one more call is made.
 * A provider whose quota is used up, or that refuses the key, is everybody's trouble and no photo's: the kind of job is
 * paused, with the reason for the operator to see, and the photo waits.
 *
 * Killed before the call: the use is set aside and nobody knows more; the next try counts it as unknown. Killed in it:
 * the next try asks by the provider's id where there is one; else unknown. Killed after the answer is stored: the next
 * try finds it.
 */
export interface EstimatingDeps {
  vision: Vision
  /** The food table's amounts where its match is sure. */
  outcomeOf: (described: Described) => Outcome | Promise<Outcome>
  jobs: Pick<JobStore<Transaction>, 'steps' | 'pause' | 'transaction'>
  objects: Pick<Objects, 'get'>
  around: Around
  /** Uses of one person in a UTC day. */
  dailyLimit: number
  billingUnknown: 'degrade' | 'retry'
  nowMs: () => number
  onCall: (outcome: string) => void
  onBilled: () => void
  onRefund: () => void
  /** Told, without being waited for, that the work on a photo has begun. */
  onStart: (job: Job) => void
}

/** The kinds of job that call the model: paused together. */
export const VISION_KINDS = ['describe-photo', 'estimate-meal'] as const

const STEP = 'estimate'
/** 3 failed calls in minutes: the provider is out of order, and the photo is better logged without words than waited for. */
export const FAILED_CALLS_MAX = 3
/** 2 calls that got no answer, at most, while it is unknown what was billed: the second is what `retry` asks for. Crashes are the job's tries. */
const UNKNOWN_CALLS_MAX = 2
/** 1 h: one call an hour finds out soon enough that a quota is there again. Also as long as any pause is obeyed. */
const PAUSE_MS = 3_600_000
/** 10 s until a provider is asked again for what it is still working on. */
const STILL_RUNNING_MS = 10_000

/** Failures of ours, or of the answer's way: they say nothing of the provider, and are not counted against the photo. */
const UNCOUNTED: ReadonlySet<string> = new Set<VisionErrorCode>(['aborted', 'still_running'])
const FAILED: ReadonlySet<string> = new Set<VisionErrorCode>([
  ...(['unreachable', 'connection_lost', 'timeout', 'rate_limited', 'overloaded', 'not_a_provider'] as const),
])

/** Whether a try that ended so was a failed call. */
export function isFailedCall(reason: string): boolean {
  return FAILED.has(reason)
}

/**
 * What the photo shows; `failedCalls` is how many calls for it have failed before.
 * Errors: Degrade (the allowance is used up, no provider, an answer that cannot be used, too many failures), Retry.
 */
export async function estimateOf(
  deps: EstimatingDeps,
  attempt: AttemptContext,
  { blob, failedCalls }: { blob: string | null; failedCalls: number },
): Promise<Exclude<Outcome, { outcome: 'unusable' }>> {
  const described = await describedBy(deps, attempt, { blob, failedCalls })
  await deps.around('vision.after-settled', () => {})
  const outcome = await deps.outcomeOf(described)
  if (outcome.outcome === 'unusable') throw new Degrade(outcome.reason)
  return outcome
}

async function describedBy(
  deps: EstimatingDeps,
  attempt: AttemptContext,
  { blob, failedCalls }: { blob: string | null; failedCalls: number },
): Promise<Described> {
  const { vision, jobs, objects } = deps
  const step = (await jobs.steps(attempt.job.id)).find(({ name }) => name === STEP)
  const isPaid = step?.state === 'settled' || step?.state === 'submitted'
  if (!isPaid) {
    if (!vision.isConfigured) throw new Degrade('no_provider')
    if (failedCalls >= FAILED_CALLS_MAX) throw new Degrade('overloaded')
  }
  const photo = step?.state === 'settled' ? null : blob === null ? undefined : await objects.get(blob)
  if (photo === undefined) throw new Degrade('photo_missing')
  const mayPayAgain = deps.billingUnknown === 'retry' && failedCalls < UNKNOWN_CALLS_MAX
  const paid: PaidStep<Described & Json> = {
    use: { ...VISION_ALLOWANCE, limit: deps.dailyLimit },
    ifUnknown: mayPayAgain ? 'retry' : 'degrade',
    call: ({ submitted }) => call(deps, attempt, { photo: photo!, failedCalls, submitted }),
    resume: (providerId) => resume(deps, attempt, { providerId, failedCalls }),
  }
  return attempt.oncePaid(STEP, paid)
}

async function call(
  deps: EstimatingDeps,
  attempt: AttemptContext,
  {
    photo,
    failedCalls,
    submitted,
  }: { photo: Uint8Array; failedCalls: number; submitted: (providerId: string) => Promise<void> },
): Promise<Described & Json> {
  const { vision, around } = deps
  deps.onStart(attempt.job)
  try {
    await around('vision.before-call', () => {})
  } catch (error) {
    throw refunded(deps, 'not_called', new Retry('not_called', { isUncounted: true, cause: error }))
  }
  const operationId = `${attempt.job.id}:${STEP}`
  try {
    const { signal } = attempt
    const described = await around('vision.after-response', () =>
      vision.describe(photo, { operationId, signal, submitted }),
    )
    return billed(deps, described)
  } catch (error) {
    if (!(error instanceof VisionError)) throw error
    deps.onCall(error.code)
    const outcome = await afterFailure(deps, error, failedCalls)
    // Where the bill is open the try ends the same way; the next one finds the step unknown.
    if (error.billing === 'unknown') throw new Retry(error.code, { isUncounted: true })
    throw refunded(deps, error.code, outcome)
  }
}

/** The provider has taken the photo: what goes wrong in asking for the answer says nothing of the bill. */
async function resume(
  deps: EstimatingDeps,
  attempt: AttemptContext,
  { providerId, failedCalls }: { providerId: string; failedCalls: number },
): Promise<Described & Json> {
  try {
    return billed(deps, await deps.vision.resume(providerId, { signal: attempt.signal }))
  } catch (error) {
    if (!(error instanceof VisionError)) throw error
    deps.onCall(error.code)
    const outcome = await afterFailure(deps, error, failedCalls)
    // The provider itself says that the call has failed there: it bills nothing, and another may be made.
    throw error.billing === 'none' ? refunded(deps, error.code, outcome) : outcome
  }
}

function billed(deps: EstimatingDeps, described: Described): Described & Json {
  deps.onBilled()
  deps.onCall(described.outcome === 'unusable' ? described.reason : 'ok')
  return described as Described & Json
}

function refunded(deps: EstimatingDeps, reason: string, outcome: Error): NotBilled {
  deps.onRefund()
  return new NotBilled(reason, outcome)
}

/** How a try ends whose call failed. Its tries are the calls', counted with the photo, not the job's: those are for saving. */
async function afterFailure(deps: EstimatingDeps, error: VisionError, failedCalls: number): Promise<Error> {
  const { code, retry, retryAfterMs } = error
  if (retry === 'never') return new Degrade(code, error)
  if (retry === 'parked') {
    const pauseMs = Math.max(PAUSE_MS, retryAfterMs ?? 0)
    await park(deps, code, pauseMs)
    return new Retry(code, { isUncounted: true, afterMs: pauseMs, cause: error })
  }
  if (!UNCOUNTED.has(code) && failedCalls + 1 >= FAILED_CALLS_MAX) return new Degrade(code, error)
  const askedMs = code === 'still_running' ? (retryAfterMs ?? STILL_RUNNING_MS) : retryAfterMs
  const afterMs = askedMs === undefined ? {} : { afterMs: Math.min(askedMs, PAUSE_MS) }
  return new Retry(code, { isUncounted: true, ...afterMs, cause: error })
}

const PARKED = 'vision: '

/** For all workers, and over restarts: the operator sees the reason on the operations page, and may resume sooner. */
async function park({ jobs, nowMs }: EstimatingDeps, reason: string, pauseMs: number): Promise<void> {
  await jobs.transaction(async (tx) => {
    for (const kind of VISION_KINDS) {
      await jobs.pause(tx, kind, { reason: `${PARKED}${reason}`, untilMs: nowMs() + pauseMs })
    }
  })
}

/** When a worker starts: whoever has put the key or the model right restarts it, and need not wait for the hour. */
export async function unpark(
  jobs: Pick<JobStore<Transaction>, 'paused' | 'resume' | 'transaction'>,
): Promise<void> {
  const parked = (await jobs.paused()).filter(({ reason }) => reason.startsWith(PARKED))
  if (parked.length === 0) return
  await jobs.transaction(async (tx) => {
    for (const { kind } of parked) await jobs.resume(tx, kind)
  })
}

/** The pause that `park` made, by whichever worker; null when calls are made. */
export async function parkedBy(
  jobs: Pick<JobStore<Transaction>, 'paused'>,
): Promise<{ reason: string; sinceMs: number; untilMs: number | null } | null> {
  const found = (await jobs.paused()).find(({ reason }) => reason.startsWith(PARKED))
  if (!found) return null
  return { reason: found.reason.slice(PARKED.length), sinceMs: found.sinceMs, untilMs: found.untilMs }
}
