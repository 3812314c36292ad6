import { Icon } from '../../ui/icon.tsx'
import { Link } from '../../ui/location.tsx'
import { useDiary } from '../context.tsx'
import type { Day, Meal, PendingEntry } from '../contract.ts'
import { mealsPath } from '../place.ts'
import { diaryDay } from '../queries.ts'
import { ComingCard, MealCard } from './meal-card.tsx'

type Moment = { time: string; date: string } & ({ meal: Meal } | { entry: PendingEntry })

/** The day from its first meal to its last; photos on their way stand where they will stand. */
export function Timeline({ day, waiting }: { day: Day | undefined; waiting: readonly PendingEntry[] }) {
  const { day: shown, goals } = useDiary()
  const moments: Moment[] = (day?.meals ?? []).map((meal) => ({ time: meal.time, date: meal.date, meal }))
  const known = new Set(day?.meals.map((meal) => meal.id))
  for (const entry of waiting) {
    if (known.has(entry.id) || diaryDay(entry.date, entry.time, goals.start_of_day) !== shown) continue
    moments.push({ time: entry.time, date: entry.date, entry })
  }
  moments.sort((a, b) => (a.date + a.time < b.date + b.time ? -1 : a.date + a.time > b.date + b.time ? 1 : 0))
  return (
    <section aria-labelledby="meals-title">
      <h2 className="visually-hidden" id="meals-title">
        Meals of the day
      </h2>
      {day === undefined && <WaitingMeals />}
      {moments.length > 0 && (
        <ol className="timeline">
          {moments.map((moment) =>
            'meal' in moment ? (
              <MealCard key={moment.meal.id} meal={moment.meal} />
            ) : (
              <ComingCard key={moment.entry.id} entry={moment.entry} />
            ),
          )}
        </ol>
      )}
      <p className="gap">
        <Link className="btn quiet" to={mealsPath(shown, { is: 'write' })} over>
          <Icon name="plus" />
          Write a meal without a photo
        </Link>
      </p>
    </section>
  )
}

/** Nothing has been read yet: the shape of what comes. */
function WaitingMeals() {
  return (
    <div className="timeline" role="status" aria-label="The day is on its way">
      {['a', 'b', 'c'].map((name) => (
        <div className="meal coming" key={name} aria-hidden="true">
          <span />
          <div className="card shape">
            <span className="skeleton" />
            <span className="skeleton" />
          </div>
        </div>
      ))}
    </div>
  )
}
