import { budgetMigrations, createSqliteLedger } from '@garner/cache/sqlite'
import { StoreUnavailable } from '@garner/db'
import { createSqliteStore, jobsMigrations, openSqlite } from '@garner/jobs/sqlite'
import type { Backend } from '../database.ts'
import { backup, restore } from '../database-file.ts'
import { createAroundCommit } from '../faults.ts'
import { TABLES } from './tables.ts'

/** A file beside the program: nothing to set up, and all processes that open it are on one machine. */
export const sqlite: Backend = {
  migrations: [jobsMigrations, budgetMigrations, ...TABLES],
  open({ database, fault }, clock) {
    if (database.dialect !== 'sqlite') throw new TypeError('Not a configuration for SQLite.')
    const injected = () => new StoreUnavailable('injected', 'syncing a commit')
    return openSqlite({ path: database.path, clock, aroundCommit: createAroundCommit(fault, injected) })
  },
  openReplica: () => undefined,
  createJobs: (db, { clock, bounds }) => createSqliteStore({ db, clock, bounds }),
  listen: async () => null,
  createLedger: (db) => createSqliteLedger({ db }),
  backup,
  restore,
}
