import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Database, type ManualClock, migrate, systemClock } from '@garner/db'
import { openSqlite } from '@garner/db/sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { describeBudgetLedger, type LedgerUnderTest } from '../../testing/budget-ledger.suite.ts'
import { budgetMigrations, createSqliteLedger } from './ledger.ts'

async function prepared(clock: ManualClock, databases: Database[]): Promise<LedgerUnderTest> {
  const [db, other] = databases as [Database, Database?]
  await migrate(db, [budgetMigrations], clock)
  let timeline = 'a'
  const now = () => ({ nowMs: clock.nowMs(), timeline })
  return {
    ledger: createSqliteLedger({ db, now }),
    second: other && createSqliteLedger({ db: other, now }),
    clock,
    changeHistory: () => {
      timeline = 'b'
    },
    async close() {
      for (const one of databases) await one.close()
    },
  }
}

function onFile(count: number): Database[] {
  const dir = mkdtempSync(join(tmpdir(), 'garner-cache-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  return Array.from({ length: count }, () =>
    openSqlite({ path: join(dir, 'budget.sqlite'), clock: systemClock() }),
  )
}

describeBudgetLedger({
  name: 'SQLite in memory',
  open: (clock) => prepared(clock, [openSqlite({ path: ':memory:', clock: systemClock() })]),
})

describeBudgetLedger({
  name: 'SQLite on a file, through two connections',
  open: (clock) => prepared(clock, onFile(2)),
})

test('the database’s own clock is SQLite’s, not the process’s', async () => {
  const [db] = onFile(1) as [Database]
  // This process lives an hour ahead; the ledger does not.
  const clock = systemClock(3_600_000)
  await migrate(db, [budgetMigrations], clock)
  const ledger = createSqliteLedger({ db })
  await ledger.configure('reads', { rate: 10, concurrency: 2, loadMaxMs: 1_000 })
  const row = await db.read.get<{ seenAtMs: number }>('SELECT seen_at_ms AS seenAtMs FROM origin_budgets')
  expect(Math.abs(row!.seenAtMs - systemClock().nowMs())).toBeLessThan(60_000)
  await db.close()
})
