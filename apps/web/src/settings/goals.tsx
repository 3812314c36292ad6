import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useId, useState } from 'react'
import { useGarner } from '../garner.ts'
import { explained } from '../http/failure.ts'
import { inUnit, kcalFrom, NUTRIENT_WORDS } from '../meals/amounts.ts'
import { type Goals as GoalsAnswer, NUTRIENTS, type Nutrient, type PutGoals } from '../meals/contract.ts'
import { useGoals } from '../meals/queries.ts'
import { parseAmount } from '../meals/sheet/draft.ts'
import { Icon } from '../ui/icon.tsx'
import { isTime } from '../words/local-day.ts'
import { Problem, Section } from './section.tsx'

type Direction = NonNullable<GoalsAnswer['goals'][Nutrient]>['direction']
type Unit = GoalsAnswer['energy_unit']

const DIRECTIONS: [Direction, string][] = [
  ['about', 'about'],
  ['at_least', 'at least'],
  ['at_most', 'at most'],
]

interface Written {
  amounts: Record<Nutrient, string>
  directions: Record<Nutrient, Direction>
  startOfDay: string
  unit: Unit
}

/** What a day is drawn against. An empty field is no goal. */
export function Goals() {
  const goals = useGoals()
  const { meals, queries } = useGarner()
  const [typed, setTyped] = useState<Written | null>(null)
  const [wrong, setWrong] = useState<string | null>(null)
  const id = useId()
  const shown = typed ?? writtenIn(goals)
  const save = useMutation({
    mutationFn: (body: PutGoals) => meals.putGoals(body),
    onSuccess: (saved) => {
      queries.setQueryData(['diary', 'goals'], saved)
      setTyped(null)
      // Another start of day moves meals from one day to another.
      void queries.invalidateQueries({ queryKey: ['diary', 'days'] })
    },
  })
  const change = (part: Partial<Written>) => {
    setWrong(null)
    save.reset()
    setTyped({ ...shown, ...part })
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const body = bodyOf(shown)
    if (typeof body === 'string') setWrong(body)
    else if (!save.isPending) save.mutate(body)
  }
  return (
    <Section
      id="goals"
      title="Goals for a day"
      about="Only used to draw the bars. Leave one empty and its bar shows the amount alone."
    >
      <form className="goal-form" onSubmit={submit} noValidate>
        <div className="cols five">
          {NUTRIENTS.map((nutrient) => (
            <div className="field" key={nutrient}>
              <label htmlFor={`${id}-${nutrient}`}>{NUTRIENT_WORDS[nutrient].name}</label>
              <span className="unit">
                <input
                  id={`${id}-${nutrient}`}
                  className="input num"
                  inputMode="decimal"
                  autoComplete="off"
                  maxLength={8}
                  value={shown.amounts[nutrient]}
                  onChange={(event) =>
                    change({ amounts: { ...shown.amounts, [nutrient]: event.target.value } })
                  }
                />
                <span aria-hidden="true">{nutrient === 'energy_kcal' ? shown.unit : 'g'}</span>
              </span>
              <select
                className="input"
                aria-label={`${NUTRIENT_WORDS[nutrient].name}: which way`}
                value={shown.directions[nutrient]}
                onChange={(event) =>
                  change({
                    directions: { ...shown.directions, [nutrient]: event.target.value as Direction },
                  })
                }
              >
                {DIRECTIONS.map(([value, words]) => (
                  <option key={value} value={value}>
                    {words}
                  </option>
                ))}
              </select>
            </div>
          ))}
        </div>
        <div className="cols">
          <div className="field">
            <label htmlFor={`${id}-start`}>A day begins at</label>
            <input
              id={`${id}-start`}
              className="input"
              type="time"
              aria-describedby={`${id}-start-hint`}
              value={shown.startOfDay}
              onChange={(event) => change({ startOfDay: event.target.value })}
            />
            <span className="hint" id={`${id}-start-hint`}>
              A meal before it belongs to the day before.
            </span>
          </div>
          <fieldset className="field">
            <legend className="label">Energy in</legend>
            <div className="seg">
              {(['kcal', 'kJ'] as const).map((unit) => (
                <button
                  key={unit}
                  type="button"
                  aria-pressed={shown.unit === unit}
                  onClick={() => change(inOtherUnit(shown, unit))}
                >
                  {unit}
                </button>
              ))}
            </div>
          </fieldset>
        </div>
        <Problem words={wrong ?? (save.error ? `Not saved. ${explained(save.error)}` : null)} />
        <div className="buttons">
          <button type="submit" className="btn primary" aria-disabled={save.isPending || undefined}>
            Save goals
          </button>
          <span className="state ok" role="status">
            {save.isSuccess && (
              <>
                <Icon name="check" />
                Saved
              </>
            )}
          </span>
        </div>
      </form>
    </Section>
  )
}

const plain = (amount: number) => String(Math.round(amount * 10) / 10)

function writtenIn({ goals, start_of_day, energy_unit }: GoalsAnswer): Written {
  const text = (nutrient: Nutrient) => {
    const amount = goals[nutrient]?.amount
    if (amount === undefined) return ''
    return nutrient === 'energy_kcal' ? String(Math.round(inUnit(amount, energy_unit))) : plain(amount)
  }
  return {
    amounts: Object.fromEntries(NUTRIENTS.map((one) => [one, text(one)])) as Record<Nutrient, string>,
    directions: Object.fromEntries(NUTRIENTS.map((one) => [one, goals[one]?.direction ?? 'about'])) as Record<
      Nutrient,
      Direction
    >,
    startOfDay: start_of_day,
    unit: energy_unit,
  }
}

/** The amount stays the same, said in the other unit. */
function inOtherUnit(shown: Written, unit: Unit): Partial<Written> {
  const amount = parseAmount(shown.amounts.energy_kcal)
  if (unit === shown.unit || amount === null || amount === undefined) return { unit }
  const energy = String(Math.round(inUnit(kcalFrom(amount, shown.unit), unit)))
  return { unit, amounts: { ...shown.amounts, energy_kcal: energy } }
}

/** The body to send, or what is wrong in words. */
function bodyOf(shown: Written): PutGoals | string {
  const goals: NonNullable<PutGoals['goals']> = {}
  for (const nutrient of NUTRIENTS) {
    const amount = parseAmount(shown.amounts[nutrient])
    if (amount === undefined) return `${NUTRIENT_WORDS[nutrient].name} is not a number.`
    if (amount === null || amount === 0) continue
    const exact = nutrient === 'energy_kcal' ? kcalFrom(amount, shown.unit) : amount
    goals[nutrient] = { amount: exact, direction: shown.directions[nutrient] }
  }
  if (!isTime(shown.startOfDay)) return 'A day begins at a time, such as 04:00.'
  return { goals, start_of_day: shown.startOfDay, energy_unit: shown.unit }
}
