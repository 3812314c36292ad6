/** What the meal diary's routes answer and take, as far as this client uses it. */
export type {
  CreatedShare,
  CreateShare,
  Day,
  DayList,
  EditMeal,
  Goals,
  Meal,
  MealItem,
  PutGoals,
  Share,
  VisionAllowance,
  WriteItem,
  WriteMeal,
} from '@garner/server/api'

import type { MealNutrients } from '@garner/server/api'

export const NUTRIENTS = ['energy_kcal', 'protein_g', 'carbohydrate_g', 'fat_g', 'fiber_g'] as const
export type Nutrient = (typeof NUTRIENTS)[number]

/** For the portion; null is unknown, and unknown is not zero. */
export type Nutrients = MealNutrients

export interface PendingEntry {
  id: string
  state: 'queued' | 'describing' | 'retrying'
  /** How many are ahead of it. */
  before: number
  date: string
  time: string
  attempts: number
  next_try: string | null
  error: string | null
}

export interface FinishedEntry {
  id: string
  state: 'logged' | 'placeholder' | 'dead' | 'discarded'
  reason?: string | null
  meal_id?: string | null
}

/** `GET /api/auto-log/pending` */
export interface Pending {
  pending: number
  entries: PendingEntry[]
  finished: FinishedEntry[]
}

/** `POST /api/auto-log` */
export type Uploaded =
  | { queued: true; pending: number; entry: { id: string; state: string; date: string; time: string } }
  | {
      queued: false
      skipped: true
      duplicate: 'same-photo' | 'same-minute'
      meal_id?: string
      entry_id?: string
      /** When the one that is there was. */
      date: string
      time: string
      pending: number
    }
