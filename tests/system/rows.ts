/**
 * The database of a Garner under test, looked at from outside, beside the program.
 */
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'

/** All rows of a query. The file is opened for this one look and closed again. */
export function rows<R = Record<string, unknown>>(
  dataDir: string,
  sql: string,
  ...params: SQLInputValue[]
): R[] {
  const db = new DatabaseSync(join(dataDir, 'garner.db'))
  try {
    db.exec('PRAGMA busy_timeout = 5000')
    return db.prepare(sql).all(...params) as R[]
  } finally {
    db.close()
  }
}

/** Leases of running servers: they come and go by themselves. */
const LEASES = ['origin_grants']

/** Rows of everything that a save, an edit or a sign-up may leave behind, by table. */
export function census(dataDir: string): Record<string, number> {
  const tables = rows<{ name: string }>(
    dataDir,
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
  )
  return Object.fromEntries(
    tables
      .filter(({ name }) => !LEASES.includes(name))
      .map(({ name }) => [
        name,
        rows<{ n: number }>(dataDir, `SELECT count(*) AS n FROM "${name}"`)[0]?.n ?? 0,
      ]),
  )
}

/** Waits for nobody: the tries of a link's title jobs, oldest first. */
export function attempts(
  dataDir: string,
  url: string,
): { attempt: number; epoch: number; outcome: string | null }[] {
  return rows(
    dataDir,
    // The newest attempt is in the job's own row (decision 0013).
    `WITH job AS (SELECT j.* FROM bookmarks b JOIN jobs j ON j.subject = 'bookmark:' || b.id WHERE b.url = ?)
     SELECT attempt, epoch, outcome FROM (
       SELECT a.attempt, a.epoch, a.outcome, a.started_at_ms FROM job JOIN job_attempts a ON a.job_id = job.id
       UNION ALL
       SELECT attempt, epoch, CASE state WHEN 'running' THEN NULL ELSE state END, started_at_ms FROM job
         WHERE started_at_ms IS NOT NULL)
     ORDER BY started_at_ms, epoch`,
    url,
  )
}

/** How many jobs are ready or running, as the store counts them for its bounds. */
export function pendingCount(dataDir: string): number {
  const sql = "SELECT coalesce(sum(value), 0) AS n FROM job_counters WHERE name IN ('ready', 'running')"
  return rows<{ n: number }>(dataDir, sql)[0]!.n
}
