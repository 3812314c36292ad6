import { AskOnce } from '../ui/ask-once.tsx'
import { useDiary } from './context.tsx'

/** Photos that could not be saved are given up. */
export function DiscardPhotos(props: { ids: readonly string[]; onClose(): void; onGone?(): void }) {
  const { ids, onClose, onGone } = props
  const { acts } = useDiary()
  const isOne = ids.length === 1
  return (
    <AskOnce
      title={isOne ? 'Discard this photo?' : `Discard ${ids.length} photos?`}
      yes="Discard"
      no={isOne ? 'Keep it' : 'Keep them'}
      onYes={async () => {
        const isGone = await acts.discard(ids)
        onClose()
        if (isGone) onGone?.()
      }}
      onClose={onClose}
    >
      <p className="sheet-text">
        {isOne ? 'It goes with its estimate.' : 'They go with their estimates.'} This cannot be undone.
      </p>
    </AskOnce>
  )
}
