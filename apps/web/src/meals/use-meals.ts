import type { Me } from '@garner/server/api'
import { useMemo } from 'react'
import { type Garner, useGarner } from '../garner.ts'
import { explained, failureOf } from '../http/failure.ts'
import type { Meal } from './contract.ts'
import { lookAtDiary } from './queries.ts'
import { changesIn, type MealDraft, writtenIn } from './sheet/draft.ts'
import { draftName, NEW_MEAL } from './sheet/meal-drafts.ts'

export interface SaveResult {
  /** The meal as it is now; null when it is not saved. */
  meal: Meal | null
  problem: string | null
}

/** What one may do with meals. Each says what happened, and why not when the server refuses. */
export interface MealActs {
  /** Ask the vision model again: uses one of the day's estimates. */
  estimate(meal: { id: string }): Promise<boolean>
  remove(meal: Meal): Promise<boolean>
  /** An entry that could not be saved: again, without a second bill. */
  retryEntry(id: string): Promise<boolean>
  /** Entries that could not be saved: given up, with their photos. */
  discard(ids: readonly string[]): Promise<boolean>
  /** A conflict keeps the draft, with the meal as it is now beside it. */
  save(meal: Meal, draft: MealDraft): Promise<SaveResult>
  write(draft: MealDraft, key: string): Promise<SaveResult>
}

export function useMeals(me: Me): MealActs {
  const garner = useGarner()
  return useMemo(() => createActs(garner, me), [garner, me])
}

function createActs(garner: Garner, me: Me): MealActs {
  const { meals: api, batch, browser, mealDrafts, notice, queries } = garner
  const look = () => lookAtDiary(queries, ['photo', 'meal', 'allowance'])

  return {
    async estimate(meal) {
      try {
        await api.estimate(meal.id, browser.newId())
        notice.show('Being described. You can leave this page.')
        return true
      } catch (error) {
        notice.show(`Not asked for. ${explained(error)}`)
        return false
      } finally {
        look()
      }
    },

    async remove(meal) {
      try {
        await api.remove(meal.id)
      } catch (error) {
        if (failureOf(error).status !== 404) {
          notice.show(`Not deleted. ${explained(error)}`)
          return false
        }
      }
      mealDrafts.set(draftName(me.id, meal.id), null)
      look()
      notice.show('Deleted. Nothing of it is left here.')
      return true
    },

    async retryEntry(id) {
      try {
        await api.retry(id, browser.newId())
        return true
      } catch (error) {
        notice.show(`Not tried again. ${explained(error)}`)
        return false
      } finally {
        look()
      }
    },

    async discard(ids) {
      const gone: string[] = []
      try {
        for (const id of ids) {
          await api.takeBack(id).catch((error) => {
            // Discarded elsewhere, or repaired and logged meanwhile: nothing is left to discard.
            if (failureOf(error).status !== 404) throw error
          })
          gone.push(id)
        }
        return true
      } catch (error) {
        notice.show(`Not discarded. ${explained(error)}`)
        return false
      } finally {
        batch.dropEntries(gone)
        look()
      }
    },

    async save(meal, draft) {
      const name = draftName(me.id, meal.id)
      const base = draft.conflict ?? meal
      const changes = changesIn(draft, base)
      if (!changes) {
        mealDrafts.set(name, null)
        return { meal: base, problem: null }
      }
      mealDrafts.set(name, draft)
      try {
        const version = draft.conflict?.version ?? draft.version ?? meal.version
        const saved = await api.edit(meal.id, { version, ...changes })
        mealDrafts.set(name, null)
        look()
        notice.show('Saved')
        return { meal: saved, problem: null }
      } catch (error) {
        const failure = failureOf(error)
        if (failure.status === 409 && failure.current) {
          mealDrafts.set(name, { ...draft, conflict: failure.current as Meal })
          look()
          return { meal: null, problem: null }
        }
        return { meal: null, problem: `Not saved yet. ${explained(error)}` }
      }
    },

    async write(draft, key) {
      const name = draftName(me.id, NEW_MEAL)
      mealDrafts.set(name, draft)
      try {
        const meal = await api.write(writtenIn(draft), key)
        mealDrafts.set(name, null)
        look()
        notice.show('Logged')
        return { meal, problem: null }
      } catch (error) {
        return { meal: null, problem: `Not saved yet. ${explained(error)}` }
      }
    },
  }
}
