import { type ReactNode, useEffect, useId, useRef } from 'react'
import { Icon } from './icon.tsx'

/**
 * A modal sheet. The browser's own <dialog> keeps the focus inside, makes the page behind it inert, closes on Esc and
 * gives the focus back to where it was.
 */
export function Dialog(props: {
  title: string
  onClose(): void
  children: ReactNode
  /** `side` is the details sheet; the default covers a phone's whole screen. */
  kind?: 'side' | 'small'
  labelledBy?: string
}) {
  const ref = useRef<HTMLDialogElement>(null)
  const onClose = useRef(props.onClose)
  onClose.current = props.onClose
  const id = useId()

  useEffect(() => {
    const dialog = ref.current
    if (!dialog) return
    const before = document.activeElement
    if (!dialog.open) dialog.showModal()
    return () => {
      dialog.close()
      // What opened it may be gone (a row that scrolled away): then the page itself takes the focus.
      if (document.activeElement === document.body && before instanceof HTMLElement) {
        if (before.isConnected) before.focus()
        else document.getElementById('main')?.focus()
      }
    }
  }, [])

  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a click on the backdrop; Esc does the same from the keyboard
    <dialog
      ref={ref}
      className={`dialog ${props.kind ?? ''}`}
      aria-labelledby={props.labelledBy ?? id}
      onCancel={(event) => {
        event.preventDefault()
        onClose.current()
      }}
      onClick={(event) => {
        if (event.target === ref.current) onClose.current()
      }}
    >
      <div className="dialog-body">
        {props.labelledBy === undefined && (
          <header className="dialog-head">
            <h2 id={id}>{props.title}</h2>
            <button type="button" className="icon-btn" aria-label="Close" onClick={() => onClose.current()}>
              <Icon name="x" />
            </button>
          </header>
        )}
        {props.children}
      </div>
    </dialog>
  )
}
