import '../../ui/conflict.css'
import { Icon } from '../../ui/icon.tsx'
import { changedWords } from '../../words/diff.ts'
import { shortDay } from '../../words/local-day.ts'
import { energyWords } from '../amounts.ts'
import { useDiary } from '../context.tsx'
import type { Meal } from '../contract.ts'
import { type MealDraft, totalOfItems, writtenIn } from './draft.ts'

/** Two versions of one meal: nothing is chosen for anybody, and the draft stays until its writer chooses. */
export function ConflictPart(props: { draft: MealDraft; current: Meal; onTakeOther(): void }) {
  const { draft, current } = props
  const { today, unit } = useDiary()
  const mine = writtenIn(draft)
  const energyOf = (kcal: number | null) => (kcal === null ? 'Not counted.' : energyWords(kcal, unit))
  return (
    <section className="conflict" aria-label="Two versions of this meal">
      <p className="state warn" role="status">
        <Icon name="alert" />
        <span>
          <strong>This meal was changed somewhere else, while you were writing.</strong> Nothing is lost: your
          draft is kept until you choose.
        </span>
      </p>
      <div className="two">
        <div>
          <span className="label">In the diary now</span>
          <blockquote dir="auto">
            {changedWords(current.description, mine.description).map((piece, n) =>
              // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text have no other name
              piece.changed ? <mark key={n}>{piece.text}</mark> : piece.text,
            )}
            <span className="small quiet">
              {shortDay(current.date, today)}, {current.time}. {energyOf(current.nutrients.energy_kcal)}
            </span>
          </blockquote>
        </div>
        <div>
          <span className="label">Your draft</span>
          <blockquote dir="auto">
            {mine.description}
            <span className="small quiet">
              {shortDay(mine.date, today)}, {mine.time}. {energyOf(totalOfItems(draft.items).energy_kcal)}
            </span>
          </blockquote>
        </div>
      </div>
      <div className="buttons">
        <button type="submit" className="btn primary">
          Save my draft
        </button>
        <button type="button" className="btn quiet" onClick={props.onTakeOther}>
          Keep the one in the diary
        </button>
      </div>
    </section>
  )
}
