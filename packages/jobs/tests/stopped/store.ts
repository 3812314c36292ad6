import { type Database, migrate, systemClock, type Transaction } from '@garner/db'
import { openPostgres } from '@garner/db/postgres'
import { openSqlite } from '@garner/db/sqlite'
import type { JobStore } from '../../src/index.ts'
import { createPostgresStore, jobsMigrations as postgresMigrations } from '../../src/postgres/store.ts'
import { createSqliteStore, jobsMigrations as sqliteMigrations } from '../../src/sqlite/store.ts'

/** 1,000 ms, the shortest there is: a stop need not last longer. */
export const LEASE_MS = 1_000

const bounds = { perTenant: 10_000, total: 10_000 }

export interface OpenedStore {
  db: Database
  store: JobStore<Transaction>
}

/** @param address `postgres://…`, else the path of a SQLite file */
export async function openStore(address: string): Promise<OpenedStore> {
  const clock = systemClock()
  if (address.startsWith('postgres:')) {
    const db = openPostgres({ url: address, clock })
    return { db, store: createPostgresStore({ db, bounds }) }
  }
  const db = openSqlite({ path: address, clock })
  return { db, store: createSqliteStore({ db, clock, bounds }) }
}

/** Makes the tables, those of the test included. */
export async function prepare({ db }: OpenedStore): Promise<void> {
  const set = db.dialect === 'postgres' ? postgresMigrations : sqliteMigrations
  await migrate(db, [set], systemClock())
  await db.transaction((tx) =>
    tx.run('CREATE TABLE notes (job_id TEXT PRIMARY KEY, epoch INTEGER NOT NULL, worker TEXT NOT NULL)'),
  )
}
