import type { Answer, Instance } from './instance.ts'
import { nowMs } from './origin-log.ts'

export type End = 'hit' | 'coalesced' | 'origin' | 'stale' | 'rejected' | 'lost'
export type Ends = Record<End, number>

/** What became of the reads that ended within one second of the demonstration. */
export interface Second extends Ends {
  offered: number
  latenciesMs: number[]
}

/** How long the readers' load balancer waits before it takes an instance out; it looks again four times a second. */
const BALANCER_MS = 1_500
const HEALTH_EVERY_MS = 250

/**
 * Readers who come at a steady rate, however slowly they are answered, each to the next instance that is up, for a list
 * that is as popular as its place says (Zipf). Between them and the instances stands what a load balancer does: an
 * instance that breaks a connection or says nothing for too long is left out until it answers again.
 */
export class Readers {
  readonly #instances: () => Instance[]
  readonly #groups: string[]
  readonly #popularity: number[]
  readonly #rate: number
  #offered = 0
  #inFlight = 0
  #next = 0
  readonly #total: Ends = noEnds()
  /** Waiting times of those who were refused. */
  readonly refusedMs: number[] = []
  #second: Second = newSecond()

  constructor({ instances, groups, rate }: { instances: () => Instance[]; groups: string[]; rate: number }) {
    this.#instances = instances
    this.#groups = groups
    this.#rate = rate
    let sum = 0
    this.#popularity = groups.map((_, place) => (sum += 1 / (place + 1) ** 0.8))
  }

  get total(): { offered: number; inFlight: number; ends: Ends } {
    return { offered: this.#offered, inFlight: this.#inFlight, ends: { ...this.#total } }
  }

  /** Until `signal` aborts; resolves when the last one has been answered. */
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
  }

  /** What has happened since the last time this was asked. */
  takeSecond(): Second {
    const second = this.#second
    this.#second = newSecond()
    second.latenciesMs.sort((a, b) => a - b)
    return second
  }

  async #read(): Promise<void> {
    this.#offered++
    this.#second.offered++
    this.#inFlight++
    const fromMs = nowMs()
    const end = await this.#ask()
    const ms = nowMs() - fromMs
    this.#inFlight--
    this.#total[end]++
    this.#second[end]++
    if (end === 'rejected') this.refusedMs.push(ms)
    if (end !== 'lost') this.#second.latenciesMs.push(ms)
  }

  async #ask(): Promise<End> {
    const up = this.#instances().filter(({ isDown }) => !isDown)
    const instance = up[this.#next++ % Math.max(1, up.length)]
    if (!instance) return 'lost'
    const user = this.#next % 2 === 0 ? 'alice' : 'bob'
    try {
      const path = `/api/bookmarks?group=${this.#group()}&sort=-saved_at`
      return endOf(await instance.ask(path, { user, timeoutMs: BALANCER_MS }))
    } catch {
      if (!instance.isDown) void this.#awaitRecovery(instance)
      return 'lost'
    }
  }

  #group(): string {
    const place = Math.random() * this.#popularity.at(-1)!
    return this.#groups[this.#popularity.findIndex((upTo) => place < upTo)] ?? this.#groups[0]!
  }

  async #awaitRecovery(instance: Instance): Promise<void> {
    instance.isDown = true
    while (this.#instances().includes(instance)) {
      await new Promise((resolve) => setTimeout(resolve, HEALTH_EVERY_MS))
      const answer = await instance.ask('/healthz', { timeoutMs: HEALTH_EVERY_MS }).catch(() => null)
      if (answer?.status === 200) break
    }
    instance.isDown = false
  }
}

/** As the answer itself says it. */
export function endOf({ status, headers, body }: Pick<Answer, 'status' | 'headers' | 'body'>): End {
  if (status === 503 && headers['retry-after'] !== undefined) return 'rejected'
  if (status !== 200) throw new Error(`A list was answered ${status}: ${body}`)
  const said = String(headers['cache-status'])
  if (said.includes('detail=stale')) return 'stale'
  if (said.includes('; hit')) return 'hit'
  return said.includes('collapsed') ? 'coalesced' : 'origin'
}

function noEnds(): Ends {
  return { hit: 0, coalesced: 0, origin: 0, stale: 0, rejected: 0, lost: 0 }
}

function newSecond(): Second {
  return { offered: 0, ...noEnds(), latenciesMs: [] }
}
