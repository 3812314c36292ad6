/** What the meal diary's routes answer and take, as far as this client uses it. */
export type {
  CreatedShare,
  CreateShare,
  Day,
  DayList,
  EditMeal,
  FinishedEntry,
  Goals,
  Meal,
  MealItem,
  Pending,
  PendingEntry,
  PutGoals,
  Share,
  VisionAllowance,
  WriteItem,
  WriteMeal,
} from '@garner/server/api'

import type { Accepted, MealNutrients, Skipped } from '@garner/server/api'

export const NUTRIENTS = ['energy_kcal', 'protein_g', 'carbohydrate_g', 'fat_g', 'fiber_g'] as const
export type Nutrient = (typeof NUTRIENTS)[number]

/** For the portion; null is unknown, and unknown is not zero. */
export type Nutrients = MealNutrients

/** `POST /api/auto-log` */
export type Uploaded = Accepted | Skipped
