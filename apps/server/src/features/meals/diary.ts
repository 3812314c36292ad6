import type { Queryable, Transaction } from '@garner/db'

/** Counts a visible change of somebody's meals, in the transaction that makes it; open pages then look again. */
export async function diaryChanged(tx: Transaction, userId: string): Promise<void> {
  await tx.run(
    'INSERT INTO diaries (user_id, version) VALUES (?, 1) ON CONFLICT (user_id) DO UPDATE SET version = diaries.version + 1',
    userId,
  )
}

/** 0 for somebody who has not logged anything yet. */
export async function diaryVersion(query: Queryable, userId: string): Promise<number> {
  const row = await query.get<{ version: number }>('SELECT version FROM diaries WHERE user_id = ?', userId)
  return row?.version ?? 0
}
