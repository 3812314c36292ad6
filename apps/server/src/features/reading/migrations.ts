import { fileURLToPath } from 'node:url'
import type { MigrationSet } from '@garner/db'

/** The tables of lists, links and read marks; hand them to `migrate` of `@garner/db`. */
export const readingMigrations: MigrationSet = {
  name: 'reading',
  dir: fileURLToPath(new URL('./migrations/sqlite', import.meta.url)),
}
