import { OwnFault, type Transaction } from '@garner/db'
import { type SyncStatements, syncOf } from '@garner/db/sqlite'
import { InvariantBroken } from '../errors.ts'
import type { AttemptOutcome, Claim, JobState } from '../job.ts'
import type { Ending, PublishAnswer, WriteAnswer } from '../store.ts'
import { Ledger } from './ledger.ts'
import { toText } from './rows.ts'
import * as sql from './sql.ts'

export interface Publication {
  claim: Claim
  ending: Ending
  write: ((tx: Transaction) => Promise<WriteAnswer>) | undefined
}

interface Standing {
  state: JobState
  epoch: number
  leaseUntilMs: number | null
  /** Whether the row is the attempt of its epoch: it runs, or it has ended as the job did. */
  isAttempt: 0 | 1
  /** How the claim's own attempt ended, if that did not end the job. */
  filed: AttemptOutcome | null
}

/**
 * The fence, for all publications that share a commit. The handlers' writes and the jobs' ends are in one
 * transaction: killed before its commit, none is there, the leases run out and the jobs are tried again; killed after
 * it, all are there, and a repeat meets `already-published`. Checking the state alone would not do: a slow worker and
 * its successor both see "running", so the epoch decides, and the lease decides even if there is no successor yet.
 *
 * Writes run one after the other, never interleaved. One that throws, or that outlasts its lease, undoes the batch
 * (OwnFault); what can be told without undoing anything (a stale claim among many) is an answer.
 */
export async function publishAll(
  tx: Transaction,
  publications: Publication[],
  now: () => number,
): Promise<PublishAnswer[]> {
  const db = syncOf(tx)
  const ledger = new Ledger(db, now())
  const answers: PublishAnswer[] = []
  for (const one of publications) {
    const answer = one.write
      ? await publishWrites(tx, one, { ledger, now })
      : publish(db, one, { ledger, now })
    if (answer === 'stale-epoch') ledger.count('stale_publications', one.claim.job.kind)
    answers.push(answer)
  }
  ledger.write()
  return answers
}

/** Without writes of the handler's: the job's end carries the fence itself, and only a refusal is looked into. */
function publish(
  db: SyncStatements,
  { claim, ending }: Publication,
  { ledger, now }: { ledger: Ledger; now: () => number },
): PublishAnswer {
  const nowMs = now()
  if (end(db, claim, ending, { ledger, nowMs })) return 'published'
  const refusal = refusalOf(db, claim, nowMs)
  if (!refusal)
    throw new InvariantBroken(`Job ${claim.job.id} is ${claim.epoch}'s to end, and was not ended.`)
  return refusal
}

async function publishWrites(
  tx: Transaction,
  { claim, ending, write }: Publication,
  { ledger, now }: { ledger: Ledger; now: () => number },
): Promise<PublishAnswer> {
  const db = syncOf(tx)
  const refusal = refusalOf(db, claim, now())
  if (refusal) return refusal
  let answer: WriteAnswer
  try {
    answer = await write!(tx)
  } catch (error) {
    throw new OwnFault(error)
  }
  // The clock is read again: the lease must still hold when the job ends, not only when the writing began.
  const hasEnded = end(db, claim, answer ? ENDINGS[answer] : ending, { ledger, nowMs: now() })
  if (!hasEnded) throw new OwnFault(new LeaseRanOut(claim.job.id))
  return answer ?? 'published'
}

/** What the writes found, which wins over the ending that was meant. */
const ENDINGS = {
  superseded: { state: 'superseded' },
  discarded: { state: 'cancelled', reason: 'discarded' },
} as const

type AnyEnding = Ending | { state: 'superseded' }

/** What the claim's repeat, or a claim that has lost its right, is told; null when it may publish. */
function refusalOf(db: SyncStatements, { job, epoch }: Claim, nowMs: number): PublishAnswer | null {
  const standing = db.get<Standing>(sql.STANDING, epoch, job.id)
  if (!standing) return 'superseded' // gone with its subject: quietly, nothing comes back to life
  if (standing.epoch < epoch) {
    throw new InvariantBroken(`Job ${job.id} has epoch ${standing.epoch}, below the claimed ${epoch}.`)
  }
  const isOwn = standing.epoch === epoch
  const hasEnded = isOwn && standing.isAttempt === 1 && standing.state !== 'running'
  const outcome = hasEnded ? standing.state : standing.filed
  if (outcome === 'superseded') return 'superseded'
  if (outcome === 'cancelled') return 'discarded'
  if (outcome !== null && outcome !== 'lease_expired') return 'already-published'
  const holdsLease = isOwn && standing.state === 'running' && standing.leaseUntilMs! > nowMs
  return holdsLease ? null : 'stale-epoch'
}

/** Ends the claim. Answers false, with nothing written, when the fence holds it back. */
function end(
  db: SyncStatements,
  { job, epoch }: Claim,
  ending: AnyEnding,
  { ledger, nowMs }: { ledger: Ledger; nowMs: number },
): boolean {
  if (ending.state === 'ready') return giveBack(db, { job, epoch }, ending, { ledger, nowMs })
  const reason = 'reason' in ending ? ending.reason : null
  const result = 'result' in ending ? toText(ending.result) : null
  const { changes } = db.run(sql.END, ending.state, nowMs, reason, result, job.id, epoch, nowMs)
  if (changes === 1) ledger.moved(job, 'running', ending.state)
  return changes === 1
}

function giveBack(
  db: SyncStatements,
  { job, epoch }: Pick<Claim, 'job' | 'epoch'>,
  ending: Extract<Ending, { state: 'ready' }>,
  { ledger, nowMs }: { ledger: Ledger; nowMs: number },
): boolean {
  const isRetry = ending.outcome === 'retried'
  const reason = isRetry ? ending.reason : null
  const { changes } = db.run(sql.FILE_RUNNING, nowMs, ending.outcome, reason, job.id, epoch, nowMs)
  if (changes !== 1) return false
  const runAtMs = isRetry ? ending.runAtMs : nowMs
  // A try that does not count has used up its epoch all the same: a fence is never handed out twice.
  const uncounted = isRetry && !ending.isUncounted ? 0 : 1
  db.run(sql.BACK, isRetry ? 1 : 0, runAtMs, uncounted, reason, job.id)
  ledger.moved(job, 'running', 'ready')
  if (isRetry) ledger.count('retries', job.kind)
  return true
}

/** The lease ended while the handler was writing: everything is rolled back and the caller asks again. */
export class LeaseRanOut extends Error {
  readonly code = 'LEASE_RAN_OUT'
  constructor(id: string) {
    super(`The lease of job ${id} ran out inside its publication; nothing was written.`)
    this.name = 'LeaseRanOut'
  }
}
