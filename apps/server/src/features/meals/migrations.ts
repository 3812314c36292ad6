import type { MigrationSet } from '@garner/db'
import { foldersOf } from '../../migrations.ts'

/** The tables of the meal diary; hand them to `migrate` of `@garner/db`. */
export const mealsMigrations: MigrationSet = {
  name: 'meals',
  dir: foldersOf(import.meta.url),
}
