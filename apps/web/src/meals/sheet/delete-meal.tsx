import { AskOnce } from '../../ui/ask-once.tsx'
import type { Meal } from '../contract.ts'

/** What is deleted does not come back, not even by an estimate that is still on its way. */
export function DeleteMeal(props: { meal: Meal; onClose(): void; onDelete(): Promise<void> }) {
  const { meal, onClose, onDelete } = props
  return (
    <AskOnce title="Delete this meal?" yes="Delete" no="Keep it" onYes={onDelete} onClose={onClose}>
      <p className="sheet-text" dir="auto">
        <strong>{meal.description}</strong>
      </p>
      <p className="sheet-text">
        {meal.has_photo ? 'It goes with its photo.' : 'It goes with its amounts.'} This cannot be undone.
      </p>
    </AskOnce>
  )
}
