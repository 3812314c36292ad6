import { OperationConflict } from '../errors.ts'
import type { Job } from '../job.ts'
import { payloadHash } from '../payload-hash.ts'
import { nextRank } from '../rank.ts'
import type { Submission, Submitted } from '../store.ts'
import type { Room } from './room.ts'
import { type JobRow, keyOf, type OperationRow, type Tables, toJob } from './tables.ts'
import type { MemoryTransaction } from './transaction.ts'

export interface Acceptance {
  nowMs: number
  room: Room
}

/** Accepts one job, or recognises it (J5). What is refused has written nothing. */
export function submitOne(
  tx: MemoryTransaction,
  tables: Tables,
  submission: Submission,
  { nowMs, room }: Acceptance,
): Submitted {
  const { id, kind, tenant, payload, operationId, deadlineMs, priority = 0 } = submission
  const hash = payloadHash(payload)
  const operationKey = keyOf(tenant, operationId ?? '')
  const known = operationId === undefined ? undefined : tables.operations.get(operationKey)
  if (known) {
    if (known.payloadHash !== hash) throw new OperationConflict(known.operationId)
    const row = tables.jobs.get(known.jobId)
    return { job: row ? toJob(row) : prunedJob(known, submission), isRepeat: true }
  }

  // From here on nothing is written before nothing can be refused.
  if (tables.jobs.get(id)) throw new Error(`There is a job ${id} already; ids are given once.`)
  room.take(tenant)

  const runAtMs = submission.runAtMs ?? nowMs
  const rank = nextRank(tables.backlog({ tenant, priority }))
  const row: JobRow = {
    id,
    kind,
    tenant,
    payload: structuredClone(payload),
    subject: submission.subject ?? null,
    subjectVersion: submission.subjectVersion ?? null,
    key: submission.key ?? null,
    state: 'ready',
    isAside: runAtMs > nowMs,
    priority,
    rank,
    runAtMs,
    attempt: 0,
    epoch: 0,
    generation: 1,
    leaseUntilMs: null,
    submittedAtMs: nowMs,
    deadlineMs,
    deadlineAtMs: nowMs + deadlineMs,
    finishedAtMs: null,
    lastError: null,
    result: null,
    progress: null,
  }
  tables.jobs.set(tx, id, row)
  tables.lastRanks.set(tx, keyOf(tenant, priority), rank)
  if (operationId !== undefined) {
    const operation = { tenant, operationId, payloadHash: hash, jobId: id, createdAtMs: nowMs, state: null }
    tables.operations.set(tx, operationKey, operation)
  }
  return { job: toJob(row), isRepeat: false }
}

/** All of them or none: what the ones before the first refused had written is taken back. */
export function submitAll(
  tx: MemoryTransaction,
  tables: Tables,
  submissions: Submission[],
  acceptance: Acceptance,
): Submitted[] {
  return tx.allOrNothing(() => submissions.map((one) => submitOne(tx, tables, one, acceptance)))
}

/** Of a job that is gone only its id and its end are known; the rest is what the repeated submission says. */
function prunedJob({ jobId, createdAtMs, state }: OperationRow, submission: Submission): Job {
  return {
    id: jobId,
    kind: submission.kind,
    tenant: submission.tenant,
    payload: structuredClone(submission.payload),
    subject: submission.subject ?? null,
    subjectVersion: submission.subjectVersion ?? null,
    key: submission.key ?? null,
    state: state!,
    priority: submission.priority ?? 0,
    rank: 0,
    runAtMs: submission.runAtMs ?? createdAtMs,
    attempt: 0,
    epoch: 0,
    generation: 1,
    leaseUntilMs: null,
    submittedAtMs: createdAtMs,
    deadlineAtMs: createdAtMs + submission.deadlineMs,
    finishedAtMs: null,
    lastError: null,
    result: null,
    progress: null,
  }
}
