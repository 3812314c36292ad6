import { type ReactNode, useState } from 'react'
import { Dialog } from './dialog.tsx'

/** Asks once, before something goes that does not come back. Pressed twice, it is done once. */
export function AskOnce(props: {
  title: string
  /** What goes. */
  children: ReactNode
  yes: string
  no: string
  onYes(): Promise<unknown>
  onClose(): void
}) {
  const { title, children, yes, no, onYes, onClose } = props
  const [isGoing, setIsGoing] = useState(false)
  return (
    <Dialog title={title} kind="small" onClose={onClose}>
      {children}
      <div className="buttons">
        <button
          type="button"
          className="btn danger"
          aria-disabled={isGoing || undefined}
          onClick={() => {
            if (isGoing) return
            setIsGoing(true)
            void onYes()
          }}
        >
          {yes}
        </button>
        <button type="button" className="btn quiet" onClick={onClose}>
          {no}
        </button>
      </div>
    </Dialog>
  )
}
