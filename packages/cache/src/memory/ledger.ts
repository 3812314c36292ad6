import type { Clock } from '@garner/db'
import { UnknownBudget } from '../errors.ts'
import { emptyLedger, type Ledger, lend, partWith } from '../share.ts'
import { standingOf } from '../standing.ts'
import type { BudgetLedger } from '../store.ts'

/**
 * The contract of store.ts as code that can be stepped through: the rules of share.ts on a map. Right for one process;
 * the durable ledgers add a locked row, the database's clock and nothing else. Forgets everything with the process.
 *
 * @param clock stands for the database's clock; its wall clock may jump.
 * @param timeline tells which history the database is in; the same unless a failover is played.
 */
export function createMemoryLedger({
  clock,
  timeline = () => '',
}: {
  clock: Clock
  timeline?: () => string
}): BudgetLedger {
  const ledgers = new Map<string, Ledger>()
  const now = () => ({ nowMs: clock.nowMs(), timeline: timeline() })
  const ledgerOf = (budget: string): Ledger => {
    const ledger = ledgers.get(budget)
    if (!ledger) throw new UnknownBudget(budget)
    return ledger
  }

  return {
    async configure(budget, capacity) {
      ledgers.set(budget, { ...(ledgers.get(budget) ?? emptyLedger(capacity, now())), ...capacity })
    },
    async lease(budget, ask) {
      const { ledger, lease } = lend(ledgerOf(budget), ask, now())
      ledgers.set(budget, ledger)
      return lease
    },
    async release(budget, parting) {
      ledgers.set(budget, partWith(ledgerOf(budget), parting, now()))
    },
    async standing(budget) {
      const ledger = ledgers.get(budget)
      return ledger ? standingOf(ledger) : null
    },
  }
}
