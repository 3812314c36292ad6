import type { Around, Clock, Queryable } from '@garner/db'
import type { Attempt } from './attempt.ts'
import type { Deadlines } from './deadlines.ts'
import { type Decision, decide } from './decide.ts'
import { InvariantBroken, PayloadRejected, Permanent, Retry, StoreUnavailable } from './errors.ts'
import { type Handling, inTime } from './handle.ts'
import type { Claim, Job } from './job.ts'
import type { JobKind, Outcome } from './kind.ts'
import { ClaimLost } from './once.ts'
import { untilStored } from './patience.ts'
import { validPayload } from './schema.ts'
import type { Ending, JobStore, PublishAnswer, WriteAnswer } from './store.ts'

/** How one claim ended, as the worker counts it. */
export type AttemptEnd =
  | 'published'
  | 'superseded'
  | 'degraded'
  | 'retried'
  | 'dead'
  | 'discarded'
  | 'stale'
  | 'released'

export interface AttemptDeps<Tx> {
  store: JobStore<Tx>
  /** Where `isAllowed` looks at claim time, outside any transaction. */
  read: Queryable
  clock: Clock
  random: () => number
  deadlines: Deadlines
  around: Around | undefined
  /** Told of errors that are nobody's kind of outcome: bugs, most likely. */
  onFault: (claim: Claim, error: unknown) => void
}

type Write<Tx> = (tx: Tx) => Promise<WriteAnswer>

/**
 * One claimed job, from its handler to its publication.
 *
 * Promises. Exactly one ending is said for the claim, or none: killed anywhere, nothing of it is there and the
 * lease brings the job back; killed after the publication's commit, all of it is there. When the store is away at
 * the end, the publication alone is repeated, never the handler, for as long as the lease is held. An attempt
 * whose lease is lost says so to the store, once: that is where it is refused and counted.
 * Assumes. Somebody else sends heartbeats and cuts the attempt when one is refused, and at shutdown.
 */
export async function runAttempt<Tx>(
  deps: AttemptDeps<Tx>,
  kind: JobKind<Tx>,
  attempt: Attempt<Tx>,
  handling: Handling<Tx>,
): Promise<AttemptEnd> {
  let outcome: Outcome<Tx>
  let hasStarted = false
  try {
    const over = spent(kind, attempt)
    if (over) return conclude(deps, kind, attempt, { next: kind.degrade ? 'degrade' : 'dead', reason: over })
    if (kind.isAllowed && !(await kind.isAllowed(deps.read, attempt.job))) {
      const ending: Ending = { state: 'cancelled', reason: 'discarded' }
      return ended(await publish(deps, attempt, ending, guarded(kind, attempt.job)), 'discarded')
    }
    attempt.payload = validPayload(kind, attempt.job.payload)
    if (attempt.wasCut) throw new Retry(attempt.wasCut)
    hasStarted = true
    outcome = await inTime(deps.deadlines, { attempt, attemptMs: kind.attemptMs, handling })
  } catch (error) {
    if (error instanceof InvariantBroken) throw error
    if (error instanceof ClaimLost) return 'stale' // refused and counted already
    if (attempt.isLost || attempt.wasCut === 'stopped') {
      return ended(await publish(deps, attempt, { state: 'ready', outcome: 'released' }), 'released')
    }
    return conclude(deps, kind, attempt, decideOn(deps, kind, attempt, known(error)))
  } finally {
    if (!hasStarted) handling.skip()
  }
  try {
    const ending: Ending =
      outcome.result === undefined ? { state: 'succeeded' } : { state: 'succeeded', result: outcome.result }
    return ended(await publish(deps, attempt, ending, guarded(kind, attempt.job, outcome.write)), 'published')
  } catch (error) {
    if (error instanceof InvariantBroken) throw error
    // The handler did its work and its writes failed: a fault of ours. The try is spent.
    return conclude(deps, kind, attempt, decideOn(deps, kind, attempt, error))
  }
}

/** The store's trouble is not the job's: it waits as long as its deadline lets it. */
function known(error: unknown): unknown {
  if (error instanceof StoreUnavailable) {
    return new Retry('store_unavailable', { isUncounted: true, cause: error })
  }
  if (error instanceof PayloadRejected) return new Permanent('payload_rejected', error)
  return error
}

/**
 * Why this try must not be made, if so. Crashed tries count: without that a job that kills its worker would be
 * tried for ever. Past its deadline a job gets no further try; its first it gets however long nobody was there.
 */
function spent<Tx>({ policy }: JobKind<Tx>, attempt: Attempt<Tx>): string | null {
  const { job } = attempt
  if (job.attempt > policy.attemptsMax && job.lastError === 'lease_expired') return 'lease_expired'
  if (job.attempt > 1 && attempt.storeNowMs() > job.deadlineAtMs) return job.lastError ?? 'deadline'
  return null
}

function decideOn<Tx>(
  deps: AttemptDeps<Tx>,
  kind: JobKind<Tx>,
  attempt: Attempt<Tx>,
  error: unknown,
): Decision {
  const decision = decide({
    error,
    job: attempt.job,
    policy: kind.policy,
    canDegrade: kind.degrade !== undefined,
    nowMs: attempt.storeNowMs(),
    random: deps.random,
  })
  if (decision.reason === 'internal_error') deps.onFault(attempt.claim, error)
  return decision
}

async function conclude<Tx>(
  deps: AttemptDeps<Tx>,
  kind: JobKind<Tx>,
  attempt: Attempt<Tx>,
  decision: Decision,
): Promise<AttemptEnd> {
  const { next, reason } = decision
  const { job } = attempt
  const say = (ending: Ending, write?: Write<Tx>) => publish(deps, attempt, ending, guarded(kind, job, write))
  try {
    if (next === 'retry') {
      const { runAtMs, isUncounted } = decision
      const write: Write<Tx> | undefined =
        kind.retried && (async (tx) => kind.retried!(tx, job, { reason, runAtMs }))
      return ended(
        await say({ state: 'ready', outcome: 'retried', runAtMs, reason, isUncounted }, write),
        'retried',
      )
    }
    if (next === 'dead') {
      const write: Write<Tx> | undefined = kind.died && (async (tx) => kind.died!(tx, job, reason))
      return ended(await say({ state: 'dead', reason }, write), 'dead')
    }
    const write: Write<Tx> | undefined = kind.degrade && (async (tx) => kind.degrade!(tx, job, reason))
    return ended(await say({ state: 'degraded', reason }, write), 'degraded')
  } catch (error) {
    if (next === 'retry' || error instanceof InvariantBroken) throw error
    // Saving the useful part fails as any save may: it is tried again, and dead when the tries are used up.
    const again = next === 'degrade' ? decideOn(deps, kind, attempt, error) : null
    if (again && again.next !== 'degrade') return conclude(deps, kind, attempt, again)
    // Even showing the end fails: kept as dead, visible and repairable.
    deps.onFault(attempt.claim, error)
    return ended(await publish(deps, attempt, { state: 'dead', reason }), 'dead')
  }
}

/** The handler's writes behind the second look at whether the job may be done at all (J9). */
function guarded<Tx>(kind: JobKind<Tx>, job: Job, write?: Write<Tx>): Write<Tx> | undefined {
  if (!kind.isAllowed) return write
  return async (tx) => {
    if (await kind.isAllowed!(tx, job)) return write?.(tx)
    await kind.discarded?.(tx, job)
    return 'discarded'
  }
}

/** Errors: what `write` throws; a store that is away is waited for until the lease is lost, and then it is stale. */
function publish<Tx>(
  { store, clock, around }: AttemptDeps<Tx>,
  attempt: Attempt<Tx>,
  ending: Ending,
  write?: Write<Tx>,
): Promise<PublishAnswer> {
  const { claim } = attempt
  const ask = around
    ? () => around('publish.after-commit', () => store.publish(claim, ending, seam(around, ending, write)))
    : () => store.publish(claim, ending, write)
  return untilStored({ clock, lost: () => attempt.lostSignal }, ask).catch(orStale)
}

function orStale(error: unknown): PublishAnswer {
  // Nobody will take it any more; the job comes back by its lease.
  if (error instanceof StoreUnavailable) return 'stale-epoch'
  throw error
}

/** The handler's writes with the seam behind them. */
function seam<Tx>(around: Around, ending: Ending, write?: Write<Tx>): Write<Tx> | undefined {
  // A result, or the useful part of one: showing that a try has failed is no result.
  if (ending.state !== 'succeeded' && ending.state !== 'degraded') return write
  return async (tx) => {
    const answer = await write?.(tx)
    await around('publish.before-commit', () => {})
    return answer
  }
}

function ended(answer: PublishAnswer, meant: AttemptEnd): AttemptEnd {
  if (answer === 'stale-epoch') return 'stale'
  if (answer === 'superseded' || answer === 'discarded') return answer
  return meant
}
