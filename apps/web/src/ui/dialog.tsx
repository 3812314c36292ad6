import { type ReactNode, useId, useRef } from 'react'
import { Icon } from './icon.tsx'
import { useModal } from './use-modal.ts'

/** A modal sheet with its heading and its way out. */
export function Dialog(props: {
  title: string
  onClose(): void
  children: ReactNode
  /** `side` is the details sheet; the default covers a phone's whole screen. */
  kind?: 'side' | 'small'
  labelledBy?: string
}) {
  const ref = useRef<HTMLDialogElement>(null)
  const { onClose } = props
  const id = useId()
  useModal(ref, { onClose })

  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a click on the backdrop; Esc does the same from the keyboard
    <dialog
      ref={ref}
      className={`dialog ${props.kind ?? ''}`}
      aria-labelledby={props.labelledBy ?? id}
      onClick={(event) => {
        if (event.target === ref.current) onClose()
      }}
    >
      <div className="dialog-body">
        {props.labelledBy === undefined && (
          <header className="dialog-head">
            <h2 id={id}>{props.title}</h2>
            <button type="button" className="icon-btn" aria-label="Close" onClick={onClose}>
              <Icon name="x" />
            </button>
          </header>
        )}
        {props.children}
      </div>
    </dialog>
  )
}
