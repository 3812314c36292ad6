import type { CSSProperties, ReactNode } from 'react'
import { Icon } from '../../ui/icon.tsx'
import { Link } from '../../ui/location.tsx'
import { energyNumber, GRAM_NUTRIENTS, gramsNumber, NUTRIENT_WORDS } from '../amounts.ts'
import { useDiary } from '../context.tsx'
import type { Meal, PendingEntry } from '../contract.ts'
import { isPlaceholder, PENDING_DESCRIPTION, reasonWords, tagOf } from '../meal-words.ts'
import { Photo } from '../photo.tsx'
import { mealsPath } from '../place.ts'
import { photoOf } from './on-their-way.tsx'

export function MealCard({ meal }: { meal: Meal }) {
  const { day, unit } = useDiary()
  const to = mealsPath(day, { is: 'meal', id: meal.id })
  const { energy_kcal: energy } = meal.nutrients
  const tag = tagOf(meal)
  if (meal.is_estimating && isPlaceholder(meal))
    return <Coming date={meal.date} time={meal.time} photoUrl={meal.photo_url} to={to} />
  return (
    <Moment meal={meal} kind={energy === null ? 'uncounted' : ''} to={to}>
      <h3 dir="auto">{meal.description || PENDING_DESCRIPTION}</h3>
      {isPlaceholder(meal) ? (
        <Placeholder meal={meal} />
      ) : (
        <>
          <p className="kcal">
            {energy === null ? (
              'Not counted: its energy is unknown.'
            ) : (
              <>
                <strong className="num">{energyNumber(energy, unit)}</strong> {unit}
              </>
            )}
            {tag && <span className={`tag ${tag.isOwn ? 'accent' : ''}`}>{tag.words}</span>}
          </p>
          {meal.is_time_guess && <p className="state">The time is a guess.</p>}
          {meal.is_estimating && (
            <p className="state accent">Being described again. This stays until then.</p>
          )}
          <NutrientBars meal={meal} />
        </>
      )}
    </Moment>
  )
}

/** A photo that is up and has no meal yet. */
export function ComingCard({ entry }: { entry: PendingEntry }) {
  const url = photoOf(entry)
  return <Coming date={entry.date} time={entry.time} photoUrl={url} to={null} />
}

function Coming(props: { date: string; time: string; photoUrl: string | null; to: string | null }) {
  const { date, time, photoUrl, to } = props
  return (
    <li className="meal coming">
      <time dateTime={`${date}T${time}`}>{time}</time>
      <article className="card">
        <span className="pic">
          <Photo url={photoUrl} alt={`Photo taken at ${time}`} />
        </span>
        <div className="txt">
          <h3>
            <span className="visually-hidden">Photo at {time}, being described</span>
            <span className="skeleton" />
          </h3>
          <p className="state accent">Being described. Safe to close.</p>
          <dl className="nut later">
            {GRAM_NUTRIENTS.map((nutrient) => (
              <div key={nutrient}>
                <dt>{NUTRIENT_WORDS[nutrient].short}</dt>
                <dd>
                  <span className="visually-hidden">on its way</span>
                </dd>
              </div>
            ))}
          </dl>
        </div>
        {to && <EditLink to={to} time={time} />}
      </article>
    </li>
  )
}

function Moment(props: { meal: Meal; kind: string; to: string; children: ReactNode }) {
  const { meal, kind, to } = props
  return (
    <li className={`meal ${kind}`}>
      <time dateTime={`${meal.date}T${meal.time}`}>{meal.time}</time>
      <article className={`card ${meal.has_photo ? '' : 'no-pic'}`}>
        {meal.has_photo && (
          <Link className="pic" to={to} label={`Open the meal at ${meal.time}`} over>
            <Photo url={meal.photo_url} alt="" />
          </Link>
        )}
        <div className="txt">{props.children}</div>
        <EditLink to={to} time={meal.time} />
      </article>
    </li>
  )
}

function EditLink({ to, time }: { to: string; time: string }) {
  return (
    <Link className="icon-btn" to={to} label={`Edit the meal at ${time}`} over>
      <Icon name="pencil" />
    </Link>
  )
}

function Placeholder({ meal }: { meal: Meal }) {
  const { day, acts } = useDiary()
  const isUnknown = meal.estimate === 'unknown'
  return (
    <>
      <p className="small quiet">{reasonWords(isUnknown ? 'billing_unknown' : meal.reason)}</p>
      <div className="buttons">
        <button type="button" className="btn tight soft" onClick={() => void acts.estimate(meal)}>
          <Icon name="gauge" />
          {isUnknown ? 'Estimate now (uses 1)' : 'Estimate now'}
        </button>
        <Link className="btn tight quiet" to={mealsPath(day, { is: 'meal', id: meal.id })} over>
          Write it myself
        </Link>
      </div>
    </>
  )
}

/** What fills a card's bar where no goal is set: a share of a usual day, only to be compared with the other cards. */
const USUAL = { protein_g: 90, carbohydrate_g: 240, fat_g: 70, fiber_g: 30 }

function NutrientBars({ meal }: { meal: Meal }) {
  const { goals } = useDiary()
  return (
    <dl className="nut">
      {GRAM_NUTRIENTS.map((nutrient) => {
        const amount = meal.nutrients[nutrient]
        const whole = goals.goals[nutrient]?.amount ?? USUAL[nutrient]
        const style = {
          '--fill': NUTRIENT_WORDS[nutrient].fill,
          '--v': `${Math.min(100, ((amount ?? 0) / whole) * 100)}%`,
        } as CSSProperties
        return (
          <div key={nutrient} style={style} className={amount === null ? 'unknown' : ''}>
            <dt>{NUTRIENT_WORDS[nutrient].short}</dt>
            <dd className="num">{amount === null ? 'unknown' : `${gramsNumber(amount)} g`}</dd>
          </div>
        )
      })}
    </dl>
  )
}
