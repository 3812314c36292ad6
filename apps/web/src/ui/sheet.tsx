import { type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react'

/**
 * A large modal sheet that lays itself out (head, body, foot): `batch` in the middle, `drawer` at the side, both the
 * whole screen on phones. As `Dialog`, it is the browser's own <dialog>: focus stays inside and goes back after.
 */
export function Sheet(props: {
  kind: 'batch' | 'drawer'
  titleId: string
  onClose(): void
  onSave?(): void
  children: ReactNode
}) {
  const ref = useRef<HTMLDialogElement>(null)
  const onClose = useRef(props.onClose)
  onClose.current = props.onClose

  useEffect(() => {
    const dialog = ref.current
    if (!dialog) return
    const before = document.activeElement
    if (!dialog.open) dialog.showModal()
    // The browser would take the first button, which is the one that closes it.
    const first = dialog.querySelector<HTMLElement>('[data-first]') ?? dialog.querySelector('h2')
    first?.focus()
    return () => {
      dialog.close()
      if (document.activeElement !== document.body && document.activeElement !== null) return
      if (before instanceof HTMLElement && before.isConnected && before !== document.body) before.focus()
      else document.getElementById('main')?.focus({ preventScroll: true })
    }
  }, [])

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) props.onSave?.()
  }
  return (
    <dialog
      ref={ref}
      className={`sheet ${props.kind}`}
      aria-labelledby={props.titleId}
      onKeyDown={onKeyDown}
      onCancel={(event) => {
        // A file picker inside says cancel too.
        if (event.target !== ref.current) return
        event.preventDefault()
        onClose.current()
      }}
      onClick={(event) => {
        if (event.target === ref.current && props.kind === 'drawer') onClose.current()
      }}
    >
      {props.children}
    </dialog>
  )
}
