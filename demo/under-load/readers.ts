import { BALANCER_MS, type Balancer } from '../fleet/balancer.ts'
import { type End, type Ends, endOf, noEnds } from '../fleet/ends.ts'
import { nowMs } from '../fleet/origin-log.ts'

/** What became of some reads. */
export interface Tally extends Ends {
  offered: number
  /** How long those who were answered or refused waited, and those who were refused. */
  waitedMs: number[]
  refusedMs: number[]
}

export function newTally(): Tally {
  return { offered: 0, ...noEnds(), waitedMs: [], refusedMs: [] }
}

/**
 * Readers who come at a steady rate, however slowly they are answered, for a list that is as popular as its place says
 * (Zipf), each to the instance that the load balancer chooses.
 */
export class Readers {
  readonly #balancer: Balancer
  readonly #groups: string[]
  readonly #popularity: number[]
  readonly #rate: number
  #inFlight = 0
  #sent = 0
  #unexpected: unknown
  #second = newTally()
  #scene = newTally()

  constructor({ balancer, groups, rate }: { balancer: Balancer; groups: string[]; rate: number }) {
    this.#balancer = balancer
    this.#groups = groups
    this.#rate = rate
    let sum = 0
    this.#popularity = groups.map((_, place) => (sum += 1 / (place + 1) ** 0.8))
  }

  get inFlight(): number {
    return this.#inFlight
  }

  /**
   * Until `signal` aborts; resolves when the last one has been answered. Errors, at the end: the first answer that was
   * neither a list nor a refusal.
   */
  async run(signal: AbortSignal): Promise<void> {
    const startedMs = nowMs()
    let sent = 0
    while (!signal.aborted) {
      const due = Math.floor(((nowMs() - startedMs) / 1_000) * this.#rate)
      // A machine that was busy with something else is not made busier by all that it missed.
      if (due - sent > this.#rate) sent = due - this.#rate
      for (; sent < due; sent++) void this.#read()
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    while (this.#inFlight > 0) await new Promise((resolve) => setTimeout(resolve, 10))
    if (this.#unexpected) throw this.#unexpected
  }

  /** What has happened since the last time this was asked: reads that came, reads that ended. */
  takeSecond(): Tally {
    const second = this.#second
    this.#second = newTally()
    return second
  }

  /** From now on reads that come, however they end, are counted in the tally that this answers. */
  beginScene(): Tally {
    this.#scene = newTally()
    return this.#scene
  }

  async #read(): Promise<void> {
    const scene = this.#scene
    scene.offered++
    this.#second.offered++
    this.#inFlight++
    const fromMs = nowMs()
    const end = await this.#ask()
    const ms = nowMs() - fromMs
    this.#inFlight--
    for (const tally of [scene, this.#second]) {
      tally[end]++
      if (end !== 'lost') tally.waitedMs.push(ms)
      if (end === 'rejected') tally.refusedMs.push(ms)
    }
  }

  async #ask(): Promise<End> {
    const instance = this.#balancer.next()
    if (!instance) return 'lost'
    const user = this.#sent++ % 2 === 0 ? 'alice' : 'bob'
    const path = `/api/bookmarks?group=${this.#group()}&sort=-saved_at`
    const answer = await instance.ask(path, { user, timeoutMs: BALANCER_MS }).catch(() => null)
    if (!answer) {
      void this.#balancer.lost(instance)
      return 'lost'
    }
    try {
      return endOf(answer)
    } catch (error) {
      this.#unexpected ??= error
      return 'lost'
    }
  }

  #group(): string {
    const place = Math.random() * this.#popularity.at(-1)!
    return this.#groups[this.#popularity.findIndex((upTo) => place < upTo)] ?? this.#groups[0]!
  }
}
