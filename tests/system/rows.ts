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

/** Rows of everything that a save, an edit or a sign-up may leave behind, by table. */
export function census(dataDir: string): Record<string, number> {
  const tables = rows<{ name: string }>(
    dataDir,
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
  )
  return Object.fromEntries(
    tables.map(({ name }) => [
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
    `SELECT a.attempt, a.epoch, a.outcome FROM bookmarks b
     JOIN jobs j ON j.subject = 'bookmark:' || b.id JOIN job_attempts a ON a.job_id = j.id
     WHERE b.url = ? ORDER BY a.started_at_ms, a.epoch`,
    url,
  )
}
