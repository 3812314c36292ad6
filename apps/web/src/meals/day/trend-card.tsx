import { useMemo, useState } from 'react'
import { Icon } from '../../ui/icon.tsx'
import { inWords } from '../../words/count.ts'
import { dayAndLongMonth, dayAndMonth, longDay } from '../../words/local-day.ts'
import { amountWords, inUnit, NUTRIENT_WORDS } from '../amounts.ts'
import { useDiary } from '../context.tsx'
import { type Day, NUTRIENTS, type Nutrient } from '../contract.ts'
import { averagePath, axisDays, type Trend, type TrendDay, trendOf } from './trend.ts'

/** The last 30 days: shapes stretch, words are HTML, and the same as a sentence and as a table. */
export function TrendCard({ days }: { days: Day[] | undefined }) {
  const { today, goals, unit } = useDiary()
  const [nutrient, setNutrient] = useState<Nutrient>('energy_kcal')
  const [isTable, setIsTable] = useState(false)
  const aim = goals.goals[nutrient]?.amount ?? null
  const scale = (amount: number) => (nutrient === 'energy_kcal' ? inUnit(amount, unit) : amount)
  const trend = useMemo(
    () => trendOf(days ?? [], { nutrient, today, goal: aim }),
    [days, nutrient, today, aim],
  )
  const hasAny = trend.days.some((day) => day.counted !== null)
  return (
    <section className="card pad trend" aria-labelledby="trend">
      <div className="page-head">
        <div className="grow">
          <h2 id="trend">Last 30 days</h2>
          <p className="small quiet">
            {trend.average === null ? (
              'No complete day yet. '
            ) : (
              <>
                On average <strong className="num">{amountWords(nutrient, trend.average, unit)}</strong> over{' '}
                {trend.completeDays === 1 ? '1 complete day' : `${trend.completeDays} complete days`}.{' '}
              </>
            )}
            Days without meals are left out, not counted as zero.
          </p>
        </div>
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be this row of buttons in every browser */}
        <div className="seg" role="group" aria-label="Show">
          {NUTRIENTS.map((one) => (
            <button key={one} type="button" aria-pressed={one === nutrient} onClick={() => setNutrient(one)}>
              {NUTRIENT_WORDS[one].short}
            </button>
          ))}
        </div>
      </div>
      {isTable ? (
        <TrendTable trend={trend} nutrient={nutrient} />
      ) : (
        <Plot trend={trend} nutrient={nutrient} goal={aim} scale={scale} />
      )}
      <div className="head-row">
        {!isTable && hasAny ? <Legend nutrient={nutrient} goal={aim} /> : <span />}
        <button
          type="button"
          className="btn tight quiet"
          aria-pressed={isTable}
          onClick={() => setIsTable(!isTable)}
        >
          <Icon name="table" />
          As a table
        </button>
      </div>
    </section>
  )
}

const NUMBER = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 1 })

function Plot(props: {
  trend: Trend
  nutrient: Nutrient
  goal: number | null
  scale(amount: number): number
}) {
  const { trend, nutrient, goal, scale } = props
  const { unit } = useDiary()
  // The lines stand at round numbers of the unit that is shown.
  const top = nutrient === 'energy_kcal' && unit === 'kJ' ? roundKj(trend.top) : trend.top
  const share = (amount: number) => `${Math.min(100, (amount / top) * 100).toFixed(1)}%`
  const lines = [1, 2 / 3, 1 / 3, 0].map((part) => NUMBER.format(Math.round(scale(top * part) * 10) / 10))
  return (
    <figure className="plot">
      <div className="y" aria-hidden="true">
        {lines.map((line) => (
          <span key={line}>{line}</span>
        ))}
      </div>
      <div className="days" role="img" aria-label={sentence(trend, nutrient, goal, unit)}>
        {trend.days.map((day, i) => (
          <i
            key={day.date}
            className={day.counted === null ? 'none' : i === trend.days.length - 1 ? 'now' : ''}
          >
            {day.coming > 0 && <u className="hatch" style={{ blockSize: share(day.coming) }} />}
            {day.counted !== null && day.counted > 0 && <b style={{ blockSize: share(day.counted) }} />}
          </i>
        ))}
        <svg viewBox="0 0 300 100" preserveAspectRatio="none" aria-hidden="true">
          {goal !== null && (
            <path
              d={`M0 ${100 - Math.min(1, goal / top) * 100}H300`}
              stroke="var(--ink)"
              strokeWidth="1.5"
              strokeDasharray="5 4"
            />
          )}
          <path d={averagePath(trend.weekly, top)} stroke="var(--accent-strong)" strokeWidth="2.5" />
        </svg>
      </div>
      <div className="x" aria-hidden="true">
        {axisDays(trend.days).map((date) => (
          <span key={date}>{dayAndMonth(date)}</span>
        ))}
      </div>
    </figure>
  )
}

/** 12,000 kJ rather than 12,552. */
function roundKj(topKcal: number): number {
  const kj = inUnit(topKcal, 'kJ')
  return (Math.ceil(kj / 3000) * 3000) / inUnit(1, 'kJ')
}

function sentence(trend: Trend, nutrient: Nutrient, goal: number | null, unit: 'kcal' | 'kJ'): string {
  const [first, last] = [trend.days[0], trend.days.at(-1)]
  const name = NUTRIENT_WORDS[nutrient].name
  const empty = trend.days.filter((day) => day.counted === null).length
  const partly = trend.days.filter((day) => day.uncounted > 0).length
  const days = (n: number) => `${inWords(n)} ${n === 1 ? 'day' : 'days'}`
  const parts = [
    `${name} per day, ${dayAndLongMonth(first?.date ?? '')} to ${dayAndLongMonth(last?.date ?? '')}`,
    goal === null ? '.' : `, against a goal of ${amountWords(nutrient, goal, unit)}.`,
    empty > 0 ? ` On ${days(empty)} nothing is logged.` : '',
    partly > 0 ? ` On ${days(partly)} not everything is counted.` : '',
  ]
  return parts.join('')
}

function Legend({ nutrient, goal }: { nutrient: Nutrient; goal: number | null }) {
  const { unit } = useDiary()
  return (
    <p className="legend">
      <span>
        <i className="key counted" />
        counted
      </span>
      <span>
        <i className="key hatch" />
        meal not counted yet (a typical one)
      </span>
      <span>
        <i className="key nothing" />
        nothing logged
      </span>
      <span>
        <i className="key line" />
        7-day average
      </span>
      {goal !== null && (
        <span>
          <i className="key dash" />
          goal {amountWords(nutrient, goal, unit)}
        </span>
      )}
    </p>
  )
}

function TrendTable({ trend, nutrient }: { trend: Trend; nutrient: Nutrient }) {
  const { today } = useDiary()
  return (
    <table className="trend-table">
      <caption className="visually-hidden">{NUTRIENT_WORDS[nutrient].name} per day</caption>
      <thead>
        <tr>
          <th scope="col">Day</th>
          <th scope="col" className="num">
            {NUTRIENT_WORDS[nutrient].name}
          </th>
          <th scope="col">Not counted yet</th>
        </tr>
      </thead>
      <tbody>
        {[...trend.days].reverse().map((day) => (
          <TableRow key={day.date} day={day} nutrient={nutrient} today={today} />
        ))}
      </tbody>
    </table>
  )
}

function TableRow({ day, nutrient, today }: { day: TrendDay; nutrient: Nutrient; today: string }) {
  const { unit } = useDiary()
  return (
    <tr>
      <th scope="row">{longDay(day.date, today)}</th>
      <td className="num">
        {day.counted === null ? 'nothing logged' : amountWords(nutrient, day.counted, unit)}
      </td>
      <td>{day.uncounted === 0 ? '' : day.uncounted === 1 ? '1 meal' : `${day.uncounted} meals`}</td>
    </tr>
  )
}
