import { useState } from 'react'
import { Dialog } from '../ui/dialog.tsx'
import { useDiary } from './context.tsx'

/** Asks once, before photos that could not be saved are given up. */
export function DiscardPhotos(props: { ids: readonly string[]; onClose(): void; onGone?(): void }) {
  const { ids, onClose, onGone } = props
  const { acts } = useDiary()
  const [isGoing, setIsGoing] = useState(false)
  const isOne = ids.length === 1
  const discard = async () => {
    if (isGoing) return
    setIsGoing(true)
    const isGone = await acts.discard(ids)
    onClose()
    if (isGone) onGone?.()
  }
  return (
    <Dialog
      title={isOne ? 'Discard this photo?' : `Discard ${ids.length} photos?`}
      kind="small"
      onClose={onClose}
    >
      <p className="sheet-text">
        {isOne ? 'It goes with its estimate.' : 'They go with their estimates.'} This cannot be undone.
      </p>
      <div className="buttons">
        <button
          type="button"
          className="btn danger"
          aria-disabled={isGoing || undefined}
          onClick={() => void discard()}
        >
          Discard
        </button>
        <button type="button" className="btn quiet" onClick={onClose}>
          {isOne ? 'Keep it' : 'Keep them'}
        </button>
      </div>
    </Dialog>
  )
}
