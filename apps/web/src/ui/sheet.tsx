import { type KeyboardEvent, type ReactNode, useRef } from 'react'
import { useModal } from './use-modal.ts'

/**
 * A large modal sheet that lays itself out (head, body, foot): `batch` in the middle, `drawer` at the side, both the
 * whole screen on phones.
 */
export function Sheet(props: {
  kind: 'batch' | 'drawer'
  titleId: string
  onClose(): void
  onSave?(): void
  children: ReactNode
}) {
  const ref = useRef<HTMLDialogElement>(null)
  const { onClose } = props
  // The browser would take the first button, which is the one that closes it.
  useModal(ref, { onClose, firstIn: (one) => one.querySelector('[data-first]') ?? one.querySelector('h2') })

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) props.onSave?.()
  }
  return (
    <dialog
      ref={ref}
      className={`sheet ${props.kind}`}
      aria-labelledby={props.titleId}
      onKeyDown={onKeyDown}
      onClick={(event) => {
        if (event.target === ref.current && props.kind === 'drawer') onClose()
      }}
    >
      {props.children}
    </dialog>
  )
}
