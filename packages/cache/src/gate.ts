import type { Deadline, Deadlines } from './deadlines.ts'
import type { Demand } from './demand.ts'
import { BudgetSpent, type SpentReason } from './errors.ts'
import type { HeldShare, Now, Rank } from './held-share.ts'

export interface GateOptions {
  share: HeldShare
  demand: Demand
  now: () => Now
  deadlines: Deadlines
  /** The most that wait at once. */
  waitersMax: number
  /** Whether the share may become larger soon: then waiting can be worth it though the share as it is says no. */
  mayGrow: () => boolean
  /** How long until the share is next looked after, ms. */
  nextLookInMs: () => number
  /** Told whenever the share was too small for somebody. */
  onShort: () => void
}

export interface Need {
  rank: Rank
  /** By the monotonic clock. One whose time has come already does not wait. */
  untilMs: number
}

/** One read that wants to begin. */
export interface Ticket {
  /** Resolves when the read may be sent, in that very tick. Rejects with BudgetSpent. */
  readonly admitted: Promise<void>
  /** Somebody else needs the same read, sooner in rank or for longer. Nothing happens once it is decided. */
  extend(need: Need): void
}

interface Waiter {
  need: Need
  ahead: () => void
  refuse: (error: BudgetSpent) => void
  deadline: Deadline
}

/** Refused readers come back after this at the earliest, so that they do not come back all the time. */
const RETRY_MIN_MS = 100

/**
 * Who may read the origin now, who waits, who is refused.
 *
 * Promises. Reads begin only within the held share. Own saves come before reads, reads before refreshes, which never
 * wait. Nobody waits beyond their time; who cannot be served in time is refused at once, at the cost of one error
 * object; the list of those who wait is bounded, and when it is full an own save takes the place of a read.
 *
 * Assumes. Every admitted read is ended or given back exactly once.
 */
export class Gate {
  readonly #options: GateOptions
  readonly #waiting: Record<'own' | 'read', Waiter[]> = { own: [], read: [] }
  #wake: Deadline | null = null
  #admitted = 0
  #refused = 0

  constructor(options: GateOptions) {
    this.#options = options
  }

  get waiting(): number {
    return this.#waiting.own.length + this.#waiting.read.length
  }

  get waitingOwn(): number {
    return this.#waiting.own.length
  }

  counters(): { admitted: number; refused: number; waiting: number } {
    return { admitted: this.#admitted, refused: this.#refused, waiting: this.waiting }
  }

  /** Errors: BudgetSpent, through the ticket. */
  enter(need: Need): Ticket {
    const { share, demand, onShort } = this.#options
    const now = this.#options.now()
    demand.add(now.atLeastMs, share.inFlight + this.waiting + 1)
    if (this.#ahead(need.rank) === 0 && share.begin(now, need.rank)) {
      this.#admitted++
      return { admitted: Promise.resolve(), extend: () => {} }
    }
    onShort()
    if (
      need.rank === 'refresh' ||
      need.untilMs <= now.atLeastMs ||
      !this.#isWorthwhile(need, this.#ahead(need.rank), now)
    )
      return this.#turnedAway(need.rank, 'spent')
    if (this.waiting >= this.#options.waitersMax && !this.#makeRoom(need.rank))
      return this.#turnedAway(need.rank, 'crowded')
    return this.#wait(need, now)
  }

  /** A read that was admitted is over. */
  end(): void {
    this.#options.share.end(this.#options.now())
    this.#admit()
  }

  /** A read that was admitted was not sent: somebody else may have its place. */
  giveBack(): void {
    this.#options.share.giveBack()
    this.#admitted--
    this.#admit()
  }

  /** The share has changed, or will not soon: admits whom it allows, refuses whom it can no longer serve. */
  reconsider(): void {
    this.#admit()
    const now = this.#options.now()
    const { own, read } = this.#waiting
    const hopeless = [...own, ...read].filter(({ need }, ahead) => !this.#isWorthwhile(need, ahead, now))
    for (const waiter of hopeless) this.#refuse(waiter, 'spent')
  }

  #ahead(rank: Rank): number {
    return rank === 'own' ? this.#waiting.own.length : this.waiting
  }

  #isWorthwhile({ rank, untilMs }: Need, ahead: number, now: Now): boolean {
    const inMs = this.#options.share.beginsInMs(now, rank, ahead)
    return (inMs !== null && inMs <= untilMs - now.atLeastMs) || this.#options.mayGrow()
  }

  #wait(need: Need, now: Now): Ticket {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const due = () => {
      const leftMs = waiter.need.untilMs - this.#options.now().atLeastMs
      if (leftMs > 0) waiter.deadline = this.#options.deadlines.in(leftMs, due)
      else this.#refuse(waiter, 'late')
    }
    const deadline = this.#options.deadlines.in(need.untilMs - now.atLeastMs, due)
    const waiter: Waiter = { need, ahead: resolve, refuse: reject, deadline }
    this.#listOf(need.rank).push(waiter)
    this.#sleep(now)
    return {
      admitted: promise,
      extend: ({ rank, untilMs }) => {
        const list = this.#listOf(waiter.need.rank)
        const at = list.indexOf(waiter)
        if (at < 0) return
        const isRaised = rank === 'own' && waiter.need.rank !== 'own'
        waiter.need = {
          rank: isRaised ? 'own' : waiter.need.rank,
          untilMs: Math.max(untilMs, waiter.need.untilMs),
        }
        if (!isRaised) return
        list.splice(at, 1)
        this.#waiting.own.push(waiter)
        this.#admit()
      },
    }
  }

  #admit(): void {
    const now = this.#options.now()
    for (const rank of ['own', 'read'] as const) {
      const list = this.#waiting[rank]
      while (list.length > 0) {
        if (!this.#options.share.begin(now, rank)) {
          this.#sleep(now)
          return
        }
        const waiter = list.shift()!
        waiter.deadline.drop()
        this.#admitted++
        waiter.ahead()
      }
    }
  }

  /** Until the window lets the first of the list in. Reads that end, and a larger share, are told to `#admit`. */
  #sleep(now: Now): void {
    this.#wake?.drop()
    const rank = this.#waiting.own.length > 0 ? 'own' : 'read'
    const inMs = this.#options.share.beginsInMs(now, rank, 0)
    if (this.waiting === 0 || inMs === null) return
    this.#wake = this.#options.deadlines.in(Math.max(1, inMs), () => this.#admit())
  }

  #listOf(rank: Rank): Waiter[] {
    return rank === 'own' ? this.#waiting.own : this.#waiting.read
  }

  #makeRoom(rank: Rank): boolean {
    const last = this.#waiting.read.at(-1)
    if (rank !== 'own' || !last) return false
    this.#refuse(last, 'crowded')
    return true
  }

  #refuse(waiter: Waiter, reason: SpentReason): void {
    const list = this.#listOf(waiter.need.rank)
    list.splice(list.indexOf(waiter), 1)
    waiter.deadline.drop()
    waiter.refuse(this.#refusal(waiter.need.rank, reason))
  }

  #turnedAway(rank: Rank, reason: SpentReason): Ticket {
    const admitted = Promise.reject(this.#refusal(rank, reason))
    admitted.catch(() => {})
    return { admitted, extend: () => {} }
  }

  #refusal(rank: Rank, reason: SpentReason): BudgetSpent {
    this.#refused++
    const { share, nextLookInMs } = this.#options
    const inMs = share.beginsInMs(this.#options.now(), rank, this.#ahead(rank))
    const retryAfterMs = Math.max(RETRY_MIN_MS, Math.ceil(inMs ?? nextLookInMs()))
    return new BudgetSpent(inMs === null ? 'no-share' : reason, retryAfterMs)
  }
}
