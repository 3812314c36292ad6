import { migrate, systemClock } from '@garner/db'
import { openPostgres } from '@garner/db/postgres'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { describeOnPostgres, temporaryPostgres } from '../../../db/testing/postgres.ts'
import { describeBudgetLedger } from '../../testing/budget-ledger.suite.ts'
import { budgetMigrations, createPostgresLedger } from './ledger.ts'
import { LEDGER_SQL } from './sql.ts'

describeOnPostgres('PostgreSQL', () => {
  let url: string
  const opened = () => openPostgres({ url, clock: systemClock(), connections: 6 })

  beforeAll(async () => {
    url = await temporaryPostgres()
    const db = opened()
    await migrate(db, [budgetMigrations], systemClock())
    await db.close()
  })

  describeBudgetLedger({
    name: 'PostgreSQL, through two pools of connections',
    async open(clock) {
      const [db, second] = [opened(), opened()]
      await db.transaction(async (tx) => {
        await tx.run('DELETE FROM origin_grants')
        await tx.run('DELETE FROM origin_budgets')
      })
      let timeline = 'a'
      const now = () => ({ nowMs: clock.nowMs(), timeline })
      return {
        ledger: createPostgresLedger({ db, now }),
        second: createPostgresLedger({ db: second, now }),
        clock,
        changeHistory: () => {
          timeline = 'b'
        },
        async close() {
          await db.close()
          await second.close()
        },
      }
    },
  })

  test('one that stops in the middle of its transaction does not keep the others out for longer than a second', async () => {
    const [stopped, other] = [opened(), opened()]
    const ledger = createPostgresLedger({ db: other })
    await ledger.configure('stopped', { rate: 10, concurrency: 2, loadMaxMs: 1_000 })
    const hasLock = Promise.withResolvers<void>()
    let isOver = false
    const hanging = stopped
      .transaction(async (tx) => {
        await tx.get(LEDGER_SQL.budget, 'stopped')
        hasLock.resolve()
        await new Promise(() => {})
      })
      .catch(() => {
        isOver = true
      })
    await hasLock.promise
    const ask = {
      incarnation: 'a',
      holder: 'a',
      generation: 0,
      recent: 0,
      wantRate: 5,
      wantOwn: 0,
      wantConcurrency: 1,
    }
    // The first may give up just before the server lets it through.
    const lease = await ledger.lease('stopped', ask).catch(() => ledger.lease('stopped', ask))
    expect(lease.rate).toBe(5)
    expect(isOver).toBe(false)
    await other.close()
    await hanging
    await stopped.close()
  })

  test.each([{ isFailoverLossless: false }, { isFailoverLossless: true }])(
    'its own clock is the server’s, and it knows its timeline unless failovers lose nothing (%j)',
    async ({ isFailoverLossless }) => {
      const db = opened()
      onTestFinished(() => db.close())
      const ledger = createPostgresLedger({ db, isFailoverLossless })
      const budget = `own-clock-${isFailoverLossless}`
      await ledger.configure(budget, { rate: 10, concurrency: 2, loadMaxMs: 1_000 })
      const row = await db.read.get<{ behindMs: number; timeline: string }>(
        `SELECT extract(epoch FROM now()) * 1000 - seen_at_ms AS "behindMs", timeline FROM origin_budgets WHERE name = ?`,
        budget,
      )
      expect(Math.abs(Number(row!.behindMs))).toBeLessThan(60_000)
      expect(row!.timeline).toMatch(isFailoverLossless ? /^$/ : /^[0-9A-F]{8}$/)
    },
  )
})
