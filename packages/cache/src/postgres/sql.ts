import type { LedgerSql } from '../sql-ledger.ts'

/**
 * In the order of LedgerSql. The budget's row is locked first (FOR UPDATE); what follows it in the transaction sees
 * everything that was committed before the lock was had, the clock included. Names are quoted, or they come back in
 * small letters.
 */
const BUDGET = `SELECT rate, concurrency, load_max_ms AS "loadMaxMs", time_ms AS "timeMs", seen_at_ms AS "seenAtMs",
  generation, timeline, learning_until_ms AS "learningUntilMs" FROM origin_budgets WHERE name = ?`

/**
 * A process that is stopped in the middle of its transaction would keep the lock from all others; the server ends the
 * transaction then, well within a lease. Nobody waits for the lock for longer than an ask may take anyway.
 */
const PATIENCE_MS = 1_000

const NOW_MS = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS "nowMs"'

export const LEDGER_SQL: LedgerSql = {
  // The first eight digits of a WAL file's name are the timeline, which a promotion counts up.
  now: `SELECT ${NOW_MS}, left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) AS timeline`,
  budget: `WITH patience AS MATERIALIZED (
    SELECT set_config('lock_timeout', '${PATIENCE_MS}', true) AS waiting,
      set_config('idle_in_transaction_session_timeout', '${PATIENCE_MS}', true) AS idling)
    ${BUDGET} AND (SELECT waiting || idling FROM patience) <> '' FOR UPDATE`,
  look: BUDGET,
  grants: `SELECT generation, incarnation, holder, rate, concurrency, want_rate AS "wantRate",
    want_concurrency AS "wantConcurrency", expires_at_ms AS "expiresAtMs", rate_until_ms AS "rateUntilMs",
    in_flight_until_ms AS "inFlightUntilMs" FROM origin_grants WHERE budget = ? ORDER BY generation`,
  configure: `INSERT INTO origin_budgets VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET
    rate = excluded.rate, concurrency = excluded.concurrency, load_max_ms = excluded.load_max_ms`,
  setBudget: `UPDATE origin_budgets SET time_ms = ?, seen_at_ms = ?, generation = ?, timeline = ?,
    learning_until_ms = ? WHERE name = ?`,
  addGrant: 'INSERT INTO origin_grants VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  setGrant: `UPDATE origin_grants SET rate = ?, concurrency = ?, expires_at_ms = ?, rate_until_ms = ?,
    in_flight_until_ms = ? WHERE budget = ? AND generation = ?`,
  removeGrant: 'DELETE FROM origin_grants WHERE budget = ? AND generation = ?',
}

/** For servers that keep their WAL to themselves and lose no commit when they fail over. */
export const NOW_WITHOUT_TIMELINE = `SELECT ${NOW_MS}, '' AS timeline`
