import { useEffect, useRef, useState } from 'react'
import { useGarner } from '../garner.ts'
import { useStore } from '../store.ts'

/** Long enough to read a sentence and reach for Undo; it stays while the pointer or the focus is on it. */
const SHOWN_MS = 10_000

/** What just happened, with what may be done about it, and the quiet line for screen readers. */
export function Toaster() {
  const { notice, browser } = useGarner()
  const toast = useStore(notice.toast)
  const said = useStore(notice.said)
  const [held, setHeld] = useState(false)
  const shown = toast?.id ?? null
  const heldNow = useRef(held)
  heldNow.current = held

  useEffect(() => {
    if (shown === null || held) return
    const stop = new AbortController()
    void browser.clock.sleep(SHOWN_MS, stop.signal).then(() => {
      if (!stop.signal.aborted && !heldNow.current) notice.dismiss(shown)
    })
    return () => stop.abort()
  }, [shown, held, browser, notice])

  useEffect(() => {
    if (shown === null) setHeld(false)
  }, [shown])

  return (
    <>
      <div role="status" aria-label="What just happened">
        {toast && (
          // biome-ignore lint/a11y/noStaticElementInteractions: hovering only keeps it there longer
          <div
            key={toast.id}
            className="toast"
            onPointerEnter={() => setHeld(true)}
            onPointerLeave={() => setHeld(false)}
            onFocus={() => setHeld(true)}
            onBlur={() => setHeld(false)}
          >
            <span dir="auto">{toast.words}</span>
            {toast.actions.map((action) => (
              <button
                key={action.label}
                type="button"
                className="btn tight"
                onClick={() => {
                  notice.dismiss(toast.id)
                  action.run()
                }}
              >
                {action.label}
              </button>
            ))}
          </div>
        )}
      </div>
      <div className="visually-hidden" role="status" aria-live="polite">
        {said}
      </div>
    </>
  )
}
