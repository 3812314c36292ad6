import { type Ask, type BudgetLedger, OriginBudget, type OriginBudgetOptions } from '@garner/cache'
import type { Clock } from '@garner/db'
import type { Mutant } from './mutant.ts'

const WITHIN_BUDGET = ['C3 fleet budget', 'C3 a share and its end']

/** The holder's margin (held-share.ts). */
const MARGIN_MS = 100
/** A little more than the window of the sliding log. */
const WINDOW_MS = 1_011

/** What is lent, until when, and what a holder counts against it. */
export const SHARE_MUTANTS: Mutant[] = [
  {
    name: 'margin left out',
    promises: WITHIN_BUDGET,
    mutation: { hears: (lease) => ({ ...lease, ttlMs: lease.ttlMs + MARGIN_MS }) },
  },
  {
    name: 'share counted from the answer',
    promises: WITHIN_BUDGET,
    mutation: { hears: (lease, { sentMs, nowMs }) => ({ ...lease, ttlMs: lease.ttlMs + nowMs - sentMs }) },
  },
  {
    name: 'a share that was not renewed goes on',
    promises: WITHIN_BUDGET,
    mutation: { hears: (lease) => ({ ...lease, ttlMs: 60_000 }) },
  },
  {
    name: 'sliding log emptied by a new lease',
    promises: WITHIN_BUDGET,
    mutation: { budget: (options) => new ForgetfulBudget(options) },
  },
  {
    name: 'the sliding log counts only what is under way',
    promises: WITHIN_BUDGET,
    mutation: {
      budget: (options) =>
        new (class extends OriginBudget {
          override end(): void {
            this.giveBack()
          }
        })(options),
    },
  },
  {
    name: 'concurrency is not looked at',
    promises: WITHIN_BUDGET,
    mutation: { hears: (lease) => ({ ...lease, concurrency: lease.concurrency + 1_000 }) },
  },
  {
    name: 'smaller share not reserved until confirmed',
    promises: WITHIN_BUDGET,
    mutation: {
      ledger: (honest) => believing(honest, (ask, newest) => ({ ...ask, generation: newest, recent: 0 })),
    },
  },
  {
    name: 'what was just read with a larger share is not reserved',
    promises: WITHIN_BUDGET,
    mutation: { ledger: (honest) => believing(honest, (ask) => ({ ...ask, recent: 0 })) },
  },
  {
    name: 'a leaver takes nothing with it',
    promises: WITHIN_BUDGET,
    mutation: {
      ledger: (honest) => ({
        release: (budget, parting) => honest.release(budget, { ...parting, recent: 0, inFlight: 0 }),
      }),
    },
  },
  {
    name: 'each instance has the whole budget',
    promises: ['C3 never lent twice', ...WITHIN_BUDGET],
    mutation: { ledger: everythingToEveryone },
  },
  {
    name: 'shares do not follow the demand',
    promises: ['liveness: the budget follows the demand'],
    mutation: {
      ledger: (honest) => ({
        lease: (budget, ask) => honest.lease(budget, { ...ask, wantRate: 5, wantConcurrency: 5 }),
      }),
    },
  },
  {
    name: 'a failed renewal is the last',
    promises: ['liveness: readers are served', 'liveness: the budget follows the demand'],
    mutation: { budget: (options) => new OriginBudget({ ...options, ledger: onceFailed(options.ledger) }) },
  },
]

/** A ledger that takes a holder to say something else; `newest`: the generation that it was last given. */
function believing(honest: BudgetLedger, said: (ask: Ask, newest: number) => Ask): Partial<BudgetLedger> {
  const newest = new Map<string, number>()
  return {
    async lease(budget, ask) {
      const lease = await honest.lease(budget, said(ask, newest.get(ask.incarnation) ?? 0))
      newest.set(ask.incarnation, lease.generation)
      return lease
    },
  }
}

/** Each holder has a ledger row of its own. */
function everythingToEveryone(honest: BudgetLedger): Partial<BudgetLedger> {
  let capacity: Parameters<BudgetLedger['configure']>[1]
  return {
    async configure(budget, all) {
      capacity = all
      await honest.configure(budget, all)
    },
    async lease(budget, ask) {
      const own = `${budget} of ${ask.incarnation}`
      if (!(await honest.standing(own))) await honest.configure(own, capacity)
      return honest.lease(own, ask)
    },
  }
}

/** After one failure the ledger is not reached any more. */
function onceFailed(ledger: BudgetLedger): BudgetLedger {
  let hasFailed = false
  return {
    ...ledger,
    async lease(budget, ask) {
      if (hasFailed) return new Promise(() => {})
      try {
        return await ledger.lease(budget, ask)
      } catch (error) {
        hasFailed = true
        throw error
      }
    },
  }
}

/**
 * Each new lease begins with an empty window: its clock leaps over one then. Everything else that the clock is for is
 * made up for: the lease lasts for as much longer, and who waits is refused sooner.
 */
class ForgetfulBudget extends OriginBudget {
  constructor(options: OriginBudgetOptions) {
    let leapsMs = 0
    const { clock, ledger } = options
    const leaping: Clock = {
      nowMs: () => clock.nowMs() + leapsMs,
      monotonicMs: () => clock.monotonicMs() + leapsMs,
      sleep: (ms, signal) => clock.sleep(ms, signal),
    }
    const lease: BudgetLedger['lease'] = async (budget, ask) => {
      const answer = await ledger.lease(budget, ask)
      leapsMs += WINDOW_MS
      return { ...answer, ttlMs: answer.ttlMs + WINDOW_MS }
    }
    super({ ...options, clock: leaping, ledger: { ...ledger, lease } })
  }
}
