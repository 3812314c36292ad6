import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from './clock.ts'
import type { Database, Queryable } from './database.ts'
import { SchemaMismatch } from './errors.ts'
import { statementsOf } from './statements.ts'

/** A package's or feature's own numbered SQL files, `0001_name.sql`; one folder, or one per dialect. */
export interface MigrationSet {
  name: string
  dir: string | Record<Database['dialect'], string>
}

interface Migration {
  set: string
  file: string
  sql: string
  checksum: string
}

const TABLE = `CREATE TABLE IF NOT EXISTS migrations (
  name TEXT PRIMARY KEY, checksum TEXT NOT NULL, applied_at_ms BIGINT NOT NULL)`

/**
 * Brings the database up to date. Each file runs once, in its own transaction together with its record, so a
 * crash leaves it applied or not at all, and two processes that start together apply it once.
 * Returns the names of the files applied now.
 * Errors: SchemaMismatch when an applied file was edited, or the database is newer than the program.
 */
export async function migrate(db: Database, sets: MigrationSet[], clock: Clock): Promise<string[]> {
  const wanted = sets.flatMap((one) => filesOf(one, db.dialect))
  // Looking first: a start with nothing to do must not wait for, or fail at, another process's write lock.
  if (await isUpToDate(db, sets, wanted)) return []
  await db.transaction(async (tx) => {
    await takeTurn(db, tx)
    await tx.run(TABLE)
  })
  const applied: string[] = []
  for (const one of wanted) {
    const name = `${one.set}/${one.file}`
    const isNew = await db.transaction(async (tx) => {
      await takeTurn(db, tx)
      await assertNotNewer(tx, sets, wanted)
      const known = await tx.get<{ checksum: string }>('SELECT checksum FROM migrations WHERE name = ?', name)
      if (known) {
        assertUnedited(name, known.checksum, one.checksum)
        return false
      }
      for (const statement of statementsOf(one.sql)) await tx.run(statement)
      await tx.run('INSERT INTO migrations VALUES (?, ?, ?)', name, one.checksum, clock.nowMs())
      return true
    })
    if (isNew) applied.push(name)
  }
  return applied
}

/**
 * Programs that start together migrate one after the other. SQLite has one writer anyway; in PostgreSQL two would make
 * the same table at once, and one of them fail. Ends with the transaction.
 */
async function takeTurn(db: Database, tx: Queryable): Promise<void> {
  if (db.dialect === 'postgres')
    await tx.all("SELECT pg_advisory_xact_lock(hashtextextended('garner.migrate', 0))")
}

/** Names of the files that are not applied yet; empty when the database is ready. */
export async function pendingMigrations(db: Database, sets: MigrationSet[]): Promise<string[]> {
  const names = sets.flatMap((set) => filesOf(set, db.dialect)).map((one) => `${one.set}/${one.file}`)
  if (!(await hasTable(db))) return names
  const rows = await db.read.all<{ name: string }>('SELECT name FROM migrations')
  const known = new Set(rows.map((row) => row.name))
  return names.filter((name) => !known.has(name))
}

/** Errors: SchemaMismatch, as `migrate`. */
async function isUpToDate(db: Database, sets: MigrationSet[], wanted: Migration[]): Promise<boolean> {
  if (!(await hasTable(db))) return false
  await assertNotNewer(db.read, sets, wanted)
  const rows = await db.read.all<{ name: string; checksum: string }>('SELECT name, checksum FROM migrations')
  const known = new Map(rows.map(({ name, checksum }) => [name, checksum]))
  let isComplete = true
  for (const one of wanted) {
    const name = `${one.set}/${one.file}`
    const checksum = known.get(name)
    if (checksum === undefined) isComplete = false
    else assertUnedited(name, checksum, one.checksum)
  }
  return isComplete
}

async function hasTable(db: Database): Promise<boolean> {
  const found = await db.read.get(
    db.dialect === 'sqlite'
      ? "SELECT 1 FROM sqlite_master WHERE name = 'migrations'"
      : "SELECT 1 WHERE to_regclass('migrations') IS NOT NULL",
  )
  return found !== undefined
}

function filesOf({ name, dir: dirs }: MigrationSet, dialect: Database['dialect']): Migration[] {
  const dir = typeof dirs === 'string' ? dirs : dirs[dialect]
  return readdirSync(dir)
    .filter((file) => /^\d{4}_.*\.sql$/.test(file))
    .sort()
    .map((file) => {
      const sql = readFileSync(join(dir, file), 'utf8')
      return { set: name, file, sql, checksum: createHash('sha256').update(sql).digest('hex') }
    })
}

function assertUnedited(name: string, applied: string, found: string): void {
  if (applied === found) return
  throw new SchemaMismatch(
    `Migration ${name} was applied with checksum ${applied.slice(0, 12)} but the file has ${found.slice(0, 12)}: ` +
      'an applied migration is never edited. Restore the file, or add a new one.',
  )
}

async function assertNotNewer(tx: Queryable, sets: MigrationSet[], wanted: Migration[]): Promise<void> {
  const known = new Set(wanted.map((one) => `${one.set}/${one.file}`))
  const ours = new Set(sets.map((one) => one.name))
  const rows = await tx.all<{ name: string }>('SELECT name FROM migrations ORDER BY name')
  const newer = rows.find((row) => ours.has(row.name.split('/')[0]!) && !known.has(row.name))
  if (newer)
    throw new SchemaMismatch(`The database has ${newer.name}, which this program does not know: it is older.`)
}
