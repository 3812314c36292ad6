import { type Clock, type Database, type MigrationSet, migrate, StoreUnavailable } from '@garner/db'
import { openSqlite } from '@garner/db/sqlite'
import { jobsMigrations } from '@garner/jobs/sqlite'
import type { Config } from './config.ts'
import { createAroundCommit } from './faults.ts'
import { accountsMigrations } from './features/accounts/migrations.ts'
import { mealsMigrations } from './features/meals/migrations.ts'
import { readingMigrations } from './features/reading/migrations.ts'
import { serverMigrations } from './idempotency.ts'

/** Every table there is, in the order in which they may refer to each other. */
export const MIGRATIONS: MigrationSet[] = [
  jobsMigrations,
  accountsMigrations,
  serverMigrations,
  readingMigrations,
  mealsMigrations,
]

/** Opens the configured database. Errors: StoreUnavailable. */
export function openDatabase(config: Config, clock: Clock): Database {
  return openSqlite({
    path: config.databasePath,
    clock,
    aroundCommit: createAroundCommit(
      config.fault,
      () => new StoreUnavailable('injected', 'syncing a commit'),
    ),
  })
}

/** The same, brought up to date. Errors: StoreUnavailable, SchemaMismatch. */
export async function openMigrated(config: Config, clock: Clock): Promise<Database> {
  const db = openDatabase(config, clock)
  try {
    await migrate(db, MIGRATIONS, clock)
    return db
  } catch (error) {
    await db.close()
    throw error
  }
}
