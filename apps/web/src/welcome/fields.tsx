import { useId, useState } from 'react'
import { Icon } from '../ui/icon.tsx'

export const PASSWORD_MIN = 12

interface FieldProps {
  label: string
  value: string
  onChange(value: string): void
  autoComplete: string
  type?: string
  autoFocus?: boolean
}

export function TextField(props: FieldProps) {
  const id = useId()
  return (
    <p className="field">
      <label htmlFor={id}>{props.label}</label>
      <input
        id={id}
        className="input"
        type={props.type ?? 'text'}
        dir={props.type === 'email' ? 'ltr' : 'auto'}
        autoComplete={props.autoComplete}
        required
        maxLength={320}
        value={props.value}
        onChange={(event) => props.onChange(event.target.value)}
      />
    </p>
  )
}

/** A password that can be looked at. `isNew` also says whether it is long enough, which is all that counts. */
export function PasswordField(props: Omit<FieldProps, 'type'> & { isNew?: boolean }) {
  const { value, isNew = false } = props
  const id = useId()
  const [isShown, setIsShown] = useState(false)
  const bars = Math.min(4, Math.floor(value.length / 6))
  return (
    <div className="field">
      <label htmlFor={id}>{props.label}</label>
      <span className="pw">
        <input
          id={id}
          className="input"
          type={isShown ? 'text' : 'password'}
          autoComplete={props.autoComplete}
          required
          minLength={isNew ? PASSWORD_MIN : undefined}
          maxLength={128}
          aria-describedby={isNew ? `${id}-hint` : undefined}
          value={value}
          onChange={(event) => props.onChange(event.target.value)}
        />
        <button
          type="button"
          className="icon-btn"
          aria-label={isShown ? 'Hide the password' : 'Show the password'}
          aria-pressed={isShown}
          onClick={() => setIsShown(!isShown)}
        >
          <Icon name="eye" />
        </button>
      </span>
      {isNew && (
        <>
          <span className="strength" aria-hidden="true">
            {[1, 2, 3, 4].map((n) => (
              <i key={n} className={n <= bars ? 'on' : ''} />
            ))}
          </span>
          <span className="hint" id={`${id}-hint`}>
            {value.length >= PASSWORD_MIN ? 'Good. ' : ''}
            {PASSWORD_MIN} characters or more; a short sentence works well.
          </span>
        </>
      )}
    </div>
  )
}
