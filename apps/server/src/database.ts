import type { BudgetLedger } from '@garner/cache'
import { type Clock, type Database, type MigrationSet, migrate, type Transaction } from '@garner/db'
import type { Listener } from '@garner/db/postgres'
import type { JobStore } from '@garner/jobs'
import type { Config } from './config.ts'

/** What differs between the two databases that Garner runs on. Everything else is SQL that both understand. */
export interface Backend {
  /** Every table there is, the libraries' first. */
  migrations: MigrationSet[]
  /** The configured database, for answering. Errors: StoreUnavailable. */
  open(config: Config, clock: Clock): Database
  /** The same with more patience, where what answers people has too little of it for migrations. */
  openForMigrations?(config: Config, clock: Clock): Database
  /** A copy to read lists from, which may lag behind; undefined where none is configured. */
  openReplica(config: Config, clock: Clock): Database | undefined
  /** `isAhead`: this process lives in the future, so its own clock rules the leases, not the database's. */
  createJobs(
    db: Database,
    options: { clock: Clock; isAhead: boolean; bounds: { perTenant: number; total: number } },
  ): JobStore<Transaction>
  /**
   * Calls `wake` when somebody has notified `channel`, and when somebody may have. Null where nothing is heard: on SQLite,
   * whose count of changes says it, and behind a pooler. Errors: StoreUnavailable.
   */
  listen(db: Database, channel: string, wake: () => void): Promise<Listener | null>
  /** Where the fleet's shares of the origin budget are kept. */
  createLedger(db: Database): BudgetLedger
  /** `garner backup FILE`: what is said when it is done. Errors: ConfigError. */
  backup(config: Config): Promise<string>
  /** `garner restore FILE`. Errors: ConfigError. */
  restore(config: Config, clock: Clock): Promise<string>
}

/** Loaded when it is known which: PostgreSQL's driver takes longer to load than the rest of a start. */
export async function backendOf(dialect: Database['dialect']): Promise<Backend> {
  if (dialect === 'sqlite') return (await import('./database/sqlite.ts')).sqlite
  return (await import('./database/postgres.ts')).postgres
}

/**
 * The configured database, brought up to date. Several processes that start together do it once.
 * Errors: StoreUnavailable, SchemaMismatch.
 */
export async function openMigrated(config: Config, clock: Clock): Promise<Database> {
  const backend = await backendOf(config.database.dialect)
  const patient = backend.openForMigrations?.(config, clock)
  const db = patient ?? backend.open(config, clock)
  try {
    await migrate(db, backend.migrations, clock)
  } catch (error) {
    await db.close()
    throw error
  }
  if (!patient) return db
  await patient.close()
  return backend.open(config, clock)
}
