import type { Transaction } from '@garner/db'
import type { JobStore } from '@garner/jobs'
import { forgetThing } from '../../../idempotency.ts'
import type { Objects } from '../../../outbound/objects.ts'
import { diaryChanged } from '../diary.ts'
import { findEntry, photoSubject } from './entry.ts'

export interface EntryDeps {
  jobs: Pick<JobStore<Transaction>, 'forget'>
  objects: Pick<Objects, 'remove'>
}

/**
 * Takes a photo back, whatever has become of it: its jobs and its remembered answer go with this transaction, its
 * bytes once it is committed. Whoever deletes its meal deletes the meal's row in the same transaction. The entry's row
 * stays, marked as deleted: a late estimate finds no meal to bring back, and the same photo may be logged anew.
 * Cut between the commit and the bytes: an orphan, swept within the hour.
 * Shape: false when there is no such entry (a meal by hand).
 */
export async function forgetEntry(tx: Transaction, deps: EntryDeps, entryId: string): Promise<boolean> {
  const entry = await findEntry(tx, entryId)
  if (!entry) return false
  await deps.jobs.forget(tx, photoSubject(entryId))
  await forgetThing(tx, entryId)
  await tx.run(
    `UPDATE photo_entries SET is_deleted = 1, blob = NULL, look = NULL, next_try_at_ms = NULL,
       state = CASE WHEN state IN ('waiting', 'dead') THEN 'discarded' ELSE state END WHERE id = ?`,
    entryId,
  )
  await diaryChanged(tx, entry.user_id)
  if (entry.blob !== null) removeAfter(tx, deps.objects, entry.blob)
  return true
}

/** Removes bytes that no row knows of any more, once that is committed. What fails here is left to the sweep. */
export function removeAfter(tx: Transaction, objects: Pick<Objects, 'remove'>, key: string): void {
  tx.afterCommit(() => void objects.remove(key).catch(() => {}))
}
