import type { MigrationSet } from '@garner/db'
import { accountsMigrations } from '../features/accounts/migrations.ts'
import { mealsMigrations } from '../features/meals/migrations.ts'
import { readingMigrations } from '../features/reading/migrations.ts'
import { serverMigrations } from '../idempotency.ts'

/** Garner's own tables, in the order in which they may refer to each other. The libraries' come before them. */
export const TABLES: MigrationSet[] = [
  accountsMigrations,
  serverMigrations,
  readingMigrations,
  mealsMigrations,
]
