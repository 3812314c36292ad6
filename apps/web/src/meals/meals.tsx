import type { Me } from '@garner/server/api'
import { useMemo } from 'react'
import { useGarner } from '../garner.ts'
import { useKeys } from '../ui/keys.ts'
import { KeysSheet, type KeyWords } from '../ui/keys-sheet.tsx'
import { go } from '../ui/location.tsx'
import { addDays, dayAndLongMonth, longDay } from '../words/local-day.ts'
import { MealsBanners } from './banners.tsx'
import { BatchSheet } from './batch/batch-sheet.tsx'
import { useBrought } from './batch/use-brought.ts'
import { type Diary, DiaryContext } from './context.tsx'
import { AllowanceCard } from './day/allowance-card.tsx'
import { DayHead } from './day/day-head.tsx'
import { DayTotalCard } from './day/day-total.tsx'
import { EmptyDay } from './day/empty-day.tsx'
import { JarDefs } from './day/jar.tsx'
import { OnTheirWay } from './day/on-their-way.tsx'
import { Timeline } from './day/timeline.tsx'
import { typicalMealKcal } from './day/total.ts'
import { TrendCard } from './day/trend-card.tsx'
import { Week } from './day/week.tsx'
import { mealsPath, openIn } from './place.ts'
import { useDays, useGoals, usePending, useToday, useTrendDays, weekOf } from './queries.ts'
import { MealSheet } from './sheet/meal-sheet.tsx'
import { useMeals } from './use-meals.ts'
import './meals.css'
import './batch/batch.css'
import './sheet/sheet.css'

const LEFT = 'ArrowLeft'
const RIGHT = 'ArrowRight'
const KEYS: readonly KeyWords[] = [
  [['a'], 'Add photos'],
  [['Ctrl', 'V'], 'Add copied photos, from anywhere'],
  [['n'], 'Write a meal without a photo'],
  [['←', '→'], 'The day before, the day after'],
]

/** One day of the diary, the week and the month around it, and what opens over them. */
export function MealsScreen({ me, place, day }: { me: Me; place: URL; day: string }) {
  const { notice } = useGarner()
  const today = useToday()
  const week = weekOf(day, today)
  const days = useDays(week.from, week.to)
  const trend = useTrendDays(today)
  const goals = useGoals()
  const pending = usePending()
  const acts = useMeals(me)
  const open = openIn(place)
  const isPicking = open?.is === 'add'

  const shown = days.data?.find((one) => one.date === day)
  const waiting = useMemo(() => pending?.entries ?? [], [pending])
  const typical = typicalMealKcal(trend.data ?? days.data ?? [])
  const diary = useMemo<Diary>(
    () => ({ me, day, today, goals, unit: goals.energy_unit, acts }),
    [me, day, today, goals, acts],
  )

  const step = (by: number) => {
    const next = addDays(day, by)
    if (next > addDays(today, 1)) return
    go(mealsPath(next))
    notice.say(longDay(next, today))
  }
  const addPhotos = () => go(mealsPath(day, { is: 'add' }), 'over')
  useKeys({
    a: addPhotos,
    n: () => go(mealsPath(day, { is: 'write' }), 'over'),
    [LEFT]: () => step(-1),
    [RIGHT]: () => step(1),
    '?': () => go(mealsPath(day, { is: 'keys' }), 'over'),
  })
  useBrought({ onComing: addPhotos })

  const close = () => go(mealsPath(day), 'replace')
  const isEmpty =
    shown !== undefined && shown.meals.length === 0 && shown.totals.waiting === 0 && !hasWaiting(waiting, day)
  return (
    <DiaryContext value={diary}>
      <JarDefs />
      <div className="meals">
        <DayHead onAdd={addPhotos} onStep={step} />
        <Week days={days.data} from={week.from} typicalKcal={typical} />
        <MealsBanners days={days} />
        {isEmpty ? <EmptyDay onAdd={addPhotos} /> : <Timeline day={shown} waiting={waiting} />}
        <aside className="side" aria-label="The day in numbers">
          {!isEmpty && <DayTotalCard day={shown} typicalKcal={typical} />}
          <OnTheirWay pending={pending} onShow={addPhotos} />
          <AllowanceCard />
        </aside>
        <TrendCard days={trend.data} />
      </div>
      {isPicking && <BatchSheet pending={pending} onClose={close} />}
      {open?.is === 'meal' && <MealSheet key={open.id} id={open.id} onClose={close} />}
      {open?.is === 'write' && <MealSheet key="new" id={null} onClose={close} />}
      {open?.is === 'keys' && <KeysSheet own={KEYS} onClose={close} />}
      <p className="visually-hidden">{`Week from ${dayAndLongMonth(week.from)} to ${dayAndLongMonth(week.to)}`}</p>
    </DiaryContext>
  )
}

function hasWaiting(entries: readonly { date: string }[], day: string): boolean {
  return entries.some((entry) => entry.date === day)
}
