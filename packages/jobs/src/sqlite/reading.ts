import type { Queryable } from '@garner/db'
import { type AttemptOutcome, type AttemptRecord, type Job, PENDING_STATES } from '../job.ts'
import type { JobCounts, JobFilter, JobTotals } from '../store.ts'
import { fromRow, type JobRow } from './rows.ts'
import * as sql from './sql.ts'

interface RowWithAttempt extends JobRow {
  worker: string | null
  startedAtMs: number | null
}

/** A job and its attempts: those that were filed, and the one that its row is. */
export async function jobWithAttempts(
  read: Queryable,
  id: string,
): Promise<{ job: Job; attempts: AttemptRecord[] } | undefined> {
  const row = await read.get<RowWithAttempt>(sql.ONE_WITH_ATTEMPT, id)
  if (!row) return undefined
  const { worker, startedAtMs, ...rest } = row
  const job = fromRow(rest)
  const attempts = await read.all<AttemptRecord>(sql.ATTEMPTS, id)
  if (worker !== null && startedAtMs !== null) attempts.push(attemptOf(job, { worker, startedAtMs }))
  return { job, attempts }
}

function attemptOf(job: Job, of: { worker: string; startedAtMs: number }): AttemptRecord {
  const { generation, attempt, epoch, state, finishedAtMs, lastError } = job
  const isOver = !PENDING_STATES.includes(state)
  return {
    ...{ generation, attempt, epoch, ...of, endedAtMs: finishedAtMs },
    outcome: isOver ? (state as AttemptOutcome) : null,
    error: isOver ? lastError : null,
  }
}

export async function listJobs(
  read: Queryable,
  { state, kind = undefined, after = undefined, limit }: JobFilter,
): Promise<Job[]> {
  const query = state === undefined ? sql.LIST : sql.LIST_OF_STATE[state]
  return (await read.all<JobRow>(query, kind ?? null, after ?? null, limit)).map(fromRow)
}

export function countJobs(read: Queryable, nowMs: number): Promise<JobCounts[]> {
  return read.all<JobCounts>(sql.COUNTS, nowMs)
}

export function totalsOf(read: Queryable): Promise<JobTotals[]> {
  return read.all<JobTotals>(sql.TOTALS)
}
