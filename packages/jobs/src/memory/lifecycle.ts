import { nextRank } from '../rank.ts'
import { isPending, type JobRow, type Tables } from './tables.ts'
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

/** Removes jobs as if they had never been: attempts and operation ids go with them, totals and ranks stay. */
export function forgetJobs(tx: MemoryTransaction, tables: Tables, isMeant: (job: JobRow) => boolean): number {
  const found = tables.jobs.all().filter(isMeant)
  for (const one of found) {
    tables.jobs.delete(tx, one.id)
    tables.attempts.delete(tx, one.id)
    for (const { atKey, jobId } of tables.operations.all()) {
      if (jobId === one.id) tables.operations.delete(tx, atKey)
    }
    tables.freeKey(tx, one)
  }
  return found.length
}

export function repairJob(
  tx: MemoryTransaction,
  tables: Tables,
  { id, nowMs, assertRoom }: { id: string; nowMs: number; assertRoom: (tenant: string) => void },
): JobRow | undefined {
  const job = tables.jobs.get(id)
  if (!job || job.state === 'running' || job.state === 'superseded') return job
  if (job.state === 'ready') {
    return tables.patch(tx, job, { runAtMs: nowMs, hold: job.hold === 'key' ? 'key' : null })
  }
  assertRoom(job.tenant)
  // As if it came new: a thousand repaired jobs of one tenant queue behind each other, not before everyone.
  const rank = nextRank({
    virtualTime: tables.virtualTime,
    lastRank: tables.lastRanks.get(job.tenant) ?? 0,
  })
  tables.lastRanks.set(tx, job.tenant, rank)
  return tables.patch(tx, job, {
    state: 'ready',
    hold: null,
    generation: job.generation + 1,
    attempt: 0,
    rank,
    runAtMs: nowMs,
    deadlineAtMs: nowMs + job.deadlineMs,
    finishedAtMs: null,
  })
}

export function discardJob(tx: MemoryTransaction, tables: Tables, id: string, nowMs: number): boolean {
  const job = tables.jobs.get(id)
  if (job?.state !== 'ready' && job?.state !== 'dead') return false
  endOutside(tx, tables, job, { state: 'cancelled', nowMs })
  return true
}

function endOutside(
  tx: MemoryTransaction,
  tables: Tables,
  job: JobRow,
  { state, nowMs }: { state: 'superseded' | 'cancelled'; nowMs: number },
): void {
  const row = tables.patch(tx, job, { state, hold: null, leaseUntilMs: null, finishedAtMs: nowMs })
  tables.endAttempt(tx, row, { endedAtMs: nowMs, outcome: state, error: null })
  tables.addToTotal(tx, row.kind, `finished:${state}`)
  tables.freeKey(tx, row)
}
