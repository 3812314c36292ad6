import type { Database, Queryable, Transaction } from '@garner/db'
import { UnknownBudget } from './errors.ts'
import { type DatabaseNow, emptyLedger, type Grant, type Ledger, lend, partWith } from './share.ts'
import { standingOf } from './standing.ts'
import type { BudgetLedger } from './store.ts'

/** What differs between the databases; each has these in its own `sql.ts`. */
export interface LedgerSql {
  /** One row: `nowMs`, Unix ms of the database's clock, and `timeline`, which changes with a failover. */
  now: string
  /** The budget's row, locked until the transaction ends. */
  budget: string
  /** The budget's row, not locked. */
  look: string
  grants: string
  /** Adds the budget, or sets its capacity alone. */
  configure: string
  setBudget: string
  addGrant: string
  setGrant: string
  removeGrant: string
}

export interface SqlLedgerOptions {
  db: Database
  sql: LedgerSql
  /** Instead of the database's own; for tests. */
  now?: (() => DatabaseNow) | undefined
}

/**
 * A ledger in SQL. Each call is one short transaction on one locked row: reads the budget and its grants (a few rows
 * per instance), lets share.ts decide, writes what has changed. Its work may be run again by the database: it decides
 * from what it reads, and the last run counts.
 */
export function createSqlLedger({ db, sql, now }: SqlLedgerOptions): BudgetLedger {
  const clock = async (tx: Queryable): Promise<DatabaseNow> =>
    now?.() ?? (await tx.get<DatabaseNow>(sql.now))!

  /** What follows the lock is asked for in one go: a transaction is four round trips, however much it changes. */
  async function change<T>(
    budget: string,
    decide: (ledger: Ledger, now: DatabaseNow) => [Ledger, T],
  ): Promise<T> {
    return db.transaction(async (tx) => {
      const row = await tx.get<Omit<Ledger, 'grants'>>(sql.budget, budget)
      if (!row) throw new UnknownBudget(budget)
      const [grants, databaseNow] = await Promise.all([tx.all<Grant>(sql.grants, budget), clock(tx)])
      const [after, answer] = decide({ ...row, grants }, databaseNow)
      await save(tx, budget, grants, after)
      return answer
    })
  }

  async function save(tx: Transaction, budget: string, before: Grant[], after: Ledger): Promise<void> {
    const known = new Map(before.map((one) => [one.generation, one]))
    const writes: Promise<unknown>[] = []
    for (const one of after.grants) {
      const was = known.get(one.generation)
      known.delete(one.generation)
      const times = [one.expiresAtMs, one.rateUntilMs, one.inFlightUntilMs]
      if (!was)
        writes.push(
          tx.run(
            sql.addGrant,
            ...[budget, one.generation, one.incarnation, one.holder, one.rate, one.concurrency],
            ...[one.wantRate, one.wantConcurrency, ...times],
          ),
        )
      else if (!isSame(was, one))
        writes.push(tx.run(sql.setGrant, one.rate, one.concurrency, ...times, budget, one.generation))
    }
    for (const generation of known.keys()) writes.push(tx.run(sql.removeGrant, budget, generation))
    const { timeMs, seenAtMs, generation, timeline, learningUntilMs } = after
    writes.push(tx.run(sql.setBudget, timeMs, seenAtMs, generation, timeline, learningUntilMs, budget))
    await Promise.all(writes)
  }

  return {
    configure: (budget, capacity) =>
      db.transaction(async (tx) => {
        const { rate, concurrency, loadMaxMs } = capacity
        const { timeMs, seenAtMs, generation, timeline, learningUntilMs } = emptyLedger(
          capacity,
          await clock(tx),
        )
        await tx.run(
          sql.configure,
          ...[budget, rate, concurrency, loadMaxMs],
          ...[timeMs, seenAtMs, generation, timeline, learningUntilMs],
        )
      }),
    lease: (budget, ask) =>
      change(budget, (before, databaseNow) => {
        const { ledger, lease } = lend(before, ask, databaseNow)
        return [ledger, lease]
      }),
    release: (budget, parting) =>
      change(budget, (before, databaseNow) => [partWith(before, parting, databaseNow), undefined]),
    async standing(budget) {
      const row = await db.read.get<Omit<Ledger, 'grants'>>(sql.look, budget)
      return row ? standingOf({ ...row, grants: await db.read.all<Grant>(sql.grants, budget) }) : null
    },
  }
}

function isSame(a: Grant, b: Grant): boolean {
  return (
    a.rate === b.rate &&
    a.concurrency === b.concurrency &&
    a.expiresAtMs === b.expiresAtMs &&
    a.rateUntilMs === b.rateUntilMs &&
    a.inFlightUntilMs === b.inFlightUntilMs
  )
}
