import { type RefObject, useEffect } from 'react'
import { useGarner } from '../garner.ts'
import { useStore } from '../store.ts'
import { Countdown } from '../ui/countdown.tsx'
import { heightAs } from '../ui/height-as.ts'
import { Icon } from '../ui/icon.tsx'
import { Ring } from './ring.tsx'
import type { SaveBoxState } from './use-save.ts'
import './save-box.css'

/** Where a link goes in. What the server did not take stays in it, with the reason below. */
export function SaveBox(props: {
  box: SaveBoxState
  groupName: string
  inputRef: RefObject<HTMLInputElement | null>
}) {
  const { box, groupName, inputRef } = props
  const keys = useStore(useGarner().preferences.singleKeys)

  useEffect(() => {
    if (box.problem) inputRef.current?.focus()
  }, [box.problem, inputRef])

  return (
    <div className="save" ref={measured}>
      <form
        autoComplete="off"
        noValidate
        aria-label="Save a link"
        onSubmit={(event) => {
          event.preventDefault()
          box.submit()
        }}
      >
        <div className="save-line">
          <Icon name="link" />
          <label className="visually-hidden" htmlFor="save-url">
            Link to save for {groupName}
          </label>
          <input
            ref={inputRef}
            id="save-url"
            type="text"
            inputMode="url"
            enterKeyHint="done"
            autoCapitalize="none"
            spellCheck={false}
            placeholder="Paste a link"
            dir="ltr"
            value={box.text}
            aria-invalid={box.problem ? true : undefined}
            aria-describedby={box.problem ? 'save-problem' : 'save-hint'}
            onChange={(event) => box.change(event.target.value)}
          />
          <span className="to" id="save-hint">
            {keys && (
              <>
                <kbd>/</kbd> to write,{' '}
              </>
            )}
            <kbd>Enter</kbd> to save
          </span>
          <button type="submit" className="btn primary" aria-disabled={box.sending || undefined}>
            Save
          </button>
        </div>
        {box.isLink && (
          <div className="save-note">
            <Icon name="note" />
            <label className="visually-hidden" htmlFor="save-note">
              Note for everyone
            </label>
            <input
              id="save-note"
              type="text"
              maxLength={2000}
              enterKeyHint="done"
              placeholder="Why is it worth reading? (if you like)"
              dir="auto"
              value={box.note}
              onChange={(event) => box.changeNote(event.target.value)}
            />
          </div>
        )}
      </form>
      {box.problem && (
        <p className="error save-problem" id="save-problem" role="alert">
          <Icon name="alert" />
          {box.problem}
        </p>
      )}
      {box.held && (
        <div className="banner warn">
          <Ring />
          <p>
            <strong>
              {box.held.reason === 'full'
                ? 'The queue is full, so this link is not saved yet.'
                : 'Busy right now, so this link is not saved yet.'}
            </strong>{' '}
            It stays in the box and goes up in <Countdown untilMs={box.held.untilMs} />.
          </p>
          <button type="button" className="btn tight quiet" onClick={box.tryNow}>
            Try now
          </button>
        </div>
      )}
    </div>
  )
}

/** On phones it lies at the bottom, and grows with a note and with what it has to say. */
const measured = heightAs('--save-box')
