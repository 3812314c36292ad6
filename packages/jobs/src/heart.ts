import type { Clock } from '@garner/db'
import type { Claim } from './job.ts'
import { type Place, Ring } from './ring.ts'
import type { JobStore } from './store.ts'

interface Held {
  place: Place<Held> | null
  claim: Claim
  /** Told once, when the lease is lost. */
  isLost: () => void
  /** By this process's own monotonic clock; from before the lease was asked for, so never later than the store's. */
  untilMs: number
}

/**
 * Keeps the leases of the attempts under way: one heartbeat for all of them every third of a lease, so two may
 * fail before one runs out. A refused heartbeat ends its attempt; so does the lease's own end when the store
 * has not answered since, because by then another worker may hold the job.
 */
export class Heart<Tx> {
  readonly #store: JobStore<Tx>
  readonly #clock: Clock
  readonly #leaseMs: number
  readonly #held = new Ring<Held>()
  #beating: Promise<void> | null = null
  #wake = new AbortController()

  constructor({ store, clock, leaseMs }: { store: JobStore<Tx>; clock: Clock; leaseMs: number }) {
    this.#store = store
    this.#clock = clock
    this.#leaseMs = leaseMs
  }

  /** Keeps the lease of a claim asked for at `askedAtMs` (monotonic), until what this answers is called. */
  hold(claim: Claim, askedAtMs: number, isLost: () => void): () => void {
    const held: Held = { claim, isLost, untilMs: askedAtMs + this.#leaseMs, place: null }
    const place = this.#held.add(held)
    held.place = place
    this.#beating ??= this.#beat()
    return () => {
      place.leave()
      if (this.#held.size === 0) this.#wake.abort('idle')
    }
  }

  async #beat(): Promise<void> {
    while (this.#held.size > 0) {
      // A new one each time: one claim may end and another begin before the sleeper has noticed, and a signal that
      // stays aborted would turn the pauses between heartbeats into none.
      this.#wake = new AbortController()
      await this.#clock.sleep(this.#leaseMs / 3, this.#wake.signal)
      if (this.#held.size === 0) break
      await this.beatOnce()
    }
    this.#beating = null
  }

  /** One heartbeat for everything that is held. */
  async beatOnce(): Promise<void> {
    const all = this.#held.members()
    const askedAtMs = this.#clock.monotonicMs()
    const answered = new AbortController()
    // A store that neither answers nor fails must not hide that a lease runs out.
    const patienceMs = Math.max(0, Math.min(...all.map((one) => one.untilMs)) - askedAtMs)
    const beat = this.#ask(all, askedAtMs)
    await Promise.race([beat, this.#clock.sleep(patienceMs, answered.signal)])
    answered.abort('answered')
    for (const one of all) if (one.untilMs <= this.#clock.monotonicMs()) this.#lose(one)
  }

  async #ask(all: Held[], askedAtMs: number): Promise<void> {
    try {
      const claims = all.map((one) => one.claim)
      const answers = await this.#store.heartbeat(claims, this.#leaseMs)
      all.forEach((one, index) => {
        if (answers[index] === 'extended') one.untilMs = Math.max(one.untilMs, askedAtMs + this.#leaseMs)
        else this.#lose(one)
      })
    } catch {
      // The store is away. The next beat asks again; leases that run out meanwhile are given up by beatOnce.
    }
  }

  #lose({ place }: Held): void {
    place?.leave()?.isLost()
  }
}
