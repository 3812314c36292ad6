import { fileURLToPath } from 'node:url'
import type { MigrationSet } from '@garner/db'

/** The tables of the meal diary; hand them to `migrate` of `@garner/db`. */
export const mealsMigrations: MigrationSet = {
  name: 'meals',
  dir: fileURLToPath(new URL('./migrations/sqlite', import.meta.url)),
}
