import { type FormEvent, useEffect, useId, useRef, useState } from 'react'
import { useGarner } from '../../garner.ts'
import { useStore } from '../../store.ts'
import { Icon } from '../../ui/icon.tsx'
import { go } from '../../ui/location.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { timeOf } from '../../words/local-day.ts'
import { useDiary } from '../context.tsx'
import type { Meal } from '../contract.ts'
import { leftOf } from '../day/allowance.ts'
import { mealName, tagOf } from '../meal-words.ts'
import { Photo } from '../photo.tsx'
import { mealsPath } from '../place.ts'
import { diaryDay, mealIn, useAllowance, useDays } from '../queries.ts'
import { ConflictPart } from './conflict-part.tsx'
import { DeleteMeal } from './delete-meal.tsx'
import { changesIn, draftOf, emptyItem, type MealDraft, parseAmount, problemIn } from './draft.ts'
import { Items } from './items.tsx'
import { draftName, NEW_MEAL } from './meal-drafts.ts'

/** One meal, to be read and corrected; without an id, one that is written by hand. */
export function MealSheet({ id, onClose }: { id: string | null; onClose(): void }) {
  const { queries } = useGarner()
  const { day } = useDiary()
  const days = useDays(day, day)
  const found = id === null ? null : mealIn(queries, id)
  const titleId = useId()
  if (id !== null && found === null) {
    return (
      <Sheet kind="drawer" titleId={titleId} onClose={onClose}>
        <Head titleId={titleId} title="Meal" onClose={onClose} />
        <div className="in">
          <p role="status">{days.isPending ? 'Looking for it…' : 'This meal is no longer here.'}</p>
        </div>
      </Sheet>
    )
  }
  return <MealForm key={found?.id ?? NEW_MEAL} meal={found} titleId={titleId} onClose={onClose} />
}

function MealForm(props: { meal: Meal | null; titleId: string; onClose(): void }) {
  const { meal, titleId, onClose } = props
  const { mealDrafts, browser, notice } = useGarner()
  const { me, day, today, acts, goals } = useDiary()
  const name = draftName(me.id, meal?.id ?? NEW_MEAL)
  const kept = useStore(mealDrafts.all)[name]
  const [fresh] = useState((): MealDraft => (meal ? draftOf(meal) : newDraft()))
  // While nothing is typed the sheet follows the meal: an estimate that arrives is shown.
  const draft = kept ?? (meal ? draftOf(meal) : fresh)
  const [problem, setProblem] = useState<string | null>(null)
  const [isSaving, setIsSaving] = useState(false)
  const [isDeleting, setIsDeleting] = useState(false)
  const key = useRef({ of: '', id: '' })
  const first = useRef<HTMLTextAreaElement>(null)
  const id = useId()
  const allowance = useAllowance().data
  const left = allowance ? leftOf(allowance) : 0
  const tag = meal && tagOf(meal)

  useEffect(() => {
    if (!meal) first.current?.focus()
  }, [meal])

  function newDraft(): MealDraft {
    const nowMs = browser.clock.nowMs()
    return {
      ...{ version: null, date: day, time: day === today ? timeOf(nowMs) : '12:00' },
      ...{ description: '', items: [emptyItem('first')], conflict: null },
    }
  }

  const change = (part: Partial<MealDraft>) => {
    setProblem(null)
    const next = { ...draft, ...part }
    const isKept =
      meal === null || next.conflict !== null || changesIn(next, meal) !== null || hasBadText(next)
    mealDrafts.set(name, isKept ? next : null)
  }
  const save = async (event?: FormEvent) => {
    event?.preventDefault()
    if (isSaving) return
    const wrong = problemIn(draft)
    if (wrong) return setProblem(wrong)
    setIsSaving(true)
    const result = meal ? await acts.save(meal, draft) : await acts.write(draft, keyFor(draft))
    setIsSaving(false)
    if (result.problem) return setProblem(result.problem)
    if (!result.meal) return notice.say('This meal was changed somewhere else. Your draft is kept.')
    const shownOn = diaryDay(result.meal.date, result.meal.time, goals.start_of_day)
    if (shownOn === day) onClose()
    else go(mealsPath(shownOn), 'replace')
  }
  /** One key for one text: a repeat of what was sent cannot log it twice, and another text is another meal. */
  const keyFor = (what: MealDraft): string => {
    const of = JSON.stringify(what)
    if (key.current.of !== of) key.current = { of, id: browser.newId() }
    return key.current.id
  }

  const title = meal ? `${mealName(meal.time)}, ${meal.time}` : 'Write a meal'
  return (
    <Sheet kind="drawer" titleId={titleId} onClose={onClose} onSave={() => void save()}>
      <Head titleId={titleId} title={title} onClose={onClose}>
        {tag && <span className={`tag ${tag.isOwn ? 'accent' : ''}`}>{tag.words}</span>}
      </Head>
      <form className="in" id={`${id}-form`} onSubmit={save} noValidate>
        {meal && draft.conflict && (
          <ConflictPart
            draft={draft}
            current={draft.conflict}
            onTakeOther={() => mealDrafts.set(name, null)}
          />
        )}
        {kept && !draft.conflict && meal && (
          <p className="state accent">
            <Icon name="pencil" />
            Not saved yet. What you wrote is kept in this tab.
          </p>
        )}
        <div className={`lead ${meal?.has_photo ? '' : 'no-pic'}`}>
          {meal?.has_photo && <Photo url={meal.photo_url} alt={meal.description} />}
          <div>
            <div className="pair">
              <p className="field">
                <label htmlFor={`${id}-day`}>Day</label>
                <input
                  id={`${id}-day`}
                  className="input"
                  type="date"
                  max="9999-12-31"
                  value={draft.date}
                  onChange={(event) => change({ date: event.target.value })}
                />
              </p>
              <p className="field">
                <label htmlFor={`${id}-time`}>Time</label>
                <input
                  id={`${id}-time`}
                  className="input"
                  type="time"
                  value={draft.time}
                  onChange={(event) => change({ time: event.target.value })}
                />
              </p>
            </div>
            {meal?.is_time_guess && (
              <p className="hint">The time is a guess. Correct it if you know better.</p>
            )}
            <p className="field">
              <label htmlFor={`${id}-what`}>What it was</label>
              <textarea
                ref={first}
                id={`${id}-what`}
                className="input"
                dir="auto"
                rows={2}
                maxLength={500}
                value={draft.description}
                onChange={(event) => change({ description: event.target.value })}
              />
            </p>
          </div>
        </div>
        <Items
          items={draft.items}
          onChange={(items) => change({ items })}
          newItem={() => emptyItem(browser.newId())}
        />
        {meal?.has_photo && (
          <p className="banner">
            <Icon name="info" />
            <span>
              An estimate from one photo can be well off. Your changes stay: an estimate that arrives later
              cannot touch them.
            </span>
          </p>
        )}
        {meal && (
          <div className="buttons">
            {meal.has_photo && allowance?.provider !== 'none' && (
              <button
                type="button"
                className="btn"
                aria-disabled={left === 0 || meal.is_estimating || undefined}
                onClick={() => left > 0 && !meal.is_estimating && void acts.estimate(meal)}
              >
                <Icon name="gauge" />
                {meal.is_estimating
                  ? 'Being described'
                  : left === 0
                    ? 'No estimates left today'
                    : `Estimate again, uses 1 of ${left}`}
              </button>
            )}
            <button type="button" className="btn danger" onClick={() => setIsDeleting(true)}>
              <Icon name="trash" />
              Delete this meal
            </button>
          </div>
        )}
      </form>
      <footer className="sheet-foot">
        {problem ? (
          <p className="error" role="alert">
            <Icon name="alert" />
            {problem}
          </p>
        ) : (
          <span className="grow" />
        )}
        <button
          type="button"
          className="btn quiet"
          onClick={() => {
            mealDrafts.set(name, null)
            onClose()
          }}
        >
          Cancel
        </button>
        {!draft.conflict && (
          <button
            type="submit"
            form={`${id}-form`}
            className="btn primary"
            aria-disabled={isSaving || undefined}
          >
            Save
          </button>
        )}
      </footer>
      {isDeleting && meal && (
        <DeleteMeal
          meal={meal}
          onClose={() => setIsDeleting(false)}
          onDelete={async () => {
            if (await acts.remove(meal)) onClose()
            else setIsDeleting(false)
          }}
        />
      )}
    </Sheet>
  )
}

/** A field that holds what is no number: changesIn does not see it, and it must not be lost either. */
function hasBadText(draft: MealDraft): boolean {
  return draft.items.some((item) =>
    Object.values(item.typed).some((text) => text !== undefined && parseAmount(text) === undefined),
  )
}

function Head(props: { titleId: string; title: string; onClose(): void; children?: React.ReactNode }) {
  return (
    <header className="sheet-head">
      <h2 id={props.titleId} tabIndex={-1}>
        {props.title}
      </h2>
      {props.children}
      <button type="button" className="icon-btn" aria-label="Close without saving" onClick={props.onClose}>
        <Icon name="x" />
      </button>
    </header>
  )
}
