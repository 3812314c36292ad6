import type { CSSProperties } from 'react'
import { Link } from '../../ui/location.tsx'
import {
  amountWords,
  energyNumber,
  energyWords,
  GRAM_NUTRIENTS,
  gramsNumber,
  NUTRIENT_WORDS,
} from '../amounts.ts'
import { useDiary } from '../context.tsx'
import type { Day } from '../contract.ts'
import { fillOf, totalOf, uncountedWords } from './total.ts'

const RADIUS = 54
const ROUND = 2 * Math.PI * RADIUS

/** The day so far, beside what was aimed at. No praise and no scolding: a sum, and what it leaves out. */
export function DayTotalCard({ day, typicalKcal }: { day: Day | undefined; typicalKcal: number }) {
  const { goals, unit } = useDiary()
  const total = totalOf(day)
  const counted = total.amounts.energy_kcal ?? 0
  const goal = goals.goals.energy_kcal?.amount ?? null
  const coming = total.uncounted * typicalKcal
  // Without a goal the ring is the day itself: what of it is counted.
  const fill = fillOf({ counted, coming, whole: goal ?? counted + coming })
  const hasNoGoals = Object.values(goals.goals).every((one) => one === null)
  const missing = uncountedWords(total.uncounted)
  return (
    <section className="card pad total" aria-labelledby="total">
      <div className="dial">
        <svg
          viewBox="0 0 132 132"
          role="img"
          aria-label={`${energyNumber(counted, unit)}${goal === null ? '' : ` of ${energyNumber(goal, unit)}`} ${unit} counted${missing ? `, ${missing.slice(0, -1)}` : ''}`}
        >
          <circle cx="66" cy="66" r={RADIUS} fill="none" stroke="var(--sunken)" strokeWidth="14" />
          <g transform="rotate(-90 66 66)" fill="none" strokeWidth="14">
            {fill.hatched > 0 && <Arc share={fill.solid + fill.hatched} stroke="url(#hatch)" />}
            {fill.solid > 0 && <Arc share={fill.solid} stroke="var(--accent)" />}
          </g>
          <text x="66" y="64" textAnchor="middle" className="big">
            {energyNumber(counted, unit)}
          </text>
          <text x="66" y="84" textAnchor="middle" className="unit-text">
            {unit}
          </text>
        </svg>
        <div>
          <h2 id="total">{headingWords(counted, goal, unit)}</h2>
          {missing && <p className="small quiet">{missing}</p>}
          {hasNoGoals && (
            <Link className="small" to="/settings#goals">
              Set a goal
            </Link>
          )}
        </div>
      </div>
      <dl className="goalbars">
        {GRAM_NUTRIENTS.map((nutrient) => {
          const amount = total.amounts[nutrient]
          const aim = goals.goals[nutrient]
          const style = {
            '--fill': NUTRIENT_WORDS[nutrient].fill,
            '--v': aim ? `${Math.min(100, ((amount ?? 0) / aim.amount) * 100)}%` : '0%',
          } as CSSProperties
          return (
            <div key={nutrient} style={style} className={aim ? '' : 'no-goal'}>
              <dt>{NUTRIENT_WORDS[nutrient].name}</dt>
              <dd className="num">
                {aim ? (
                  <>
                    <strong>{amount === null ? '0' : gramsNumber(amount)}</strong> of{' '}
                    {gramsNumber(aim.amount)} g
                  </>
                ) : (
                  <strong>{amountWords(nutrient, amount, unit)}</strong>
                )}
              </dd>
            </div>
          )
        })}
      </dl>
    </section>
  )
}

function Arc({ share, stroke }: { share: number; stroke: string }) {
  return (
    <circle
      cx="66"
      cy="66"
      r={RADIUS}
      stroke={stroke}
      strokeDasharray={`${(share * ROUND).toFixed(1)} ${ROUND.toFixed(1)}`}
    />
  )
}

function headingWords(counted: number, goal: number | null, unit: 'kcal' | 'kJ'): string {
  if (goal === null) return `${energyWords(counted, unit)} counted`
  const left = goal - counted
  return left >= 0
    ? `${energyWords(left, unit)} to your goal of ${energyNumber(goal, unit)}`
    : `${energyWords(-left, unit)} past your goal of ${energyNumber(goal, unit)}`
}
