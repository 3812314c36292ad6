import { Link } from '../../ui/location.tsx'
import { addDays, dayAndLongMonth, weekdayAndDay } from '../../words/local-day.ts'
import { energyWords } from '../amounts.ts'
import { useDiary } from '../context.tsx'
import type { Day } from '../contract.ts'
import { mealsPath } from '../place.ts'
import { Jar } from './jar.tsx'
import { fillOf, totalOf } from './total.ts'

/** What fills a jar where no goal is set: the energy that food labels reckon with. */
const USUAL_DAY_KCAL = 2000

export function Week(props: { days: Day[] | undefined; from: string; typicalKcal: number }) {
  const { day: shown, today, goals, unit } = useDiary()
  const whole = goals.goals.energy_kcal?.amount ?? USUAL_DAY_KCAL
  const week = Array.from({ length: 7 }, (_, i) => addDays(props.from, i))
  const to = week.at(-1) ?? props.from
  const name =
    to === today ? 'Days of this week' : `Days from ${dayAndLongMonth(props.from)} to ${dayAndLongMonth(to)}`
  return (
    <nav className="week" aria-label={name}>
      {week.map((date) => {
        const day = props.days?.find((one) => one.date === date)
        const total = totalOf(day)
        const counted = total.amounts.energy_kcal ?? 0
        const fill = fillOf({ counted, coming: total.uncounted * props.typicalKcal, whole })
        const isEmpty = day !== undefined && total.meals === 0
        const [weekday, number] = weekdayAndDay(date).split(' ')
        const words = day === undefined ? '' : isEmpty ? 'not logged' : energyWords(counted, unit)
        return (
          <Link
            key={date}
            to={mealsPath(date)}
            className={isEmpty ? 'off' : ''}
            current={date === shown}
            currentAs="date"
          >
            <Jar {...fill} isEmpty={isEmpty} />
            <span>
              {weekday} <strong>{number}</strong>
            </span>
            <span className="num xs">
              {words || '\u00A0'}
              {total.uncounted > 0 && <span className="visually-hidden">, not all counted yet</span>}
            </span>
          </Link>
        )
      })}
    </nav>
  )
}
