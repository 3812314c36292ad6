import { InvariantBroken } from '../errors.ts'
import type { Claim, JobState } from '../job.ts'
import type { Ending, PublishAnswer, WriteAnswer } from '../store.ts'
import type { Tables } from './tables.ts'
import type { MemoryTransaction } from './transaction.ts'

interface Publication {
  claim: Claim
  ending: Ending
  /** Read again after `write`: the lease must hold when the job ends, not only when the writing began. */
  now: () => number
  write: ((tx: MemoryTransaction) => Promise<WriteAnswer>) | undefined
}

/** The fence (J3, J4): who may not publish is told why and nothing is written. */
export async function publishClaim(
  tx: MemoryTransaction,
  tables: Tables,
  { claim, ending, now, write }: Publication,
): Promise<PublishAnswer> {
  const refusal = refusalOf(tables, claim, now())
  if (refusal) {
    if (refusal === 'stale-epoch') tables.addToTotal(tx, claim.job.kind, 'stale_publications')
    return refusal
  }
  const answer = await write?.(tx)
  if (refusalOf(tables, claim, now())) throw new LeaseRanOut()

  if (answer === 'superseded') end(tx, tables, { claim, state: 'superseded', nowMs: now() })
  else if (answer === 'discarded')
    end(tx, tables, { claim, state: 'cancelled', error: 'discarded', nowMs: now() })
  else if (ending.state === 'ready') giveBack(tx, tables, { claim, ending, nowMs: now() })
  else {
    const { state, result = null } = ending
    const error = 'reason' in ending ? ending.reason : null
    end(tx, tables, { claim, state, error, result: structuredClone(result), nowMs: now() })
  }
  return answer ?? 'published'
}

function refusalOf(tables: Tables, { job, epoch }: Claim, nowMs: number): PublishAnswer | null {
  const row = tables.jobs.get(job.id)
  if (!row) return 'superseded' // gone with its subject, or pruned
  if (row.epoch < epoch)
    throw new InvariantBroken(`Job ${job.id} has epoch ${row.epoch}, below the claimed ${epoch}.`)
  const outcome = tables.attempts.get(job.id)?.find((one) => one.epoch === epoch)?.outcome ?? null
  if (outcome === 'superseded') return 'superseded'
  if (outcome === 'cancelled') return 'discarded'
  if (outcome !== null && outcome !== 'lease_expired') return 'already-published'
  const holdsLease = row.state === 'running' && row.epoch === epoch && row.leaseUntilMs! > nowMs
  return holdsLease ? null : 'stale-epoch'
}

function end(
  tx: MemoryTransaction,
  tables: Tables,
  {
    claim,
    state,
    nowMs,
    error = null,
    result = null,
  }: {
    claim: Claim
    state: Exclude<JobState, 'ready' | 'running'>
    nowMs: number
    error?: string | null
    result?: Claim['job']['result']
  },
): void {
  const row = tables.patch(tx, tables.jobs.get(claim.job.id)!, {
    state,
    leaseUntilMs: null,
    finishedAtMs: nowMs,
    lastError: error,
    result,
  })
  tables.endAttempt(tx, row, { endedAtMs: nowMs, outcome: state, error })
  tables.addToTotal(tx, row.kind, `finished:${state}`)
}

function giveBack(
  tx: MemoryTransaction,
  tables: Tables,
  { claim, ending, nowMs }: { claim: Claim; ending: Extract<Ending, { state: 'ready' }>; nowMs: number },
): void {
  const job = tables.jobs.get(claim.job.id)!
  const isRetry = ending.outcome === 'retried'
  const runAtMs = isRetry ? ending.runAtMs : nowMs
  const row = tables.patch(tx, job, {
    state: 'ready',
    isAside: isRetry,
    leaseUntilMs: null,
    runAtMs,
    // A try that does not count has used up its epoch all the same: a fence is never handed out twice.
    attempt: isRetry && !ending.isUncounted ? job.attempt : job.attempt - 1,
    lastError: isRetry ? ending.reason : job.lastError,
  })
  const error = isRetry ? ending.reason : null
  tables.endAttempt(tx, row, { endedAtMs: nowMs, outcome: ending.outcome, error })
  if (isRetry) tables.addToTotal(tx, row.kind, 'retries')
}

/** The lease ended while the handler was writing: its writes are undone, and the claim is asked about again. */
export class LeaseRanOut extends Error {}
