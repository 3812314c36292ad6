import type { Queryable, Transaction } from '@garner/db'
import { badRequest } from '../../../problem.ts'
import { diaryChanged } from '../diary.ts'
import { perNutrient } from './amounts.ts'
import type { Goals, PutGoals } from './schemas.ts'

/**
 * Kept whole, as one JSON text: they are read whole, and a half of them means nothing. Cut while they are put: the old
 * ones stand or the new ones do, and putting them again does no harm.
 */
export async function goalsOf(query: Queryable, userId: string): Promise<Goals> {
  const row = await query.get<{ goals: string }>('SELECT goals FROM goals WHERE user_id = ?', userId)
  return row ? JSON.parse(row.goals) : whole({})
}

/** Replaces them, and counts as a change of the diary: the start of day decides which meals a day has. */
export async function putGoals(
  tx: Transaction,
  { userId, goals, nowMs }: { userId: string; goals: PutGoals; nowMs: number },
): Promise<Goals> {
  const next = whole(goals)
  if (!/^([01]\d|2[0-3]):[0-5]\d$/.test(next.start_of_day)) {
    throw badRequest('start_of_day is a time as HH:MM, such as 04:00.', [
      { path: 'start_of_day', message: 'A time as HH:MM, such as 04:00.' },
    ])
  }
  await tx.run(
    `INSERT INTO goals (user_id, goals, changed_at_ms) VALUES (?, ?, ?)
     ON CONFLICT (user_id) DO UPDATE SET goals = excluded.goals, changed_at_ms = excluded.changed_at_ms`,
    ...[userId, JSON.stringify(next), nowMs],
  )
  await diaryChanged(tx, userId)
  return next
}

function whole({ goals = {}, start_of_day = '00:00', energy_unit = 'kcal' }: PutGoals): Goals {
  return { goals: perNutrient((name) => goals[name] ?? null), start_of_day, energy_unit }
}
