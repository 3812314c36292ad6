import { type RefObject, useEffect, useRef } from 'react'
import { useGarner } from '../garner.ts'

/**
 * Opens a <dialog> over the page for as long as it is there. The browser keeps the focus inside, makes what is behind
 * it inert and says `cancel` at Esc; afterwards the focus goes back to where it was, or to the page itself where that
 * is gone (a row that scrolled away).
 */
export function useModal(
  ref: RefObject<HTMLDialogElement | null>,
  options: { onClose(): void; firstIn?(dialog: HTMLDialogElement): HTMLElement | null },
): void {
  const { notice } = useGarner()
  const now = useRef(options)
  now.current = options

  useEffect(() => {
    const dialog = ref.current
    if (!dialog) return
    const before = document.activeElement
    if (!dialog.open) dialog.showModal()
    now.current.firstIn?.(dialog)?.focus()
    const stopTelling = notice.tellIn(dialog)
    const onCancel = (event: Event) => {
      // A file picker inside says cancel too.
      if (event.target !== dialog) return
      event.preventDefault()
      now.current.onClose()
    }
    dialog.addEventListener('cancel', onCancel)
    return () => {
      dialog.removeEventListener('cancel', onCancel)
      stopTelling()
      dialog.close()
      if (document.activeElement !== document.body && document.activeElement !== null) return
      if (before instanceof HTMLElement && before.isConnected && before !== document.body) before.focus()
      else document.getElementById('main')?.focus({ preventScroll: true })
    }
  }, [ref, notice])
}
