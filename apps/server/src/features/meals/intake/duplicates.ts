import type { Queryable } from '@garner/db'
import { isSamePhoto, type PhotoMark } from '../photo/index.ts'

/**
 * Whether a photo is logged already. Two kinds: the same photo (its bytes, or its look), and another picture in the
 * same minute of the same day. What waits, is logged or has a placeholder counts; what died, was discarded or deleted does
 * not, and neither does a meal without a photo.
 *
 * A person can say that a photo is wanted all the same (`force`): it then counts neither for its minute nor for its look.
 * Only the very same bytes stay one photo, so that an upload that is sent twice is never logged twice.
 */
export interface Arrival {
  userId: string
  /** The look is null until the picture has been read. */
  mark: PhotoMark
  date: string
  time: string
  utcOffset: string | null
  /** The day of the batch's oldest photo. */
  since: string | null
  isForced: boolean
}

export interface Duplicate {
  duplicate: 'same-photo' | 'same-minute'
  id: string
  date: string
  time: string
  isMeal: boolean
}

/**
 * 30 days before the batch begins: a copy that comes back by a messenger has the day it was sent, days or weeks after
 * the original's. Without a bound the looks of years would be compared for each photo.
 */
const LOOK_BACK_MS = 30 * 24 * 3_600_000

const COUNTS = "e.is_deleted = 0 AND e.state IN ('waiting', 'logged', 'placeholder')"
/** The day and the minute are the meal's, once there is one: its person may have moved it. */
const FOUND = `SELECT e.id, coalesce(m.date, e.date) AS date, coalesce(m.time, e.time) AS time,
    e.digest, e.look, e.capture_stamp, e.utc_offset, CASE WHEN m.id IS NULL THEN 0 ELSE 1 END AS is_meal
  FROM photo_entries e LEFT JOIN meals m ON m.id = e.id WHERE e.user_id = ? AND ${COUNTS}`

interface FoundRow {
  id: string
  date: string
  time: string
  digest: string
  look: string | null
  capture_stamp: string | null
  utc_offset: string | null
  is_meal: number
}

/**
 * Undefined: it is new. What it looks like is compared where the arrival has a look.
 * @param acceptedSinceMs compares looks with those alone that were accepted since, when all before have been
 */
export async function findDuplicate(
  query: Queryable,
  arrival: Arrival,
  { acceptedSinceMs = 0 }: { acceptedSinceMs?: number } = {},
): Promise<Duplicate | undefined> {
  const bytes = await query.get<FoundRow>(`${FOUND} AND e.digest = ?`, arrival.userId, arrival.mark.digest)
  if (bytes) return told('same-photo', bytes)
  if (arrival.isForced) return undefined
  const look = await findLook(query, arrival, acceptedSinceMs)
  if (look) return told('same-photo', look)
  const minute = await findMinute(query, arrival)
  return minute && told('same-minute', minute)
}

async function findLook(
  query: Queryable,
  { userId, mark, date, since }: Arrival,
  acceptedSinceMs: number,
): Promise<FoundRow | undefined> {
  if (mark.look === null) return undefined
  const oldest = since !== null && since < date ? since : date
  const from = new Date(Date.parse(`${oldest}T00:00:00Z`) - LOOK_BACK_MS).toISOString().slice(0, 10)
  const rows = await query.all<FoundRow>(
    `${FOUND} AND e.look IS NOT NULL AND e.date >= ? AND e.accepted_at_ms >= ?`,
    ...[userId, from, acceptedSinceMs],
  )
  return rows.find(({ digest, look, capture_stamp }) =>
    isSamePhoto(mark, { digest, look, captureStamp: capture_stamp }),
  )
}

/** Two photos of one minute whose offsets differ are an hour apart: the clocks went back between them. */
async function findMinute(
  query: Queryable,
  { userId, date, time, utcOffset }: Arrival,
): Promise<FoundRow | undefined> {
  const rows = [
    ...(await query.all<FoundRow>(
      `${FOUND} AND m.id IS NULL AND e.date = ? AND e.time = ?`,
      userId,
      date,
      time,
    )),
    ...(await query.all<FoundRow>(
      `${FOUND} AND m.user_id = ? AND m.date = ? AND m.time = ?`,
      userId,
      userId,
      date,
      time,
    )),
  ]
  return rows.find(({ utc_offset }) => utc_offset === null || utcOffset === null || utc_offset === utcOffset)
}

function told(duplicate: Duplicate['duplicate'], { id, date, time, is_meal }: FoundRow): Duplicate {
  return { duplicate, id, date, time, isMeal: Number(is_meal) === 1 }
}
