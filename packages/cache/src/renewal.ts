import type { Clock } from '@garner/db'
import type { Demand } from './demand.ts'
import type { HeldShare, Now } from './held-share.ts'
import type { Capacity, Lease } from './share.ts'
import type { BudgetLedger } from './store.ts'

export interface RenewalOptions {
  ledger: BudgetLedger
  /** Which budget of the ledger. */
  budget: string
  capacity: Capacity
  holder: string
  incarnation: string
  share: HeldShare
  demand: Demand
  clock: Clock
  now: () => Now
  /** 0 ≤ n < 1. */
  random: () => number
  /** After so long without a read the share is not kept alive until the next one comes. */
  idleMs: number
  /** How many own saves wait now. */
  waitingOwn: () => number
  /** Told after every look at the ledger, successful or not. */
  onChange: () => void
  /** What an ask failed with. The renewal goes on. */
  onFault: (error: unknown) => void
}

/** A third of the lease: two renewals may fail before it ends. */
const RENEW_MS = 1_000
/** Who is owed something asks as often as the ledger's time needs to keep up (`STEP_MS` of share.ts). */
const OWED_MS = 240
/** Between two asks, whatever happens: a burst of misses is one ask. */
const NUDGE_MS = 100
/** A smaller share that reads under way still exceed is confirmed once they have ended. */
const CONFIRM_MS = 100
/** While nobody reads: whoever comes wakes the renewal, so this is only the longest sleep that a timer can take. */
const IDLE_SLEEP_MS = 86_400_000
/** An ask that takes longer has failed; at a third of the lease there is time for two more. */
const ASK_MS = 1_000
/** A ledger that hangs is not given more and more to do. */
const ASKS_MAX = 2

/**
 * Keeps the share alive and lets it follow demand: the only caller of the ledger.
 *
 * Cut at each seam. An ask fails or its answer is late: the share that is held goes on until its own end and dies
 * then; with none, everything is refused. The ledger counts what it has answered, heard or not. A late answer is taken
 * over only if it was asked for after the one that is held. Whatever an outage ends with, the asks of a fleet are
 * spread by jitter, and none asks more often than every 100 ms.
 */
export class Renewal {
  readonly #options: RenewalOptions
  #isConfigured = false
  #asks = 0
  #askedAtMs = Number.NEGATIVE_INFINITY
  #asked = { rate: 0, concurrency: 0 }
  #nextAtMs = 0
  #rest: AbortController | null = null
  #isNudged = false
  #failuresInRow = 0
  #hasLeft = false
  #startedMs = Number.POSITIVE_INFINITY
  readonly #counters = { renewals: 0, failures: 0 }

  constructor(options: RenewalOptions) {
    this.#options = options
  }

  counters(): { renewals: number; failures: number } {
    return { ...this.#counters }
  }

  /** Whether a larger share may come soon: an ask is under way or about to be made, or more is owed. */
  get mayGrow(): boolean {
    if (this.#failuresInRow > 0 || this.#hasLeft) return false
    return this.#asks > 0 || this.#isNudged || this.#options.share.isOwed(this.#options.now())
  }

  get nextLookInMs(): number {
    return Math.max(0, this.#nextAtMs - this.#options.clock.monotonicMs())
  }

  /** The share was too small for somebody. Asks early, if that would ask for more than the last time. */
  nudge(): void {
    if (this.#isNudged || this.#failuresInRow > 0) return
    const isDead = this.#options.share.validForMs(this.#options.now()) === 0
    const isMore =
      this.#wantRate() > this.#asked.rate * 1.2 || this.#wantConcurrency() > this.#asked.concurrency
    if (!isDead && !isMore) return
    this.#isNudged = true
    this.#rest?.abort('nudged')
  }

  /** Looks at the ledger once. Answers how long until it should be looked at again, in ms. */
  async step(): Promise<number> {
    const waitMs = await this.#look()
    this.#nextAtMs = this.#options.clock.monotonicMs() + waitMs
    this.#options.onChange()
    return waitMs
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#startedMs = this.#options.clock.monotonicMs()
    while (!signal.aborted) {
      const waitMs = await this.step()
      await this.#sleep(this.#isIdle() ? IDLE_SLEEP_MS : waitMs, signal)
    }
    await this.#leave()
  }

  async #look(): Promise<number> {
    const { clock, share } = this.#options
    this.#isNudged = false
    if (this.#asks >= ASKS_MAX) return this.#failed()
    const before = {
      rate: share.rate(this.#options.now()),
      concurrency: share.concurrency(this.#options.now()),
    }
    this.#askedAtMs = clock.monotonicMs()
    const asked = this.#ask()
    const lease = await this.#within(asked)
    if (lease === null) return this.#failed()
    this.#failuresInRow = 0
    this.#counters.renewals++
    if (share.account(this.#options.now()).generation !== lease.generation) return CONFIRM_MS
    if (lease.rate < before.rate || lease.concurrency < before.concurrency) return 0
    return this.#spread(lease.isOwed ? OWED_MS : RENEW_MS)
  }

  /** Sends one ask. Its answer is taken over whenever it comes, unless a newer one is held by then. */
  async #ask(): Promise<Lease | null> {
    const { ledger, budget, capacity, holder, incarnation, share } = this.#options
    this.#asks++
    try {
      if (!this.#isConfigured) {
        await ledger.configure(budget, capacity)
        this.#isConfigured = true
      }
      const now = this.#options.now()
      const { generation, recent } = share.account(now)
      const wantRate = this.#wantRate()
      const wantConcurrency = this.#wantConcurrency()
      this.#asked = { rate: wantRate, concurrency: wantConcurrency }
      const lease = await ledger.lease(budget, {
        incarnation,
        holder,
        generation,
        recent,
        wantRate,
        wantOwn: this.#options.waitingOwn(),
        wantConcurrency,
      })
      return share.take(lease, now.atMostMs) ? lease : null
    } catch (error) {
      this.#options.onFault(error)
      return null
    } finally {
      this.#asks--
    }
  }

  /** null when it failed or takes longer than `ASK_MS`. */
  async #within(asked: Promise<Lease | null>): Promise<Lease | null> {
    const answered = new AbortController()
    const late = this.#options.clock.sleep(ASK_MS, answered.signal).then(() => null)
    try {
      return await Promise.race([asked, late])
    } finally {
      answered.abort('answered')
    }
  }

  #failed(): number {
    this.#counters.failures++
    this.#failuresInRow++
    return this.#spread(Math.min(RENEW_MS, OWED_MS * this.#failuresInRow))
  }

  /** Not while the ledger fails: then the asks go on until it is back. */
  #isIdle(): boolean {
    const { clock, demand, idleMs } = this.#options
    const sinceMs = Math.max(this.#startedMs, demand.lastMs)
    return this.#failuresInRow === 0 && clock.monotonicMs() - sinceMs >= idleMs
  }

  #spread(ms: number): number {
    return ms * (0.9 + 0.2 * this.#options.random())
  }

  async #sleep(waitMs: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options
    if (!this.#isNudged && waitMs > 0) {
      const rest = new AbortController()
      this.#rest = rest
      await clock.sleep(waitMs, AbortSignal.any([signal, rest.signal]))
      this.#rest = null
    }
    const sinceMs = clock.monotonicMs() - this.#askedAtMs
    if (this.#isNudged && sinceMs < NUDGE_MS) await clock.sleep(NUDGE_MS - sinceMs, signal)
  }

  async #leave(): Promise<void> {
    const { ledger, budget, incarnation, share, onChange } = this.#options
    this.#hasLeft = true
    share.leave()
    onChange()
    const { recent, inFlight } = share.account(this.#options.now())
    // Not reached: the share comes back when it runs out.
    await ledger.release(budget, { incarnation, recent, inFlight }).catch(() => {})
  }

  /** A quarter and one more than was asked for in the last second, so that a share does not hold back its own growth. */
  #wantRate(): number {
    const perSecond = this.#options.demand.perSecond(this.#options.clock.monotonicMs())
    return perSecond === 0 ? 0 : Math.min(this.#options.capacity.rate, Math.ceil(perSecond * 1.25) + 1)
  }

  #wantConcurrency(): number {
    const atOnce = this.#options.demand.atOnce(this.#options.clock.monotonicMs())
    return atOnce === 0 ? 0 : Math.min(this.#options.capacity.concurrency, atOnce + 1)
  }
}
