import type { Clock } from '@garner/db'
import { AgeClock } from './age-clock.ts'
import { Deadlines } from './deadlines.ts'
import { Demand } from './demand.ts'
import { Gate, type Need, type Ticket } from './gate.ts'
import { HeldShare } from './held-share.ts'
import { Renewal } from './renewal.ts'
import type { Capacity } from './share.ts'
import type { BudgetLedger } from './store.ts'

export interface OriginBudgetOptions {
  ledger: BudgetLedger
  /** Which budget of the ledger; several caches may use one. */
  budget: string
  /** What the whole fleet may do. The same in all instances; of several, the last one configured holds. */
  capacity: Capacity
  /** This instance, for people (a host's name). */
  holder: string
  /** This life of this instance: never used before, by anybody (a random id). */
  incarnation: string
  clock: Clock
  /** 0 ≤ n < 1. */
  random: () => number
  /**
   * The most origin reads that wait at once; default 256, of which a budget of 100/s serves 25 within a wait of 250 ms.
   */
  waitersMax?: number
  /**
   * After so long without a read the share is let run out: an instance that nobody reads from writes nothing to the
   * database, and its first read waits for one look at the ledger. Default: never.
   */
  idleMs?: number
  /** Why the ledger could not be asked, each time. Without a share everything is refused, so it is worth a log line. */
  onFault?: (error: unknown) => void
}

/** Plain numbers for metrics. */
export interface BudgetCounters {
  /** What this instance holds now: reads in any second, reads under way at once, for how long yet (ms). */
  rate: number
  concurrency: number
  validForMs: number
  inFlight: number
  waiting: number
  /** Since the start: origin reads let through; refused; looks at the ledger that succeeded and that failed. */
  admitted: number
  refused: number
  renewals: number
  renewalFailures: number
}

/**
 * One instance's part in the fleet's origin budget: leases a share, keeps it alive, and lets reads through within it.
 * `run` has to be running; while it is not, and whenever the ledger cannot be reached for longer than a lease lasts,
 * every read is refused. There is no other mode.
 */
export class OriginBudget {
  readonly capacity: Capacity
  readonly #now: AgeClock
  readonly #share = new HeldShare()
  readonly #gate: Gate
  readonly #renewal: Renewal
  readonly #deadlines: Deadlines

  /** Errors: RangeError for a capacity that is not whole numbers of 1 or more. */
  constructor(options: OriginBudgetOptions) {
    const { clock, waitersMax = 256, idleMs = Number.POSITIVE_INFINITY, onFault = () => {} } = options
    for (const [name, value] of Object.entries(options.capacity))
      if (!Number.isSafeInteger(value) || value < 1)
        throw new RangeError(`capacity.${name}=${value}: expected a whole number, 1 or more`)
    this.#deadlines = new Deadlines(clock)
    this.capacity = options.capacity
    this.#now = new AgeClock(clock)
    const now = () => this.#now.now()
    const common = { share: this.#share, demand: new Demand(), now }
    this.#gate = new Gate({
      ...common,
      waitersMax,
      deadlines: this.#deadlines,
      mayGrow: () => this.#renewal.mayGrow,
      nextLookInMs: () => this.#renewal.nextLookInMs,
      onShort: () => this.#renewal.nudge(),
    })
    this.#renewal = new Renewal({
      ...options,
      ...common,
      idleMs,
      waitingOwn: () => this.#gate.waitingOwn,
      onChange: () => this.#gate.reconsider(),
      onFault,
    })
  }

  /** Looks at the ledger once, and answers how long until it should be looked at again, ms. For tests; see `run`. */
  step(): Promise<number> {
    return this.#renewal.step()
  }

  /** Keeps the share alive until `signal` aborts, then gives it back. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#renewal.run(signal)
    this.#deadlines.close()
  }

  /**
   * Asks to read the origin once. When the ticket's `admitted` resolves, the read is to be sent in that tick and
   * `end` called when it is over, whatever became of it; or `giveBack`, if it is not sent after all.
   */
  enter(need: Need): Ticket {
    return this.#gate.enter(need)
  }

  end(): void {
    this.#gate.end()
  }

  giveBack(): void {
    this.#gate.giveBack()
  }

  counters(): BudgetCounters {
    const now = this.#now.now()
    const { renewals, failures } = this.#renewal.counters()
    return {
      rate: this.#share.rate(now),
      concurrency: this.#share.concurrency(now),
      validForMs: this.#share.validForMs(now),
      inFlight: this.#share.inFlight,
      ...this.#gate.counters(),
      renewals,
      renewalFailures: failures,
    }
  }
}
