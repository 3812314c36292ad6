import type { Queryable, Transaction } from '@garner/db'
import type { JobStore } from '@garner/jobs'
import { DESCRIBE_PHOTO } from '../describe-photo.ts'
import type { EntryRow } from './entry.ts'
import type { FinishedEntry, Pending, PendingEntry } from './schemas.ts'

/** 1 h: whoever opens the page again finds what became of the batch. */
const FINISHED_MS = 3_600_000
/** As many as may wait in a batch: more would be a page nobody reads. Dead ones come first, since they need a person. */
const FINISHED_MAX = 500
/** More attempts than this run at a time nowhere. */
const RUNNING_MAX = 1_000

/** One person's photos on their way, and those that have ended in the last hour (dead ones stay until they are dealt with). */
export async function pendingOf(
  query: Queryable,
  { jobs, userId, nowMs }: { jobs: Pick<JobStore<Transaction>, 'list'>; userId: string; nowMs: number },
): Promise<Pending> {
  const waiting = await query.all<EntryRow>(
    "SELECT * FROM photo_entries WHERE user_id = ? AND state = 'waiting' ORDER BY accepted_at_ms, id",
    userId,
  )
  const running = new Set<string>()
  if (waiting.length > 0) {
    const list = await jobs.list({ state: 'running', kind: DESCRIBE_PHOTO, limit: RUNNING_MAX })
    for (const { id } of list) running.add(id)
  }
  const ended = await query.all<EntryRow & { has_meal: number }>(
    `SELECT e.*, CASE WHEN m.id IS NULL THEN 0 ELSE 1 END AS has_meal
     FROM photo_entries e LEFT JOIN meals m ON m.id = e.id
     WHERE e.user_id = ? AND e.is_deleted = 0
       AND (e.state = 'dead' OR (e.state IN ('logged', 'placeholder', 'discarded') AND e.ended_at_ms >= ?))
     ORDER BY CASE e.state WHEN 'dead' THEN 0 ELSE 1 END, e.ended_at_ms DESC, e.id LIMIT ?`,
    ...[userId, nowMs - FINISHED_MS, FINISHED_MAX],
  )
  // Those that are being described are ahead of nobody.
  let ahead = 0
  const entries = waiting.map((row): PendingEntry => {
    const state = running.has(row.job_id) ? 'describing' : row.attempts > 0 ? 'retrying' : 'queued'
    const before = state === 'describing' ? 0 : ahead
    ahead++
    return { ...toEntry(row), state, before }
  })
  return { pending: waiting.length, entries, finished: ended.map(toFinished) }
}

function toEntry(row: EntryRow): Omit<PendingEntry, 'state' | 'before'> {
  const { id, date, time, time_source, attempts, next_try_at_ms, last_error } = row
  const next = next_try_at_ms === null ? null : new Date(Number(next_try_at_ms)).toISOString()
  return { id, date, time, time_source, attempts, next_try: next, error: last_error }
}

function toFinished({ id, state, reason, has_meal }: EntryRow & { has_meal: number }): FinishedEntry {
  return {
    id,
    state: state as FinishedEntry['state'],
    ...(reason !== null && { reason }),
    ...(Number(has_meal) === 1 && { meal_id: id }),
  }
}
