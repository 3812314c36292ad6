import { type Clock, type Database, ManualClock, migrate, systemClock } from '@garner/db'
import {
  openPostgres,
  type PostgresDatabase,
  type PostgresOptions,
  type PostgresTransaction,
} from '@garner/db/postgres'
import { onTestFinished } from 'vitest'
import { temporaryPostgres } from '../../db/testing/postgres.ts'
import type { Claim } from '../src/job.ts'
import { createPostgresStore, jobsMigrations, type PostgresJobStore } from '../src/postgres/store.ts'
import type { Bounds } from '../src/rank.ts'
import type { Submission } from '../src/store.ts'
import type { OpenStore } from './job-store.suite.ts'

/** A database with the tables of the store and one of a caller's; dropped after the tests that it was made for. */
export async function preparedDatabase(): Promise<string> {
  const url = await temporaryPostgres()
  const db = openPostgres({ url, clock: systemClock() })
  await migrate(db, [jobsMigrations], systemClock())
  await db.transaction((tx) =>
    tx.run(
      'CREATE TABLE caller_rows (n integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, text text NOT NULL)',
    ),
  )
  await db.close()
  return url
}

/** Empties the tables between tests: a database for each would take ten times as long. */
async function empty(db: Database): Promise<void> {
  await db.transaction((tx) =>
    tx.run(`DO $$ DECLARE name text; BEGIN
      FOR name IN SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
        AND relname NOT IN ('migrations', 'job_clock', 'job_slots')
      LOOP EXECUTE format('DELETE FROM %I', name); END LOOP;
      UPDATE job_clock SET virtual_time = 0 WHERE virtual_time <> 0;
      DELETE FROM job_slots WHERE slot >= 16;
      UPDATE job_slots SET pending = 0 WHERE pending <> 0;
    END $$`),
  )
}

export interface Opened {
  db: PostgresDatabase
  store: PostgresJobStore
  /** The same database through connections of its own. */
  second: PostgresJobStore
  secondDb: PostgresDatabase
  clock: ManualClock
  rows(): Promise<string[]>
  close(): Promise<void>
}

interface Opening {
  bounds?: Partial<Bounds>
  retryAfterMs?: number
  /** Of both databases; statements take their time on the machine's clock, while the stores' stands still. */
  options?: Partial<PostgresOptions>
}

/** Two stores on one empty database. */
export async function openStores(
  url: string,
  { bounds, retryAfterMs = 7_000, options }: Opening = {},
): Promise<Opened> {
  const clock = new ManualClock()
  const open = () => openPostgres({ url, clock: systemClock(), connections: 6, ...options })
  const [db, secondDb] = [open(), open()]
  await empty(db)
  const storeOn = (on: PostgresDatabase, ruling?: Clock) =>
    createPostgresStore({
      ...{ db: on, clock: ruling, retryAfterMs },
      bounds: { perTenant: 10_000, total: 100_000, ...bounds },
    })
  return {
    ...{ db, secondDb, clock },
    store: storeOn(db, clock),
    second: storeOn(secondDb, clock),
    async rows() {
      const rows = await db.read.all<{ text: string }>('SELECT text FROM caller_rows ORDER BY n')
      return rows.map((one) => one.text)
    },
    async close() {
      await Promise.all([db.close(), secondDb.close()])
    },
  }
}

/** The same, closed with its test. */
export async function openedStores(url: string, opening: Opening = {}): Promise<Opened> {
  const opened = await openStores(url, opening)
  onTestFinished(() => opened.close())
  return opened
}

export async function writeRow(tx: PostgresTransaction, text: string): Promise<undefined> {
  await tx.run('INSERT INTO caller_rows (text) VALUES (?)', text)
}

/** For the conformance suite. */
export function openerOf(
  url: () => { url: string; options?: Partial<PostgresOptions> },
): OpenStore<PostgresTransaction> {
  return async ({ bounds, retryAfterMs }) => {
    const { url: address, options } = url()
    const opened = await openStores(address, { bounds, retryAfterMs, ...(options && { options }) })
    return {
      ...opened,
      caller: {
        async write(tx, text) {
          await writeRow(tx, text)
        },
        rows: opened.rows,
      },
    }
  }
}

let count = 0

export function submission(part: Partial<Submission> = {}): Submission {
  count++
  return {
    ...{ id: `job-${String(count).padStart(6, '0')}`, kind: 'title', tenant: 'alice', payload: { n: count } },
    ...{ deadlineMs: 86_400_000, ...part },
  }
}

export function submissions(many: number, part: Partial<Submission> = {}): Submission[] {
  return Array.from({ length: many }, () => submission(part))
}

export function claim(store: PostgresJobStore, limit = 1_000, kind = 'title'): Promise<Claim[]> {
  return store.claim({ worker: 'worker-1', limit, leaseMs: 30_000, kinds: [{ kind }] })
}

/** Waits until so many connections to this database wait for a lock: those that are to meet have met. */
export async function untilWaiting(db: Database, count: number): Promise<void> {
  const waiting = `SELECT DISTINCT pid FROM pg_locks JOIN pg_stat_activity USING (pid)
    WHERE NOT granted AND datname = current_database()`
  while ((await db.read.all(waiting)).length < count) {}
}

/** How many jobs there are that have not ended, by the jobs themselves and by what the bounds count. */
export async function pendingOf(db: Database): Promise<{ jobs: number; total: number; tenants: number }> {
  return (await db.read.get(
    `SELECT (SELECT count(*) FROM jobs WHERE state IN ('ready', 'running')) AS jobs,
      (SELECT sum(pending) FROM job_slots) AS total,
      ((SELECT coalesce(sum(entered), 0) FROM job_tenants) - (SELECT coalesce(sum(count), 0) FROM job_leavers))::bigint AS tenants`,
  ))!
}
