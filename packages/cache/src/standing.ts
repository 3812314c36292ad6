import { type Ledger, liveGrants, reserved } from './share.ts'
import type { BudgetStanding } from './store.ts'

/** What a ledger looks like from outside, by its time at its last call. */
export function standingOf({ rate, concurrency, loadMaxMs, grants, timeMs }: Ledger): BudgetStanding {
  return {
    capacity: { rate, concurrency, loadMaxMs },
    reserved: {
      rate: reserved(grants, 'rate', timeMs),
      concurrency: reserved(grants, 'concurrency', timeMs),
    },
    holders: liveGrants(grants, timeMs)
      .map((one) => ({
        holder: one.holder,
        incarnation: one.incarnation,
        rate: one.rate,
        concurrency: one.concurrency,
        wantRate: one.wantRate,
      }))
      .sort((a, b) => (`${a.holder} ${a.incarnation}` < `${b.holder} ${b.incarnation}` ? -1 : 1)),
  }
}
