import { type Database, ManualClock, migrate, systemClock, type Transaction } from '@garner/db'
import { openSqlite } from '@garner/db/sqlite'
import { expect } from 'vitest'
import { createSqliteStore, jobsMigrations } from '../../src/sqlite/store.ts'
import { BOUNDS } from './commands.ts'
import type { Seat } from './seat.ts'

export async function openSqliteSeat(): Promise<Seat<Transaction>> {
  // The database waits for locks in real time, while the store's clock stands still.
  const db = openSqlite({ path: ':memory:', clock: systemClock() })
  const clock = new ManualClock()
  await migrate(db, [jobsMigrations], clock)
  return {
    store: createSqliteStore({ db, clock, bounds: BOUNDS }),
    clock,
    assertSound: () => assertSound(db),
    close: () => db.close(),
  }
}

/** The counters behind bounds, limits and counts equal what there really is, and nothing is left of what is gone. */
async function assertSound(db: Database): Promise<void> {
  const wrongStates = await db.read.all(
    `WITH found AS (SELECT state AS name, kind, count(*) AS n FROM jobs GROUP BY state, kind),
      kept AS (SELECT name, whose AS kind, value AS n FROM job_counters WHERE value <> 0 AND name IN
        ('ready', 'running', 'succeeded', 'superseded', 'degraded', 'dead', 'cancelled'))
     SELECT 'kept' AS side, * FROM (SELECT * FROM kept EXCEPT SELECT * FROM found)
     UNION ALL SELECT 'found', * FROM (SELECT * FROM found EXCEPT SELECT * FROM kept)`,
  )
  expect(wrongStates).toEqual([])
  const wrongLines = await db.read.all(
    `SELECT whose, priority, value, (SELECT count(*) FROM jobs j WHERE j.tenant = c.whose
       AND j.priority = c.priority AND j.state IN ('ready', 'running')) AS found
     FROM job_counters c WHERE name = 'line' AND value <> found`,
  )
  expect(wrongLines).toEqual([])
  const orphans = await db.read.all(
    'SELECT job_id FROM job_attempts WHERE job_id NOT IN (SELECT id FROM jobs)',
  )
  expect(orphans).toEqual([])
}
