import { useRef } from 'react'
import { Icon } from '../../ui/icon.tsx'
import { go } from '../../ui/location.tsx'
import { addDays, isDay, longDay } from '../../words/local-day.ts'
import { useDiary } from '../context.tsx'
import { mealsPath } from '../place.ts'

export function DayHead({ onAdd, onStep }: { onAdd(): void; onStep(by: number): void }) {
  const { day, today } = useDiary()
  const picker = useRef<HTMLInputElement>(null)
  const isLast = day >= addDays(today, 1)
  return (
    <div className="page-head">
      <h1>{longDay(day, today)}</h1>
      <span className="nudge">
        <button type="button" className="icon-btn" aria-label="The day before" onClick={() => onStep(-1)}>
          <Icon name="left" />
        </button>
        <button
          type="button"
          className="icon-btn"
          aria-label="The day after"
          aria-disabled={isLast || undefined}
          onClick={() => onStep(1)}
        >
          <Icon name="right" />
        </button>
        <span className="pick-day">
          <button
            type="button"
            className="icon-btn"
            aria-label="Choose a day"
            onClick={() => picker.current?.showPicker()}
          >
            <Icon name="calendar" />
          </button>
          <input
            ref={picker}
            type="date"
            tabIndex={-1}
            aria-hidden="true"
            value={day}
            max={addDays(today, 1)}
            onChange={(event) => isDay(event.target.value) && go(mealsPath(event.target.value))}
          />
        </span>
        {day !== today && (
          <button type="button" className="btn tight quiet only-wide" onClick={() => go(mealsPath(today))}>
            Today
          </button>
        )}
      </span>
      <span className="grow" />
      <button type="button" className="btn primary" onClick={onAdd}>
        <Icon name="camera" />
        Add photos <kbd className="key-hint">a</kbd>
      </button>
    </div>
  )
}
