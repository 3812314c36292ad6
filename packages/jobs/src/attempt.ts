import type { Around, Clock, Queryable } from '@garner/db'
import { type Decision, decide } from './decide.ts'
import { InvariantBroken, Retry, StoreUnavailable } from './errors.ts'
import type { Claim, Json } from './job.ts'
import type { JobKind, Outcome } from './kind.ts'
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
  around: Around
  /** Told of errors that are nobody's kind of outcome: bugs, most likely. */
  onFault: (claim: Claim, error: unknown) => void
}

/**
 * One claimed job, from its handler to its publication.
 *
 * Promises. Exactly one ending is said for the claim, or none: killed anywhere, nothing of it is there and the
 * lease brings the job back; killed after the publication's commit, all of it is there. When the store is away at
 * the end, the publication alone is repeated, never the handler, for as long as the lease is held. An attempt
 * whose lease is lost says so to the store, once: that is where it is refused and counted.
 * Assumes. Somebody else sends heartbeats and aborts `lost` when one is refused; `stop` is aborted at shutdown.
 */
export async function runAttempt<Tx>(
  deps: AttemptDeps<Tx>,
  kind: JobKind<Tx>,
  claim: Claim,
  { lost, stop }: { lost: AbortSignal; stop: AbortSignal },
): Promise<AttemptEnd> {
  const { job } = claim
  const over = spent(kind, claim, deps.clock.nowMs())
  if (over)
    return conclude(deps, kind, claim, lost, { next: kind.degrade ? 'degrade' : 'dead', reason: over })
  let outcome: Outcome<Tx>
  try {
    if (kind.isAllowed && !(await kind.isAllowed(deps.read, job))) {
      return ended(
        await publish(deps, claim, lost, { state: 'cancelled', reason: 'discarded' }, guarded(kind, claim)),
        'discarded',
      )
    }
    outcome = await inTime(deps.clock, kind, AbortSignal.any([lost, stop]), (late) => {
      const signal = AbortSignal.any([lost, stop, late])
      return kind.handle({ job, payload: job.payload as Json, signal })
    })
  } catch (error) {
    if (error instanceof InvariantBroken) throw error
    if (lost.aborted || stop.aborted) return release(deps, claim, lost)
    // The store's trouble is not the job's: it waits as long as its deadline lets it.
    const isStore = error instanceof StoreUnavailable
    const known = isStore ? new Retry('store_unavailable', { isUncounted: true, cause: error }) : error
    return conclude(deps, kind, claim, lost, decideOn(deps, kind, claim, known))
  }
  try {
    const ending: Ending = {
      state: 'succeeded',
      ...(outcome.result !== undefined && { result: outcome.result }),
    }
    return ended(await publish(deps, claim, lost, ending, guarded(kind, claim, outcome.write)), 'published')
  } catch (error) {
    if (error instanceof InvariantBroken) throw error
    // The handler did its work and its writes failed: a fault of ours. The try is spent.
    return conclude(deps, kind, claim, lost, decideOn(deps, kind, claim, error))
  }
}

/**
 * Why this try must not be made, if so. Crashed tries count: without that a job that kills its worker would be
 * tried for ever. Past its deadline a job gets no further try; its first it gets however long nobody was there.
 */
function spent<Tx>({ policy }: JobKind<Tx>, { job }: Claim, nowMs: number): string | null {
  if (job.attempt > policy.attemptsMax && job.lastError === 'lease_expired') return 'lease_expired'
  if (job.attempt > 1 && nowMs > job.deadlineAtMs) return job.lastError ?? 'deadline'
  return null
}

/**
 * The handler, for at most `attemptMs`: one that never returns would keep its slot, its key and, through the
 * heartbeats, its lease for ever. Its late result is thrown away.
 */
async function inTime<Tx>(
  clock: Clock,
  kind: JobKind<Tx>,
  ended: AbortSignal,
  handle: (late: AbortSignal) => Promise<Outcome<Tx>>,
): Promise<Outcome<Tx>> {
  const late = new AbortController()
  const over = new AbortController()
  const work = handle(late.signal)
  const timeout = clock.sleep(kind.attemptMs, AbortSignal.any([over.signal, ended])).then(() => null)
  try {
    const first = await Promise.race([work, timeout])
    if (first) return first
    work.catch(() => {})
    late.abort()
    throw new Retry('attempt_timeout')
  } finally {
    over.abort('over')
  }
}

function decideOn<Tx>(deps: AttemptDeps<Tx>, kind: JobKind<Tx>, claim: Claim, error: unknown): Decision {
  const decision = decide({
    error,
    job: claim.job,
    policy: kind.policy,
    canDegrade: kind.degrade !== undefined,
    nowMs: deps.clock.nowMs(),
    random: deps.random,
  })
  if (decision.reason === 'internal_error') deps.onFault(claim, error)
  return decision
}

async function conclude<Tx>(
  deps: AttemptDeps<Tx>,
  kind: JobKind<Tx>,
  claim: Claim,
  lost: AbortSignal,
  decision: Decision,
): Promise<AttemptEnd> {
  const { next, reason } = decision
  try {
    if (next === 'retry') {
      const { runAtMs, isUncounted } = decision
      const write = guarded(
        kind,
        claim,
        kind.retried && ((tx) => kind.retried!(tx, claim.job, { reason, runAtMs })),
      )
      const ending: Ending = { state: 'ready', outcome: 'retried', runAtMs, reason, isUncounted }
      return ended(await publish(deps, claim, lost, ending, write), 'retried')
    }
    if (next === 'dead') {
      const write = guarded(kind, claim, kind.died && ((tx) => kind.died!(tx, claim.job, reason)))
      return ended(await publish(deps, claim, lost, { state: 'dead', reason }, write), 'dead')
    }
    const write = guarded(kind, claim, kind.degrade && ((tx) => kind.degrade!(tx, claim.job, reason)))
    return ended(await publish(deps, claim, lost, { state: 'degraded', reason }, write), 'degraded')
  } catch (error) {
    if (next === 'retry' || error instanceof InvariantBroken) throw error
    // Even saving the useful part, or showing the end, fails: kept as dead, visible and repairable.
    deps.onFault(claim, error)
    return ended(await publish(deps, claim, lost, { state: 'dead', reason }), 'dead')
  }
}

async function release<Tx>(deps: AttemptDeps<Tx>, claim: Claim, lost: AbortSignal): Promise<AttemptEnd> {
  return ended(await publish(deps, claim, lost, { state: 'ready', outcome: 'released' }), 'released')
}

/** The handler's writes behind the second look at whether the job may be done at all (J9). */
function guarded<Tx>(
  kind: JobKind<Tx>,
  claim: Claim,
  write?: (tx: Tx) => Promise<WriteAnswer>,
): (tx: Tx) => Promise<WriteAnswer> {
  return async (tx) => {
    if (kind.isAllowed && !(await kind.isAllowed(tx, claim.job))) {
      await kind.discarded?.(tx, claim.job)
      return 'discarded'
    }
    return write?.(tx)
  }
}

/** 100 ms to 2 s between tries to reach the store: long enough not to add to its trouble. */
const STORE_WAIT_MS = { first: 100, most: 2_000 }

/** Errors: what `write` throws; a store that is away is waited for until the lease is lost, and then it is stale. */
async function publish<Tx>(
  deps: AttemptDeps<Tx>,
  claim: Claim,
  lost: AbortSignal,
  ending: Ending,
  write?: (tx: Tx) => Promise<WriteAnswer>,
): Promise<PublishAnswer> {
  const fenced = async (tx: Tx): Promise<WriteAnswer> => {
    const answer = await write?.(tx)
    await deps.around('publish.before-commit', () => {})
    return answer
  }
  for (let waitMs = STORE_WAIT_MS.first; ; waitMs = Math.min(waitMs * 2, STORE_WAIT_MS.most)) {
    try {
      return await deps.around('publish.after-commit', () => deps.store.publish(claim, ending, fenced))
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error
      // Nobody will take it any more; the job comes back by its lease.
      if (lost.aborted) return 'stale-epoch'
      await deps.clock.sleep(waitMs, lost)
    }
  }
}

function ended(answer: PublishAnswer, meant: AttemptEnd): AttemptEnd {
  if (answer === 'stale-epoch') return 'stale'
  if (answer === 'superseded' || answer === 'discarded') return answer
  return meant
}
