import { type Ask, type Lease, WINDOW_MS } from './share.ts'
import { SlidingLog } from './sliding-log.ts'

/**
 * The share of the origin budget that one instance holds, and the reads it has begun with it. No I/O, and no clock of
 * its own: two readings of time come in, because the two rules need to err in opposite directions.
 *
 * - Its end is counted on `Now.atMostMs`, which never under-counts: a machine that was suspended, or whose wall clock
 *   was set forward, ends its lease at once rather than too late.
 * - Its window is counted on `Now.atLeastMs`, which never over-counts: a wall clock that was set forward does not empty
 *   it.
 *
 * Stopped by a signal, or by a long collection, between `begin` and the query being written: those reads, at most
 * `concurrency` of them, meet the origin when it goes on. Everything later is refused, since `begin` looks at the time.
 */
export interface Now {
  /** Has surely passed. */
  atLeastMs: number
  /** More has surely not passed. */
  atMostMs: number
}

/** `own`: of one's own save; `read`: somebody waits; `refresh`: nobody does. In the order in which they are served. */
export type Rank = 'own' | 'read' | 'refresh'

/**
 * A holder stops this long before its lease ends by its own clock: for drift (200 ppm of 3 s is below 1 ms) and for
 * the 50 ms by which `AgeClock` may be behind. Larger is only less used.
 */
const MARGIN_MS = 100
/** Of a clock that runs slow by 1 %, a window of this length is still a whole second. */
const LOCAL_WINDOW_MS = WINDOW_MS + 10
/** Part of its own share that a holder leaves to reads of one's own saves; nothing of one below 20. */
const KEPT_FOR_OWN = 0.05

export class HeldShare {
  #lease: Lease | null = null
  #validUntilMs = Number.NEGATIVE_INFINITY
  #askedAtMs = Number.NEGATIVE_INFINITY
  #confirmed = 0
  readonly #log = new SlidingLog(LOCAL_WINDOW_MS)

  /**
   * Takes over what the ledger answered to an ask that was sent at `askedAtMs` (of `Now.atMostMs`). Answers whether it
   * did: an answer that is older than the one that is held is left alone.
   */
  take(lease: Lease, askedAtMs: number): boolean {
    if (askedAtMs <= this.#askedAtMs) return false
    this.#askedAtMs = askedAtMs
    this.#lease = lease
    this.#validUntilMs = askedAtMs + lease.ttlMs - MARGIN_MS
    return true
  }

  /**
   * Gives everything up for good; reads under way end as they do. An answer that is still on its way must not bring a
   * share back which the ledger has been told is free.
   */
  leave(): void {
    this.#askedAtMs = Number.POSITIVE_INFINITY
    this.#validUntilMs = Number.NEGATIVE_INFINITY
  }

  rate(now: Now): number {
    return this.#isLive(now) ? this.#lease!.rate : 0
  }

  concurrency(now: Now): number {
    return this.#isLive(now) ? this.#lease!.concurrency : 0
  }

  isOwed(now: Now): boolean {
    return this.#isLive(now) && this.#lease!.isOwed
  }

  validForMs(now: Now): number {
    return Math.max(0, this.#validUntilMs - now.atMostMs)
  }

  get inFlight(): number {
    return this.#log.inFlight
  }

  /** Begins a read, if the share allows one now. To be called in the same tick in which it is sent. */
  begin(now: Now, rank: Rank): boolean {
    if (!this.#isLive(now)) return false
    if (this.#log.inFlight >= this.#lease!.concurrency) return false
    if (this.#log.count(now.atLeastMs) >= this.#limit(rank)) return false
    this.#log.begin()
    return true
  }

  end(now: Now): void {
    this.#log.end(now.atLeastMs)
  }

  /** A read that was begun and then not sent. */
  giveBack(): void {
    this.#log.giveBack()
  }

  /**
   * The earliest that a read could begin which has `ahead` others before it, if the share stays as it is, in ms. Reads
   * under way may hold it up for longer. null: not with this share.
   */
  beginsInMs(now: Now, rank: Rank, ahead: number): number | null {
    if (!this.#isLive(now) || this.#lease!.concurrency <= 0 || this.#limit(rank) <= 0) return null
    const needed = this.#log.count(now.atLeastMs) - this.#limit(rank) + 1 + ahead
    return this.#log.freedInMs(needed, now.atLeastMs) ?? LOCAL_WINDOW_MS
  }

  /** What the holder can truthfully say of itself now. */
  account(now: Now): Pick<Ask, 'generation' | 'recent'> & { inFlight: number } {
    const { inFlight } = this.#log
    // A smaller share is confirmed once what was begun with a larger one is down to it.
    if (this.#lease && inFlight <= this.#lease.concurrency && inFlight <= this.#lease.rate)
      this.#confirmed = this.#lease.generation
    return { generation: this.#confirmed, recent: this.#log.count(now.atLeastMs), inFlight }
  }

  #isLive(now: Now): boolean {
    return now.atMostMs < this.#validUntilMs
  }

  #limit(rank: Rank): number {
    const { rate, ownRate } = this.#lease!
    return rank === 'own' ? rate : rate - Math.max(ownRate, Math.floor(rate * KEPT_FOR_OWN))
  }
}
