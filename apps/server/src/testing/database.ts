import { DatabaseSync } from 'node:sqlite'
import { type Clock, type Database, migrate, type Queryable, systemClock } from '@garner/db'
import { openPostgres, type PostgresDatabase, type PostgresOptions } from '@garner/db/postgres'
import { openSqlite } from '@garner/db/sqlite'
import pg from 'pg'
import { beforeAll, beforeEach, onTestFinished } from 'vitest'
import { endsWhatItMakes, hasPostgres, temporaryPostgres } from '../../../../packages/db/testing/postgres.ts'
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
  endsWhatItMakes()
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

/** What is there now under this path, and nothing that comes later: a replica that stands still. Ends with the test. */
export async function openStandstill(path: string): Promise<Pick<Database, 'readWithin'>> {
  if (DIALECT === 'sqlite') {
    const copy = `${path}.standstill`
    const original = new DatabaseSync(path)
    original.exec(`VACUUM INTO '${copy}'`)
    original.close()
    const db = openSqlite({ path: copy, clock: systemClock() })
    onTestFinished(() => db.close())
    return db
  }
  const db = await openTestPostgres({ path, clock: systemClock() })
  const begun = Promise.withResolvers<Queryable>()
  const end = Promise.withResolvers<void>()
  const over = db.transaction(async (tx) => {
    await tx.run('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ')
    await tx.all('SELECT 1')
    begun.resolve(tx)
    await end.promise
  })
  onTestFinished(async () => {
    end.resolve()
    await over
    await db.close()
  })
  const read = await begun.promise
  return { readWithin: (_bounds, work) => work(read) }
}

/** Listens to `channel`; what it answers says how often it was notified since it was asked last. Ends with the test. */
export async function openEar(channel: string): Promise<() => Promise<number>> {
  const client = new pg.Client({ connectionString: url! })
  await client.connect()
  onTestFinished(() => client.end())
  let heard = 0
  let marker = Promise.withResolvers<void>()
  client.on('notification', (one) => {
    if (one.channel === 'marker') marker.resolve()
    else heard++
  })
  await client.query(`LISTEN ${pg.escapeIdentifier(channel)}; LISTEN marker`)
  return async () => {
    // They come in the order of their commits.
    marker = Promise.withResolvers()
    await client.query("SELECT pg_notify('marker', '')")
    await marker.promise
    const count = heard
    heard = 0
    return count
  }
}

/** Ends all connections that listen, as a server that goes away does. Answers how many there were. */
export async function cutListeners(): Promise<number> {
  const client = new pg.Client({ connectionString: url! })
  await client.connect()
  const { rowCount } = await client.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE query LIKE 'LISTEN%' AND datname = current_database()`,
  )
  await client.end()
  return rowCount ?? 0
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
