import { ManualClock, migrate, systemClock } from '@garner/db'
import { openSqlite } from '@garner/db/sqlite'
import { expect, onTestFinished, test } from 'vitest'
import * as sql from './sql.ts'
import { jobsMigrations } from './store.ts'

/** Tables that grow with what waits, what is done, or how many take part. */
const LARGE = /SCAN (jobs|job_attempts|job_operations|job_counters|job_keys|job_steps|job_allowances)\b/

async function planOf() {
  const db = openSqlite({ path: ':memory:', clock: systemClock() })
  onTestFinished(() => db.close())
  await migrate(db, [jobsMigrations], new ManualClock())
  return async (text: string) =>
    (await db.read.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${text}`)).map((one) => one.detail)
}

const statements: [string, string][] = [
  ...Object.entries(sql).filter((one): one is [string, string] => typeof one[1] === 'string'),
  ...Object.entries(sql.LIST_OF_STATE).map(([state, text]): [string, string] => [`LIST ${state}`, text]),
  ['candidates of one kind', sql.candidates(1)],
  ['candidates of three kinds', sql.candidates(3)],
]

test('no statement looks through a large table, but for those that are asked for all of something', async () => {
  const plan = await planOf()
  const scans: Record<string, string[]> = {}
  for (const [name, text] of statements) {
    const found = (await plan(text)).filter((one) => LARGE.test(one))
    if (found.length > 0) scans[name] = found
  }
  expect(scans).toEqual({
    // All that is pending, to find a tenant's own: only when it has any.
    PENDING_OF_TENANT: [
      'SCAN jobs USING INDEX jobs_claimable',
      'SCAN jobs USING INDEX jobs_held_until',
      'SCAN jobs USING INDEX jobs_held_by_key',
      'SCAN jobs USING INDEX jobs_leased',
    ],
    'LIST running': ['SCAN jobs USING INDEX jobs_leased'],
  })
})

test('candidates of several kinds are merged in their order, not gathered and sorted', async () => {
  const plan = await planOf()
  for (const kinds of [1, 2, 5]) {
    const details = await plan(sql.candidates(kinds))
    expect(details.filter((one) => one.includes('jobs_claimable'))).toHaveLength(kinds)
    expect(details.join()).not.toContain('TEMP B-TREE')
  }
})

test('what comes back after waiting is taken in order from its index, however many come at once', async () => {
  const plan = await planOf()
  const details = await plan(sql.WAITS_OVER)
  expect(details[0]).toContain('jobs_held_until (kind=? AND run_at_ms<?)')
  expect(details.join()).not.toContain('TEMP B-TREE')
})

test('a list of the rare ends is read from an index of nothing else', async () => {
  const plan = await planOf()
  for (const state of ['superseded', 'degraded', 'dead', 'cancelled'] as const) {
    expect((await plan(sql.LIST_OF_STATE[state])).join()).toContain('jobs_not_well (state=? AND id<?)')
  }
})

// SQLite makes the list of an `IN (…)` anew for each row that is touched: with one in the condition of an index each
// claim and each publication took twice as long (12 µs a job instead of 6).
test('no index has a list in its condition', async () => {
  const db = openSqlite({ path: ':memory:', clock: systemClock() })
  onTestFinished(() => db.close())
  await migrate(db, [jobsMigrations], new ManualClock())
  const indexes = await db.read.all<{ name: string; sql: string }>(
    "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql LIKE '%WHERE%'",
  )
  expect(indexes.length).toBeGreaterThan(5)
  expect(indexes.filter((one) => /\bIN\s*\(/i.test(one.sql))).toEqual([])
})
