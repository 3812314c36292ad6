import { fileURLToPath } from 'node:url'
import type { MigrationSet } from '@garner/db'

/** The tables of people, sessions, tokens and groups; hand them to `migrate` of `@garner/db`. */
export const accountsMigrations: MigrationSet = {
  name: 'accounts',
  dir: fileURLToPath(new URL('./migrations/sqlite', import.meta.url)),
}
