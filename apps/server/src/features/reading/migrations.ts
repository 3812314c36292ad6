import type { MigrationSet } from '@garner/db'
import { foldersOf } from '../../migrations.ts'

/** The tables of lists, links and read marks; hand them to `migrate` of `@garner/db`. */
export const readingMigrations: MigrationSet = {
  name: 'reading',
  dir: foldersOf(import.meta.url),
}
