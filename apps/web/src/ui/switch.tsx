import { useId } from 'react'

/** On or off, at once: no Save button belongs to it. */
export function Switch(props: {
  label: string
  hint?: React.ReactNode
  on: boolean
  disabled?: boolean
  onChange(on: boolean): void
}) {
  const id = useId()
  return (
    <div className="switch-row">
      <div>
        <label htmlFor={id}>{props.label}</label>
        {props.hint && (
          <p className="hint" id={`${id}-hint`}>
            {props.hint}
          </p>
        )}
      </div>
      <input
        id={id}
        className="switch"
        type="checkbox"
        role="switch"
        aria-checked={props.on}
        checked={props.on}
        disabled={props.disabled}
        aria-describedby={props.hint ? `${id}-hint` : undefined}
        onChange={(event) => props.onChange(event.target.checked)}
      />
    </div>
  )
}
