import type { Queryable } from '@garner/db'

export type EntryState = 'waiting' | 'logged' | 'placeholder' | 'dead' | 'discarded'

/** A photo that was accepted, as its row has it. Instants are Unix ms. */
export interface EntryRow {
  id: string
  user_id: string
  job_id: string
  state: EntryState
  reason: string | null
  date: string
  time: string
  seconds: string
  utc_offset: string | null
  time_source: string
  is_guess: number
  digest: string
  look: string | null
  capture_stamp: string | null
  blob: string | null
  width: number | null
  height: number | null
  is_forced: number
  is_deleted: number
  attempts: number
  failed_calls: number
  last_error: string | null
  next_try_at_ms: number | null
  accepted_at_ms: number
  ended_at_ms: number | null
}

export const ENTRY_COLUMNS = [
  ...(['id', 'user_id', 'job_id', 'state', 'reason', 'date', 'time', 'seconds', 'utc_offset'] as const),
  ...(['time_source', 'is_guess', 'digest', 'look', 'capture_stamp', 'blob', 'width', 'height'] as const),
  ...(['is_forced', 'is_deleted', 'attempts', 'failed_calls', 'last_error', 'next_try_at_ms'] as const),
  ...(['accepted_at_ms', 'ended_at_ms'] as const),
] as const satisfies (keyof EntryRow)[]

/** Where an entry's picture is kept. */
export function blobKeyOf(entry: { userId: string; id: string }): string {
  return `${entry.userId}/${entry.id}`
}

/** The subject of all jobs about a photo, its meal's included: what `forget` takes. */
export function photoSubject(entryId: string): string {
  return `photo:${entryId}`
}

/** Whatever its state; undefined: there is none. */
export function findEntry(query: Queryable, id: string): Promise<EntryRow | undefined> {
  return query.get<EntryRow>('SELECT * FROM photo_entries WHERE id = ?', id)
}

/** This person's, unless it was deleted. */
export async function ownEntry(
  query: Queryable,
  { id, userId }: { id: string; userId: string },
): Promise<EntryRow | undefined> {
  return query.get<EntryRow>(
    'SELECT * FROM photo_entries WHERE id = ? AND user_id = ? AND is_deleted = 0',
    ...[id, userId],
  )
}

/** How many of a person's photos wait to be described. */
export async function waitingCount(query: Queryable, userId: string): Promise<number> {
  const row = await query.get<{ n: number }>(
    "SELECT count(*) AS n FROM photo_entries WHERE user_id = ? AND state = 'waiting'",
    userId,
  )
  return Number(row?.n ?? 0)
}
