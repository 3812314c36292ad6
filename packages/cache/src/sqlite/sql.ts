import type { LedgerSql } from '../sql-ledger.ts'

/**
 * In the order of LedgerSql. SQLite has one writer at a time (BEGIN IMMEDIATE), so a row that is read in a transaction
 * is as good as locked; and one host, so its own clock is the same for all processes, however theirs are set forward.
 */
const BUDGET = `SELECT rate, concurrency, load_max_ms AS loadMaxMs, time_ms AS timeMs, seen_at_ms AS seenAtMs,
  generation, timeline, learning_until_ms AS learningUntilMs FROM origin_budgets WHERE name = ?`

export const LEDGER_SQL: LedgerSql = {
  now: `SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER) AS nowMs, '' AS timeline`,
  budget: BUDGET,
  look: BUDGET,
  grants: `SELECT generation, incarnation, holder, rate, concurrency, want_rate AS wantRate,
    want_concurrency AS wantConcurrency, expires_at_ms AS expiresAtMs, rate_until_ms AS rateUntilMs,
    in_flight_until_ms AS inFlightUntilMs FROM origin_grants WHERE budget = ? ORDER BY generation`,
  configure: `INSERT INTO origin_budgets VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET
    rate = excluded.rate, concurrency = excluded.concurrency, load_max_ms = excluded.load_max_ms`,
  setBudget: `UPDATE origin_budgets SET time_ms = ?, seen_at_ms = ?, generation = ?, timeline = ?,
    learning_until_ms = ? WHERE name = ?`,
  addGrant: 'INSERT INTO origin_grants VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  setGrant: `UPDATE origin_grants SET rate = ?, concurrency = ?, expires_at_ms = ?, rate_until_ms = ?,
    in_flight_until_ms = ? WHERE budget = ? AND generation = ?`,
  removeGrant: 'DELETE FROM origin_grants WHERE budget = ? AND generation = ?',
}
