import { fileURLToPath } from 'node:url'
import type { Database, MigrationSet } from '@garner/db'
import type { DatabaseNow } from '../share.ts'
import { createSqlLedger } from '../sql-ledger.ts'
import type { BudgetLedger } from '../store.ts'
import { LEDGER_SQL } from './sql.ts'

/** The tables of this ledger; hand them to `migrate` of `@garner/db`. */
export const budgetMigrations: MigrationSet = {
  name: 'cache',
  dir: fileURLToPath(new URL('./migrations', import.meta.url)),
}

export interface SqliteLedgerOptions {
  db: Database
  /** Instead of SQLite's own clock; for tests. */
  now?: () => DatabaseNow
}

/**
 * The origin budget in a SQLite file, through `@garner/db`: all processes that open the file are the fleet. See
 * store.ts for what each method promises.
 */
export function createSqliteLedger({ db, now }: SqliteLedgerOptions): BudgetLedger {
  return createSqlLedger({ db, sql: LEDGER_SQL, now })
}
