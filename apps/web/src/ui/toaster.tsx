import { useEffect, useRef, useState } from 'react'
import { createPortal } from 'react-dom'
import { useGarner } from '../garner.ts'
import type { Toast } from '../notice.ts'
import { useStore } from '../store.ts'
import { heightAs } from './height-as.ts'

/** Long enough to read a sentence and reach for Undo; it stays while the pointer or the focus is on it. */
const SHOWN_MS = 10_000

/**
 * What just happened, with what may be done about it, and the quiet line for screen readers: where the page keeps room
 * for them, and inside the topmost modal sheet while one is open.
 */
export function Toaster() {
  const { notice, browser } = useGarner()
  const toast = useStore(notice.toast)
  const modal = useStore(notice.modals).at(-1)
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

  // biome-ignore lint/correctness/useExhaustiveDependencies: what was hovered is another element now, and does not say when it is left
  useEffect(() => setHeld(false), [shown, modal])

  return (
    <>
      <Told toast={modal ? null : toast} isHere={modal === undefined} onHeld={setHeld} />
      {modal && createPortal(<Told toast={toast} isHere onHeld={setHeld} />, modal)}
    </>
  )
}

/** The places that are read out stand there before anything is in them: what comes with them is not read. */
function Told(props: { toast: Toast | null; isHere: boolean; onHeld(held: boolean): void }) {
  const { notice } = useGarner()
  const said = useStore(notice.said)
  const { toast, onHeld } = props
  return (
    <>
      <div className="told" role="status" aria-label="What just happened">
        {toast && (
          // biome-ignore lint/a11y/noStaticElementInteractions: hovering only keeps it there longer
          <div
            key={toast.id}
            ref={measured}
            className="toast"
            onPointerEnter={() => onHeld(true)}
            onPointerLeave={() => onHeld(false)}
            onFocus={() => onHeld(true)}
            onBlur={() => onHeld(false)}
          >
            <span dir="auto">{toast.words}</span>
            {toast.actions.length > 0 && (
              <span className="toast-acts">
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
              </span>
            )}
          </div>
        )}
      </div>
      <div className="visually-hidden" role="status" aria-live="polite">
        {props.isHere && said}
      </div>
    </>
  )
}

/** Phones: what lies at the bottom makes room for it. */
const measured = heightAs('--toast')
