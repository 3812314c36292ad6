import type { Queryable } from '@garner/db'
import { totalsOf } from './amounts.ts'
import { addDays, dayOf, daysIn, type Span } from './day.ts'
import { MEAL_ROWS, type MealRow, toMeal } from './meal.ts'
import type { Day } from './schemas.ts'

/** Reads of one person's diary. Each asks for that person's own rows only; another's are not there. */
export async function findMeal(
  query: Queryable,
  { id, userId }: { id: string; userId: string },
): Promise<MealRow | undefined> {
  return query.get<MealRow>(`${MEAL_ROWS} WHERE m.id = ? AND m.user_id = ?`, id, userId)
}

/** A photo that was accepted and is no meal yet. */
export interface WaitingEntry {
  id: string
  date: string
  time: string
  state: 'waiting'
}

export async function findWaiting(
  query: Queryable,
  { id, userId }: { id: string; userId: string },
): Promise<WaitingEntry | undefined> {
  return query.get<WaitingEntry>(
    `SELECT id, date, time, state FROM photo_entries
     WHERE id = ? AND user_id = ? AND state = 'waiting' AND is_deleted = 0`,
    id,
    userId,
  )
}

/** Every day of the span, in order, each with its meals in order of time. */
export async function listDays(query: Queryable, userId: string, span: Span): Promise<Day[]> {
  const within = [span.first, span.startOfDay, addDays(span.last, 1), span.startOfDay]
  const meals = await query.all<MealRow>(
    `${MEAL_ROWS} WHERE m.user_id = ? AND (m.date, m.time) >= (?, ?) AND (m.date, m.time) < (?, ?)
     ORDER BY m.date, m.time, m.id`,
    userId,
    ...within,
  )
  const waiting = await query.all<{ date: string; time: string }>(
    `SELECT date, time FROM photo_entries WHERE user_id = ? AND state = 'waiting' AND is_deleted = 0
     AND (date, time) >= (?, ?) AND (date, time) < (?, ?)`,
    userId,
    ...within,
  )
  const mealsOf = Map.groupBy(meals, (row) => dayOf(row, span.startOfDay))
  const waitingOf = Map.groupBy(waiting, (entry) => dayOf(entry, span.startOfDay))
  return Array.from({ length: daysIn(span) }, (_, n): Day => {
    const date = addDays(span.first, n)
    const shown = (mealsOf.get(date) ?? []).map(toMeal)
    return { date, meals: shown, totals: totalsOf(shown, waitingOf.get(date)?.length ?? 0) }
  })
}

/**
 * Where the photo is that this person sees under this id: of a meal, or of an entry that waits or has failed.
 * Undefined for another person's, for a meal without one, and for what there is not.
 */
export async function findPhoto(
  query: Queryable,
  { id, userId }: { id: string; userId: string },
): Promise<string | undefined> {
  const row = await query.get<{ blob: string }>(
    `SELECT blob FROM meals WHERE id = ? AND user_id = ? AND blob IS NOT NULL
     UNION ALL
     SELECT blob FROM photo_entries WHERE id = ? AND user_id = ? AND blob IS NOT NULL AND is_deleted = 0
       AND state IN ('waiting', 'dead')`,
    ...[id, userId, id, userId],
  )
  return row?.blob
}
