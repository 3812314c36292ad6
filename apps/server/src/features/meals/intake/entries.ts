import type { Transaction } from '@garner/db'
import type { JobStore } from '@garner/jobs'
import { forgetThing } from '../../../idempotency.ts'
import type { Objects } from '../../../outbound/objects.ts'
import { diaryChanged } from '../diary.ts'
import { findEntry, photoSubject } from './entry.ts'

export interface EntryDeps {
  jobs: Pick<JobStore<Transaction>, 'forget'>
}

/**
 * Takes a photo back, whatever has become of it: its jobs and its remembered answer go with this transaction. Whoever
 * deletes its meal deletes the meal's row in the same one. The entry's row stays, marked as deleted: a late estimate
 * finds no meal to bring back, and the same photo may be logged anew.
 * @returns where its bytes are, to be removed once this is committed; null when there are none. Cut between the two: an
 * orphan, swept within the hour.
 */
export async function forgetEntry(tx: Transaction, deps: EntryDeps, entryId: string): Promise<string | null> {
  const entry = await findEntry(tx, entryId)
  if (!entry) return null
  await deps.jobs.forget(tx, photoSubject(entryId))
  await forgetThing(tx, entryId)
  await tx.run(
    `UPDATE photo_entries SET is_deleted = 1, blob = NULL, look = NULL, next_try_at_ms = NULL,
       state = CASE WHEN state IN ('waiting', 'dead') THEN 'discarded' ELSE state END WHERE id = ?`,
    entryId,
  )
  await diaryChanged(tx, entry.user_id)
  return entry.blob
}

/** Removes bytes that no row leads to any more, once that is committed. What fails here is left to the sweep. */
export function removeAfter(tx: Transaction, objects: Pick<Objects, 'remove'>, key: string | null): void {
  if (key !== null) tx.afterCommit(() => void objects.remove(key).catch(() => {}))
}
