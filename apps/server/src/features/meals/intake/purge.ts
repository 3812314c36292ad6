import type { Transaction } from '@garner/db'
import type { JobStore } from '@garner/jobs'
import type { Objects } from '../../../outbound/objects.ts'
import { photoSubject } from './entry.ts'

export interface PurgeDeps {
  jobs: Pick<JobStore<Transaction>, 'forget'>
  objects: Pick<Objects, 'removeAll'>
}

/** All of a person's photos, before their rows: a row without its photo shows nothing, a photo without its row is shown to nobody. */
export function deletePhotosOf({ objects }: PurgeDeps, userId: string): Promise<void> {
  return objects.removeAll(userId)
}

/**
 * The jobs about a person's photos that have ended, too, and once more the photos, after the commit: one may have come in
 * since. The rows go with the account's own (ON DELETE CASCADE). Cut before the photos: the sweep removes them, since
 * their owner is gone.
 */
export async function forgetPhotosOf(
  tx: Transaction,
  { jobs, objects }: PurgeDeps,
  userId: string,
): Promise<void> {
  const entries = await tx.all<{ id: string }>('SELECT id FROM photo_entries WHERE user_id = ?', userId)
  for (const { id } of entries) await jobs.forget(tx, photoSubject(id))
  tx.afterCommit(() => void objects.removeAll(userId).catch(() => {}))
}
