import type { Transaction } from '@garner/db'
import type { Job, JobStore } from '@garner/jobs'
import type { Answer } from '../../../idempotency.ts'
import { conflict, notFound } from '../../../problem.ts'
import { DESCRIBE_PHOTO, describeJob } from '../describe-photo.ts'
import { diaryChanged } from '../diary.ts'
import { acceptedAnswer, turnOf } from './accept.ts'
import { findDuplicate } from './duplicates.ts'
import { type EntryRow, ownEntry, waitingCount } from './entry.ts'

export interface RetryDeps {
  jobs: JobStore<Transaction>
  ids: () => string
}

/**
 * Tries a dead entry again: a new generation of its job, which finds what was paid for and calls nobody twice. A
 * person asks, so the bound holds.
 * Errors: 404; 409 when it is not dead, or when the same photo has been logged since; QueueFull.
 */
export async function retryEntry(
  tx: Transaction,
  deps: RetryDeps,
  { id, userId }: { id: string; userId: string },
): Promise<Answer> {
  await tx.takeTurn(turnOf(userId))
  const entry = await ownEntry(tx, { id, userId })
  if (!entry) throw notFound()
  if (entry.state !== 'dead') {
    throw conflict('not-dead', 'This photo has not failed: only what was given up can be tried again.')
  }
  const twin = await findDuplicate(tx, {
    ...{
      userId,
      date: entry.date,
      time: entry.time,
      utcOffset: entry.utc_offset,
      since: null,
      isForced: true,
    },
    mark: { digest: entry.digest, look: entry.look, captureStamp: entry.capture_stamp },
  })
  if (twin) throw conflict('same-photo', 'You have logged this photo since, so it is not logged again.')
  const job = await deps.jobs.repair(tx, entry.job_id, { isBounded: true })
  const jobId = job?.id ?? (await submitAnew(tx, deps, entry))
  await revive(tx, id, jobId)
  await diaryChanged(tx, userId)
  return acceptedAnswer(entry, await waitingCount(tx, userId))
}

/** Its job is gone, with whatever it had paid for: the deletion of the account was begun and not finished. */
async function submitAnew(tx: Transaction, { jobs, ids }: RetryDeps, entry: EntryRow): Promise<string> {
  const submission = describeJob({ id: ids(), userId: entry.user_id, entryId: entry.id })
  return (await jobs.submit(tx, submission)).job.id
}

/**
 * The operator has repaired this job: the entry that it is about waits again, and a placeholder may be called for once
 * more. Nothing for other jobs.
 */
export async function reviveFor(tx: Transaction, job: Job): Promise<void> {
  if (job.kind !== DESCRIBE_PHOTO) return
  const { entry } = job.payload as { entry: string }
  await revive(tx, entry, job.id)
  await tx.run('UPDATE photo_entries SET failed_calls = 0 WHERE id = ?', entry)
  await diaryChanged(tx, job.tenant)
}

async function revive(tx: Transaction, entryId: string, jobId: string): Promise<void> {
  await tx.run(
    `UPDATE photo_entries SET state = 'waiting', job_id = ?, reason = NULL, attempts = 0, failed_calls = 0,
       last_error = NULL, next_try_at_ms = NULL, ended_at_ms = NULL
     WHERE id = ? AND state = 'dead' AND is_deleted = 0`,
    ...[jobId, entryId],
  )
}
