import type { SyncStatements } from '@garner/db/sqlite'
import type { Job, JobState } from '../job.ts'
import type { Intake } from './intake.ts'
import type { Ledger } from './ledger.ts'
import { type Found, type JobCells, toJob } from './rows.ts'
import * as sql from './sql.ts'

/** What happens to jobs from outside their attempts: their subject moves on or goes, an operator acts. */
export interface Outside {
  ledger: Ledger
  nowMs: number
}

export function supersedeJobs(
  db: SyncStatements,
  { subject, version }: { subject: string; version: number },
  outside: Outside,
): number {
  const found = db.all<Found>(sql.PENDING_OF_SUBJECT, subject, version)
  for (const one of found) endOutside(db, one, 'superseded', outside)
  return found.length
}

export function forgetSubject(db: SyncStatements, subject: string, outside: Pick<Outside, 'ledger'>): number {
  return forgetJobs(db, db.all<Found>(sql.ALL_OF_SUBJECT, subject), outside)
}

/**
 * Removes jobs as if they had never been: attempts, steps and operation ids go with them. Totals, ranks and what was
 * used of allowances stay: to remove a job gives nobody their money or their turn back.
 */
function forgetJobs(db: SyncStatements, found: Found[], { ledger }: Pick<Outside, 'ledger'>): number {
  if (found.length === 0) return 0
  removeJobs(db, found, ledger)
  const tried = triedOf(found)
  if (tried.length > 0) db.run(sql.DELETE_STEPS, JSON.stringify(tried))
  return found.length
}

/** Pending and dead jobs of a tenant, and its schedules. */
export function forgetTenant(db: SyncStatements, tenant: string, outside: Pick<Outside, 'ledger'>): number {
  db.run(sql.DELETE_SCHEDULES, tenant)
  const { n: pending } = db.get<{ n: number }>(sql.PENDING_OF_LINES, tenant)!
  const found = pending === 0 ? [] : db.all<Found>(sql.PENDING_OF_TENANT, tenant)
  return forgetJobs(db, [...found, ...db.all<Found>(sql.DEAD_OF_TENANT, tenant)], outside)
}

/** Rows, with their operation ids, and attempts; what else is kept of a job is the caller's to decide. */
export function removeJobs(db: SyncStatements, found: Found[], ledger: Ledger): void {
  db.run(sql.DELETE_JOBS, JSON.stringify(found.map((one) => one.seq)))
  const tried = triedOf(found)
  if (tried.length > 0) db.run(sql.DELETE_ATTEMPTS, JSON.stringify(tried))
  for (const one of found) ledger.moved(one, one.state, null)
}

/** The others have neither attempts nor steps: most of what is forgotten was never claimed. */
function triedOf(found: Found[]): string[] {
  return found.filter((one) => one.epoch > 0).map((one) => one.id)
}

/** Cancels a job that is in one of these states; answers whether it did. */
export function cancelJob(
  db: SyncStatements,
  { id, from }: { id: string; from: JobState[] },
  outside: Outside,
): boolean {
  const found = db.get<Found>(sql.ONE_FOUND, id)
  if (!found || !from.includes(found.state)) return false
  if (found.state === 'dead') fileAttempt(db, found.seq)
  endOutside(db, found, 'cancelled', outside)
  return true
}

/** Errors: QueueFull, if there has to be room for the job and there is none; nothing is written then. */
export function repairJob(
  db: SyncStatements,
  { id, isBounded }: { id: string; isBounded: boolean },
  { intake, ledger, nowMs }: Outside & { intake: Intake },
): Job | undefined {
  const [cells] = db.rows<JobCells>(sql.ONE, id)
  if (!cells) return undefined
  const [seq] = cells
  const job = toJob(cells)
  if (job.state === 'running' || job.state === 'superseded') return job
  if (job.state === 'ready') db.run(sql.MAKE_DUE, nowMs, seq)
  else {
    const rank = intake.readmit(job, isBounded)
    fileAttempt(db, seq)
    db.run(sql.NEW_GENERATION, rank, nowMs, seq)
    ledger.moved(job, job.state, 'ready')
    intake.write()
  }
  return toJob(db.rows<JobCells>(sql.ONE, id)[0]!)
}

/** The attempt that ended the job goes to the others: its row is about to say something else. */
function fileAttempt(db: SyncStatements, seq: number): void {
  db.run(sql.FILE_ENDED, seq)
  db.run(sql.FORGET_ATTEMPT, seq)
}

/** An attempt under way ends as its job does, in the job's row; it made no error. */
function endOutside(
  db: SyncStatements,
  job: Found,
  state: 'superseded' | 'cancelled',
  { ledger, nowMs }: Outside,
): void {
  db.run(sql.END_OUTSIDE, state, nowMs, job.seq)
  ledger.moved(job, job.state, state)
}
