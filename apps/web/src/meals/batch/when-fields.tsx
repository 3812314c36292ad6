import { type FocusEvent, useId, useState } from 'react'
import { useGarner } from '../../garner.ts'
import { isDay, isTime } from '../../words/local-day.ts'
import { isAsking, type Row, type When } from './row.ts'

/**
 * Day and time of a photo. What is being typed counts once the fields are left: until then the photo does not go up,
 * or it would go with the first digit of a minute.
 */
export function WhenFields({ row }: { row: Row }) {
  const { batch } = useGarner()
  const id = useId()
  const [typed, setTyped] = useState<When | null>(null)
  const shown = typed ?? row.when
  const isAsked = isAsking(row)

  const change = (part: Partial<When>) => setTyped({ ...shown, ...part })
  const commit = () => {
    if (typed && (typed.date !== row.when.date || typed.time !== row.when.time))
      batch.setWhen(row.id, typed, 'typed')
    setTyped(null)
  }
  const onLeave = (event: FocusEvent) => {
    if (event.currentTarget.contains(event.relatedTarget)) return
    commit()
    batch.setBeingEdited(row.id, false)
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only hears its own two fields being left
    <span
      className="when"
      onFocus={() => batch.setBeingEdited(row.id, true)}
      onBlur={onLeave}
      onKeyDown={(event) => {
        if (event.key !== 'Enter') return
        commit()
        batch.setBeingEdited(row.id, false)
      }}
    >
      <label className="visually-hidden" htmlFor={`${id}-day`}>
        Day of {row.file.name}
      </label>
      <input
        id={`${id}-day`}
        className="input num"
        type="date"
        max="9999-12-31"
        value={shown.date}
        aria-invalid={(isAsked && !isDay(shown.date)) || undefined}
        onChange={(event) => change({ date: event.target.value })}
      />
      <label className="visually-hidden" htmlFor={`${id}-time`}>
        Time of {row.file.name}
      </label>
      <input
        id={`${id}-time`}
        className="input num"
        type="time"
        value={shown.time}
        aria-invalid={(isAsked && !isTime(shown.time)) || undefined}
        onChange={(event) => change({ time: event.target.value })}
      />
    </span>
  )
}
