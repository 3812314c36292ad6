import type { Shelf } from '../../browser.ts'
import { createStore, type Store } from '../../store.ts'
import type { MealDraft } from './draft.ts'

const KEY = 'garner.meal-drafts'
/** The draft of a meal that is being written without a photo. */
export const NEW_MEAL = 'new'

/**
 * What somebody has written about a meal and not saved yet: it outlives its sheet, a conflict and a reload, and ends
 * when it is saved or given up on purpose. Kept in this tab, under its writer's id.
 */
export class MealDrafts {
  readonly all: Store<Record<string, MealDraft>>

  constructor(shelf: Shelf) {
    this.all = createStore(read(shelf))
    this.all.subscribe(() => {
      const drafts = this.all.get()
      shelf.write(KEY, Object.keys(drafts).length === 0 ? null : JSON.stringify(drafts))
    })
  }

  set(name: string, draft: MealDraft | null): void {
    this.all.set((before) => {
      const after = { ...before }
      if (draft) after[name] = draft
      else delete after[name]
      return after
    })
  }
}

/** One person's drafts are no other's, also in one tab. */
export const draftName = (userId: string, mealId: string) => `${userId} ${mealId}`

function read(shelf: Shelf): Record<string, MealDraft> {
  try {
    const drafts: unknown = JSON.parse(shelf.read(KEY) ?? '{}')
    if (typeof drafts !== 'object' || drafts === null) return {}
    const isDraft = ([, draft]: [string, MealDraft]) =>
      typeof draft?.description === 'string' && Array.isArray(draft.items)
    return Object.fromEntries(Object.entries(drafts as Record<string, MealDraft>).filter(isDraft))
  } catch {
    return {}
  }
}
