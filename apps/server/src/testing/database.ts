import { type Clock, type Database, migrate, systemClock } from '@garner/db'
import { openPostgres, type PostgresDatabase, type PostgresOptions } from '@garner/db/postgres'
import { openSqlite } from '@garner/db/sqlite'
import { beforeAll, beforeEach } from 'vitest'
import { hasPostgres, temporaryPostgres } from '../../../../packages/db/testing/postgres.ts'
import { postgres } from '../database/postgres.ts'

/**
 * Which database the tests of this run are about. The same test files run once for each: `unit` on SQLite, `postgres` (see
 * vitest.config.ts) on PostgreSQL.
 */
export const DIALECT: Database['dialect'] =
  process.env.GARNER_TEST_DIALECT === 'postgres' ? 'postgres' : 'sqlite'

let url: string | undefined
let seen = new Set<string>()

/** For the setup of the `postgres` project: a database for each test file, whose tests are skipped without a server. */
export function providePostgres(): void {
  beforeAll(async () => {
    if (!hasPostgres) return
    url = await temporaryPostgres()
    const db = openPostgres({ url, clock: systemClock() })
    await migrate(db, postgres.migrations, systemClock())
    await db.close()
  })
  beforeEach(({ skip }) => {
    if (!hasPostgres) skip('no PostgreSQL server')
    seen = new Set()
  })
}

export interface TestDatabase {
  /** Of SQLite: a file, for several connections; else it is in memory. On PostgreSQL: a name for the same. */
  path: string
  clock: Clock
  busyMs?: number
  aroundCommit?: PostgresOptions['aroundCommit']
}

/** An empty database, or what an earlier call of the same test has opened under the same path. */
export async function openTestDatabase(options: TestDatabase): Promise<Database> {
  if (DIALECT === 'sqlite') {
    const { path, clock, busyMs = 2_000 } = options
    return openSqlite({ path, clock, busyMs })
  }
  return openTestPostgres(options)
}

/** The same where there is nothing but PostgreSQL. What it waits for on the network takes real time. */
export async function openTestPostgres({ path, aroundCommit }: TestDatabase): Promise<PostgresDatabase> {
  const db = openPostgres({ url: url!, clock: systemClock(), ...(aroundCommit && { aroundCommit }) })
  if (path === ':memory:' || !seen.has(path)) await empty(db)
  seen.add(path)
  return db
}

/** The names of all tables. */
export async function tablesOf(db: Database): Promise<string[]> {
  const rows = await db.read.all<{ name: string }>(
    db.dialect === 'sqlite'
      ? "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
      : "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename",
  )
  return rows.map((row) => row.name)
}

/** Nothing can be stored in this table any more, until `acceptInserts` or the end of the test. */
export async function refuseInserts(db: Database, table: string): Promise<void> {
  await db.transaction(async (tx) => {
    if (db.dialect === 'sqlite') {
      await tx.run(`CREATE TRIGGER refuse BEFORE INSERT ON ${table} BEGIN SELECT raise(ABORT, 'no'); END`)
      return
    }
    await tx.run(
      `CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN RAISE EXCEPTION 'no'; END $$`,
    )
    await tx.run(`CREATE TRIGGER refuse BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION refuse()`)
  })
}

export async function acceptInserts(db: Database, table: string): Promise<void> {
  await db.transaction((tx) =>
    tx.run(db.dialect === 'sqlite' ? 'DROP TRIGGER refuse' : `DROP TRIGGER refuse ON ${table}`),
  )
}

/** A database for each test would take ten times as long. */
async function empty(db: Database): Promise<void> {
  await db.transaction((tx) =>
    tx.run(`DO $$ DECLARE name text; BEGIN
      DROP FUNCTION IF EXISTS refuse CASCADE;
      DELETE FROM users; DELETE FROM groups;
      FOR name IN SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
        AND relname NOT IN ('migrations', 'job_clock', 'job_slots', 'users', 'groups')
      LOOP EXECUTE format('DELETE FROM %I', name); END LOOP;
      UPDATE job_clock SET virtual_time = 0 WHERE virtual_time <> 0;
      DELETE FROM job_slots WHERE slot >= 16;
      UPDATE job_slots SET pending = 0 WHERE pending <> 0;
    END $$`),
  )
}
