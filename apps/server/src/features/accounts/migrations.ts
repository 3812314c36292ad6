import type { MigrationSet } from '@garner/db'
import { foldersOf } from '../../migrations.ts'

/** The tables of people, sessions, tokens and groups; hand them to `migrate` of `@garner/db`. */
export const accountsMigrations: MigrationSet = {
  name: 'accounts',
  dir: foldersOf(import.meta.url),
}
