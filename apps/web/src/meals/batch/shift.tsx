import { type FormEvent, useId, useState } from 'react'
import { useGarner } from '../../garner.ts'
import { count } from '../../words/count.ts'

/** The camera's clock was wrong: all times that came from the photos move together. */
export function Shift({ rows }: { rows: number }) {
  const { batch, notice } = useGarner()
  const id = useId()
  const [direction, setDirection] = useState<1 | -1>(1)
  const [days, setDays] = useState('')
  const [hours, setHours] = useState('')
  const [minutes, setMinutes] = useState('')
  const [said, setSaid] = useState('')
  const number = (text: string) => (/^\d{1,5}$/.test(text.trim()) ? Number(text) : 0)
  const byMinutes = direction * (number(days) * 1440 + number(hours) * 60 + number(minutes))
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (byMinutes === 0) return setSaid('Say by how much.')
    const { moved, refused } = batch.shift(byMinutes)
    const words = [
      moved > 0 ? `${count(moved, 'time', 'times')} moved.` : '',
      refused > 0 ? `${count(refused, 'photo', 'photos')} would be in the future and stayed.` : '',
    ]
      .filter(Boolean)
      .join(' ')
    setSaid(words)
    notice.say(words)
  }
  const fields = [
    { name: 'days', value: days, set: setDays },
    { name: 'hours', value: hours, set: setHours },
    { name: 'min', value: minutes, set: setMinutes },
  ]
  return (
    <details className="shift">
      <summary>The camera’s clock was wrong?</summary>
      <form onSubmit={submit}>
        <span className="small">
          Move {rows === 1 ? 'the time' : `all ${rows} times`} read from {rows === 1 ? 'the photo' : 'photos'}
        </span>
        {fields.map(({ name, value, set }) => (
          <span className="unit" key={name}>
            <label className="visually-hidden" htmlFor={`${id}-${name}`}>
              {name === 'min' ? 'Minutes' : name === 'days' ? 'Days' : 'Hours'}
            </label>
            <input
              id={`${id}-${name}`}
              className="input num"
              inputMode="numeric"
              autoComplete="off"
              placeholder="0"
              value={value}
              onChange={(event) => set(event.target.value)}
            />
            <span aria-hidden="true">{name}</span>
          </span>
        ))}
        {/* biome-ignore lint/a11y/useSemanticElements: a row of buttons, exactly one pressed */}
        <span className="seg" role="group" aria-label="Direction">
          <button type="button" aria-pressed={direction === 1} onClick={() => setDirection(1)}>
            later
          </button>
          <button type="button" aria-pressed={direction === -1} onClick={() => setDirection(-1)}>
            earlier
          </button>
        </span>
        <button type="submit" className="btn tight">
          Move
        </button>
        <span className="small quiet">{said}</span>
      </form>
    </details>
  )
}
