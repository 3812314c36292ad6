/**
 * What the browser client may know of the server: the types of its answers and requests, from the very schemas
 * that validate them. Types only, so nothing of the server ends up in the client.
 */
export type {
  AccountStatus,
  AdminUser,
  ApiToken,
  CreatedApiToken,
  GroupList,
  GroupSummary,
  Me,
  Welcome,
} from './features/accounts/schemas.ts'
export type {
  Basis,
  CreatedShare,
  CreateShare,
  Day,
  DayList,
  EditMeal,
  Goals,
  Meal,
  MealItem,
  MealNutrients,
  Nutrient,
  PutGoals,
  Share,
  SharedDiary,
  ShareList,
  Totals,
  VisionAllowance,
  WriteItem,
  WriteMeal,
} from './features/meals/book/schemas.ts'
export type {
  Accepted,
  FinishedEntry,
  Pending,
  PendingEntry,
  Skipped,
} from './features/meals/intake/schemas.ts'
export type {
  Bookmark,
  BookmarkDetail,
  BookmarkList,
  EditBookmark,
  Member,
  SaveBookmark,
  SavedBookmark,
  TitleStatus,
} from './features/reading/schemas.ts'
export type { Problem } from './problem.ts'
