import { fileURLToPath } from 'node:url'
import type { Database, MigrationSet } from '@garner/db'
import type { DatabaseNow } from '../share.ts'
import { createSqlLedger } from '../sql-ledger.ts'
import type { BudgetLedger } from '../store.ts'
import { LEDGER_SQL, NOW_WITHOUT_TIMELINE } from './sql.ts'

/** The tables of this ledger; hand them to `migrate` of `@garner/db`. */
export const budgetMigrations: MigrationSet = {
  name: 'cache',
  dir: fileURLToPath(new URL('./migrations', import.meta.url)),
}

export interface PostgresLedgerOptions {
  /** From `openPostgres`, to the primary. */
  db: Database
  /**
   * Set it only where a failover never loses a committed transaction (storage that is shared or written to by a
   * quorum) and `pg_current_wal_insert_lsn()` is not there. Elsewhere a promoted standby may miss the last grants; the
   * ledger notices by the timeline and lends nothing until they have run out, some seconds.
   */
  isFailoverLossless?: boolean
  /** Instead of the database's clock; for tests. */
  now?: () => DatabaseNow
}

/**
 * The origin budget in PostgreSQL, through `@garner/db`. Time is the server's `clock_timestamp()`. See store.ts for what
 * each method promises.
 */
export function createPostgresLedger({
  db,
  isFailoverLossless = false,
  now,
}: PostgresLedgerOptions): BudgetLedger {
  const sql = isFailoverLossless ? { ...LEDGER_SQL, now: NOW_WITHOUT_TIMELINE } : LEDGER_SQL
  return createSqlLedger({ db, sql, now })
}
