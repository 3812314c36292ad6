import type { Queryable } from '@garner/db'
import { totalsOf } from './amounts.ts'
import { addDays, dayOf } from './day.ts'
import { goalsOf } from './goals.ts'
import { MEAL_ROWS, type MealRow, toMeal, toSharedMeal } from './meal.ts'
import type { SharedDiary } from './schemas.ts'
import type { ShareRow } from './shares.ts'

/** A month of days on one page. */
const DAYS_MAX = 31
/** 500: sixteen meals on each of those days. Who has more gets fewer days a page. */
const MEALS_MAX = 500
const AFTER_ALL_DAYS = '9999'

/** One page of what a share shows, newest day first: only days of the share that have meals. */
export async function sharedDays(
  query: Queryable,
  share: ShareRow,
  { owner, before, photoAt }: { owner: string; before: string | null; photoAt: (id: string) => string },
): Promise<SharedDiary> {
  const { start_of_day, energy_unit } = await goalsOf(query, share.user_id)
  const afterLast = share.to_date === null ? AFTER_ALL_DAYS : addDays(share.to_date, 1)
  const rows = await query.all<MealRow>(
    `${MEAL_ROWS} WHERE m.user_id = ? AND (m.date, m.time) >= (?, ?) AND (m.date, m.time) < (?, ?)
     ORDER BY m.date DESC, m.time DESC, m.id DESC LIMIT ?`,
    ...[share.user_id, share.from_date ?? '', start_of_day],
    ...[before !== null && before < afterLast ? before : afterLast, start_of_day, MEALS_MAX + 1],
  )
  const days = [...Map.groupBy(rows, (row) => dayOf(row, start_of_day))]
  const shown = days.slice(0, DAYS_MAX)
  // The oldest day read may have more meals than were read; it comes whole on the next page.
  if (rows.length > MEALS_MAX && shown.length === days.length && shown.length > 1) shown.pop()
  const hasMore = shown.length < days.length
  return {
    owner,
    ...{ from: share.from_date, to: share.to_date },
    expires_at: new Date(share.expires_at_ms).toISOString(),
    energy_unit,
    days: shown.map(([date, meals]) => {
      const { waiting, ...totals } = totalsOf(meals.map(toMeal), 0)
      return {
        date,
        meals: meals.toReversed().map((row) => toSharedMeal(row, share.with_photos === 1 ? photoAt : null)),
        totals,
      }
    }),
    before: hasMore ? shown.at(-1)![0] : null,
  }
}

/** The photo of a meal that this share shows; undefined for every other meal, and where photos are not shared. */
export async function sharedPhoto(
  query: Queryable,
  share: ShareRow | undefined,
  mealId: string,
): Promise<string | undefined> {
  const row = await query.get<MealRow>(
    `${MEAL_ROWS} WHERE m.id = ? AND m.user_id = ?`,
    mealId,
    share?.user_id ?? '',
  )
  const { start_of_day } = await goalsOf(query, share?.user_id ?? '')
  if (!row || !share || share.with_photos !== 1 || row.blob === null) return undefined
  const day = dayOf(row, start_of_day)
  const isShown = day >= (share.from_date ?? '') && (share.to_date === null || day <= share.to_date)
  return isShown ? row.blob : undefined
}
