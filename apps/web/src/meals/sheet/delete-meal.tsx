import { useState } from 'react'
import { Dialog } from '../../ui/dialog.tsx'
import type { Meal } from '../contract.ts'

/** Asks once: what is deleted does not come back, not even by an estimate that is still on its way. */
export function DeleteMeal(props: { meal: Meal; onClose(): void; onDelete(): Promise<void> }) {
  const { meal, onClose, onDelete } = props
  const [isGoing, setIsGoing] = useState(false)
  return (
    <Dialog title="Delete this meal?" kind="small" onClose={onClose}>
      <p className="sheet-text" dir="auto">
        <strong>{meal.description}</strong>
      </p>
      <p className="sheet-text">
        {meal.has_photo ? 'It goes with its photo.' : 'It goes with its amounts.'} This cannot be undone.
      </p>
      <div className="buttons">
        <button
          type="button"
          className="btn danger"
          aria-disabled={isGoing || undefined}
          onClick={() => {
            if (isGoing) return
            setIsGoing(true)
            void onDelete()
          }}
        >
          Delete
        </button>
        <button type="button" className="btn quiet" onClick={onClose}>
          Keep it
        </button>
      </div>
    </Dialog>
  )
}
