import type { Transaction } from '@garner/db'
import { QueueFull } from '../errors.ts'
import type { Job, JobState } from '../job.ts'
import { textArray } from './arrays.ts'
import { type JobRow, toJob } from './rows.ts'
import * as sql from './sql.ts'
import { type Acceptance, whole } from './submit.ts'

/** What happens to jobs from outside their attempts, in the caller's transaction. */
export async function supersedeJobs(
  tx: Transaction,
  { subject, version }: { subject: string; version: number },
  now: () => number | null,
): Promise<number> {
  const found = await tx.all<{ id: string }>(sql.PENDING_OF_SUBJECT, subject, version)
  if (found.length > 0) await tx.get(sql.END, idsOf(found), 'superseded', now())
  return found.length
}

/** @param query says which jobs, and locks them */
export async function forgetJobs(
  tx: Transaction,
  { query, of }: { query: string; of: string },
  now: () => number | null,
): Promise<number> {
  const found = await tx.all<{ id: string }>(query, of)
  if (found.length > 0) await tx.get(sql.FORGET, idsOf(found), now())
  return found.length
}

/** Cancels a job that is in one of these states; answers whether it did. */
export async function cancelJob(
  tx: Transaction,
  { id, from }: { id: string; from: JobState[] },
  now: () => number | null,
): Promise<boolean> {
  const row = await tx.get<JobRow>(sql.LOCKED, id)
  if (!row || !from.includes(row.state)) return false
  await tx.get(sql.END, textArray([id]), 'cancelled', now())
  return true
}

export async function repairJob(
  tx: Transaction,
  { id, isBounded }: { id: string; isBounded: boolean },
  { limits, now }: Acceptance,
): Promise<Job | undefined> {
  const { perTenant, total, retryAfterMs } = limits
  const { refusal, taken } = (await tx.get<{ refusal: 'tenant' | 'total' | null; taken: number }>(
    sql.REPAIR,
    ...[id, isBounded ? 1 : 0, whole(perTenant), whole(total), now()],
  ))!
  if (refusal) {
    const limit = refusal === 'tenant' ? perTenant : total
    throw new QueueFull({ scope: refusal, limit, pending: Number(taken), retryAfterMs })
  }
  const row = await tx.get<JobRow>(sql.ONE, id)
  return row && toJob(row)
}

function idsOf(rows: { id: string }[]): string {
  return textArray(rows.map((one) => one.id))
}
