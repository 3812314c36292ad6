import type { Transaction } from '@garner/db'
import { InvariantBroken } from '../errors.ts'
import type { AttemptOutcome, Claim, JobState } from '../job.ts'
import type { Ending, PublishAnswer, WriteAnswer } from '../store.ts'
import * as sql from './sql.ts'

interface Standing {
  state: JobState
  epoch: number
  leaseUntilMs: number | null
  outcome: AttemptOutcome | null
}

interface Publication {
  claim: Claim
  ending: Ending
  /** Read again after `write`: the lease must still hold when the job is ended, not only before. */
  now: () => number
  write: ((tx: Transaction) => Promise<WriteAnswer>) | undefined
}

/**
 * The fence. The handler's writes and the job's end are in the caller's one transaction: killed before its
 * commit, neither is there, the lease runs out and the job is tried again; killed after it, both are there, and
 * a repeat meets `already-published`. Checking the state alone would not do: a slow worker and its successor
 * both see "running", so the epoch decides, and the lease decides even if there is no successor yet.
 */
export async function publishClaim(tx: Transaction, publication: Publication): Promise<PublishAnswer> {
  const { claim, ending, now, write } = publication
  const standing = await tx.get<Standing>(sql.STANDING, claim.epoch, claim.job.id)
  const refusal = refusalOf(standing, claim, now())
  if (refusal) {
    if (refusal === 'stale-epoch') await tx.run(sql.TOTAL, claim.job.kind, 'stale_publications')
    return refusal
  }
  const answer = await write?.(tx)
  if (answer === 'superseded') await end(tx, publication, { state: 'superseded', error: null })
  else if (answer === 'discarded') await end(tx, publication, { state: 'cancelled', error: 'discarded' })
  else if (ending.state === 'ready') await back(tx, publication, ending)
  else await end(tx, publication, { state: ending.state, error: 'reason' in ending ? ending.reason : null })
  return answer ?? 'published'
}

/** What the claim's repeat, or a claim that has lost its right, is told; null when it may publish. Pure. */
function refusalOf(standing: Standing | undefined, claim: Claim, nowMs: number): PublishAnswer | null {
  if (!standing) return 'superseded' // gone with its subject: quietly, nothing comes back to life
  if (standing.epoch < claim.epoch) {
    throw new InvariantBroken(
      `Job ${claim.job.id} has epoch ${standing.epoch}, below the claimed ${claim.epoch}.`,
    )
  }
  if (standing.outcome !== null && standing.outcome !== 'lease_expired') {
    if (standing.outcome === 'superseded') return 'superseded'
    if (standing.outcome === 'cancelled') return 'discarded'
    return 'already-published'
  }
  if (standing.epoch !== claim.epoch || standing.state !== 'running') return 'stale-epoch'
  if (standing.leaseUntilMs === null || standing.leaseUntilMs <= nowMs) return 'stale-epoch'
  return null
}

async function end(
  tx: Transaction,
  { claim, ending, now }: Publication,
  { state, error }: { state: JobState; error: string | null },
): Promise<void> {
  const { id, kind, tenant } = claim.job
  const nowMs = now()
  const result = state === ending.state && 'result' in ending ? JSON.stringify(ending.result) : null
  const { changes } = await tx.run(sql.END, state, nowMs, error, result, id, claim.epoch, nowMs)
  if (changes !== 1) throw new LeaseRanOut(id)
  await tx.run(sql.ATTEMPT_ENDS, nowMs, state, error, id, claim.epoch)
  await tx.run(sql.TENANT_LOSES, tenant)
  await tx.run(sql.QUEUE_LOSES)
  await tx.run(sql.TOTAL, kind, `finished:${state}`)
  await freeKey(tx, claim)
}

async function back(
  tx: Transaction,
  { claim, now }: Publication,
  ending: Extract<Ending, { state: 'ready' }>,
): Promise<void> {
  const { id, kind } = claim.job
  const nowMs = now()
  const isRetry = ending.outcome === 'retried'
  const runAtMs = isRetry ? ending.runAtMs : nowMs
  const reason = isRetry ? ending.reason : null
  const uncounted = isRetry && !ending.isUncounted ? 0 : 1
  const { virtualTime } = (await tx.get<{ virtualTime: number }>(sql.VIRTUAL_TIME))!
  const { changes } = await tx.run(
    sql.BACK,
    ...[runAtMs > nowMs ? 1 : 0, runAtMs, uncounted, reason, isRetry ? virtualTime : 0],
    ...[id, claim.epoch, nowMs],
  )
  if (changes !== 1) throw new LeaseRanOut(id)
  await tx.run(sql.ATTEMPT_ENDS, nowMs, ending.outcome, reason, id, claim.epoch)
  if (isRetry) await tx.run(sql.TOTAL, kind, 'retries')
  await freeKey(tx, claim)
}

async function freeKey(tx: Transaction, { job }: Claim): Promise<void> {
  if (job.key !== null) await tx.run(sql.FREE_KEY, job.kind, job.key)
}

/** The lease ended while the handler was writing: everything is rolled back and the caller asks again. */
export class LeaseRanOut extends Error {
  readonly code = 'LEASE_RAN_OUT'
  constructor(id: string) {
    super(`The lease of job ${id} ran out inside its publication; nothing was written.`)
    this.name = 'LeaseRanOut'
  }
}
