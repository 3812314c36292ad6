import type { Around, Clock } from '@garner/db'
import { AttemptCut, StoreUnavailable } from './errors.ts'
import type { Claim, Job, Json } from './job.ts'
import type { AttemptContext } from './kind.ts'
import { once, oncePaid, type PaidStep } from './once.ts'
import type { JobStore } from './store.ts'

/**
 * Why the handler is not waited for any longer. After `stopped` and `late` the claim still stands and its end can
 * be said; after `lost` it is another's, or will be.
 */
export type Cut = AttemptCut['why']

export interface AttemptParts<Tx> {
  store: JobStore<Tx>
  clock: Clock
  claim: Claim
  /** Monotonic, from before the claim was asked for. */
  askedAtMs: number
  around?: Around | undefined
}

/** One claimed job while it is worked on: what its handler is given, and what its worker knows of it. */
export class Attempt<Tx> implements AttemptContext {
  readonly job: Job
  readonly claim: Claim
  payload: Json
  /** Told once, of the first cut. */
  onCut: ((why: Cut) => void) | null = null
  readonly #store: JobStore<Tx>
  readonly #clock: Clock
  readonly #askedAtMs: number
  readonly #around: Around | undefined
  #cut: Cut | null = null
  #isLost = false
  // Made when somebody asks: a signal costs more than claiming and publishing a small job.
  #signal: AbortController | null = null
  #lostSignal: AbortController | null = null

  constructor({ store, clock, claim, askedAtMs, around }: AttemptParts<Tx>) {
    this.#store = store
    this.#clock = clock
    this.#askedAtMs = askedAtMs
    this.#around = around
    this.claim = claim
    this.job = claim.job
    this.payload = claim.job.payload
  }

  get wasCut(): Cut | null {
    return this.#cut
  }

  get isLost(): boolean {
    return this.#isLost
  }

  get signal(): AbortSignal {
    if (!this.#signal) {
      this.#signal = new AbortController()
      if (this.#cut) this.#signal.abort(new AttemptCut(this.#cut))
    }
    return this.#signal.signal
  }

  /** For waits that only the loss of the lease ends. */
  get lostSignal(): AbortSignal {
    if (!this.#lostSignal) {
      this.#lostSignal = new AbortController()
      if (this.#isLost) this.#lostSignal.abort('lost')
    }
    return this.#lostSignal.signal
  }

  cut(why: Cut): void {
    if (why === 'lost' && !this.#isLost) {
      this.#isLost = true
      this.#lostSignal?.abort('lost')
    }
    if (this.#cut) return
    this.#cut = why
    this.#signal?.abort(new AttemptCut(why))
    this.onCut?.(why)
  }

  /** The store's time, reckoned from the claim: this machine's wall clock may be wrong. Whole ms. */
  storeNowMs(): number {
    return Math.floor(this.claim.claimedAtMs + this.#clock.monotonicMs() - this.#askedAtMs)
  }

  once<T extends Json>(name: string, work: () => Promise<T>): Promise<T> {
    return once(this.#onceDeps, name, work)
  }

  oncePaid<T extends Json>(name: string, step: PaidStep<T>): Promise<T> {
    return oncePaid(this.#onceDeps, name, step)
  }

  async progress(value: Json): Promise<boolean> {
    try {
      if ((await this.#store.progress(this.claim, value)) === 'lost') this.cut('lost')
    } catch (error) {
      // Only for people to see: the store being away is noticed by the heartbeat and at the end.
      if (!(error instanceof StoreUnavailable)) throw error
    }
    return !this.#isLost
  }

  get #onceDeps() {
    return {
      ...{ store: this.#store, clock: this.#clock, claim: this.claim, around: this.#around },
      lost: () => this.lostSignal,
    }
  }
}
