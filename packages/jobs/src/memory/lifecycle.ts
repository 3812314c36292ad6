import { nextRank } from '../rank.ts'
import type { Room } from './room.ts'
import { isPending, type JobRow, keyOf, type Tables } from './tables.ts'
import type { MemoryTransaction } from './transaction.ts'

/** What happens to jobs from outside their attempts: their subject moves on or goes, an operator acts. */
export function supersedeJobs(
  tx: MemoryTransaction,
  tables: Tables,
  { subject, version, nowMs }: { subject: string; version: number; nowMs: number },
): number {
  const found = tables.jobs
    .all()
    .filter((one) => one.subject === subject && isPending(one))
    .filter((one) => one.subjectVersion !== null && one.subjectVersion < version)
  for (const one of found) endOutside(tx, tables, one, { state: 'superseded', nowMs })
  return found.length
}

/**
 * Removes jobs as if they had never been: attempts, steps and operation ids go with them. Totals, ranks and what
 * was used of allowances stay: to remove a job gives nobody their money or their turn back.
 */
export function forgetJobs(tx: MemoryTransaction, tables: Tables, isMeant: (job: JobRow) => boolean): number {
  const found = tables.jobs.all().filter(isMeant)
  for (const { id } of found) {
    tables.jobs.delete(tx, id)
    tables.attempts.delete(tx, id)
    for (const one of tables.steps.all()) {
      if (one.jobId === id) tables.steps.delete(tx, keyOf(id, one.name))
    }
    for (const one of tables.operations.all()) {
      if (one.jobId === id) tables.operations.delete(tx, keyOf(one.tenant, one.operationId))
    }
  }
  return found.length
}

export function forgetTenant(tx: MemoryTransaction, tables: Tables, tenant: string): number {
  for (const one of tables.schedules.all()) {
    if (one.tenant === tenant) tables.schedules.delete(tx, one.name)
  }
  return forgetJobs(tx, tables, (one) => one.tenant === tenant && (isPending(one) || one.state === 'dead'))
}

export function repairJob(
  tx: MemoryTransaction,
  tables: Tables,
  { id, nowMs, room }: { id: string; nowMs: number; room: Room | null },
): JobRow | undefined {
  const job = tables.jobs.get(id)
  if (!job || job.state === 'running' || job.state === 'superseded') return job
  if (job.state === 'ready') return tables.patch(tx, job, { runAtMs: nowMs, isAside: false })
  room?.take(job.tenant)
  // As if it came new: a thousand repaired jobs of one tenant queue behind each other, not before everyone.
  const rank = nextRank(tables.backlog(job))
  tables.lastRanks.set(tx, keyOf(job.tenant, job.priority), rank)
  return tables.patch(tx, job, {
    state: 'ready',
    generation: job.generation + 1,
    attempt: 0,
    rank,
    runAtMs: nowMs,
    deadlineAtMs: nowMs + job.deadlineMs,
    finishedAtMs: null,
  })
}

/** Cancels a job that is in one of these states; answers whether it did. */
export function cancelJob(
  tx: MemoryTransaction,
  tables: Tables,
  { id, from, nowMs }: { id: string; from: JobRow['state'][]; nowMs: number },
): boolean {
  const job = tables.jobs.get(id)
  if (!job || !from.includes(job.state)) return false
  endOutside(tx, tables, job, { state: 'cancelled', nowMs })
  return true
}

function endOutside(
  tx: MemoryTransaction,
  tables: Tables,
  job: JobRow,
  { state, nowMs }: { state: 'superseded' | 'cancelled'; nowMs: number },
): void {
  // An attempt that is cut short made no error; one that ended before keeps what is known of its end.
  const lastError = job.state === 'running' ? null : job.lastError
  tables.endAttempt(tx, job, { endedAtMs: nowMs, outcome: state, error: null })
  tables.patch(tx, job, { state, isAside: false, leaseUntilMs: null, finishedAtMs: nowMs, lastError })
  tables.addToTotal(tx, job.kind, `finished:${state}`)
}
