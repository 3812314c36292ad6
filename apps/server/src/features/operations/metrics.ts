import { type JobMetrics, prometheusMetrics } from '@garner/jobs'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'

export type ReadResult = 'hit' | 'coalesced' | 'origin' | 'stale' | 'rejected'

/** What this process may ask of the origin now, and what its copies take. */
export interface OriginNumbers {
  rate: number
  concurrency: number
  inFlight: number
  waiting: number
  admitted: number
  refused: number
  renewals: number
  renewalFailures: number
  memoryBytes: number
  /** Calls of the shared cache that were in vain; null where there is none. */
  sharedFailures: number | null
}

/**
 * What /metrics says. Counters that must hold for all processes and over restarts (what became of jobs) come from
 * the database when asked for; those of this process alone (requests, fetches) are counted here.
 * A rate over nothing is absent, not 100 %.
 */
export class Metrics {
  readonly registry = new Registry()
  readonly #ended: Record<ReadResult, number> = { hit: 0, coalesced: 0, origin: 0, stale: 0, rejected: 0 }
  #offered = 0
  #sent = 0
  #origin: (() => OriginNumbers) | null = null
  readonly #outbound: Counter
  readonly #rejections: Counter
  readonly #billed: Counter
  readonly #refunds: Counter
  readonly #requests: Histogram
  /** Found once per route and status: looking the labels up again costs more than counting. */
  readonly #series = new Map<string, ReturnType<Histogram['labels']>>()

  constructor(jobs: JobMetrics) {
    const registers = [this.registry]
    this.#registerReads()
    this.#outbound = new Counter({
      name: 'garner_outbound_requests_total',
      help: 'Calls to servers that are not ours, by kind and outcome.',
      labelNames: ['kind', 'outcome'],
      registers,
    })
    this.#rejections = new Counter({
      name: 'garner_queue_rejections_total',
      help: 'Submissions refused by a bound of the queue.',
      labelNames: ['reason'],
      registers,
    })
    this.#billed = new Counter({
      name: 'garner_vision_billed_total',
      help: 'Calls of the vision model that were billed: answered, usable or not.',
      registers,
    })
    this.#refunds = new Counter({
      name: 'garner_allowance_refunds_total',
      help: 'Uses given back because the provider does not bill the call.',
      registers,
    })
    this.#requests = new Histogram({
      name: 'garner_http_request_duration_seconds',
      help: 'Time to answer HTTP requests.',
      labelNames: ['route', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
      registers,
    })
    prometheusMetrics(jobs, this.registry)
  }

  /** A list read has come; what this answers is to be called once, with how it ended. */
  readBegan(): (result: ReadResult) => void {
    this.#offered++
    return this.#readEnded
  }

  readonly #readEnded = (result: ReadResult): void => {
    this.#ended[result]++
  }

  get readsInFlight(): number {
    const { hit, coalesced, origin, stale, rejected } = this.#ended
    return this.#offered - hit - coalesced - origin - stale - rejected
  }

  /** The origin is asked. */
  originRead(): void {
    this.#sent++
  }

  /** Where the numbers of this process's part in the origin budget come from. */
  watch(origin: () => OriginNumbers): void {
    this.#origin = origin
  }

  /** Of this process, since its start. */
  reads(): { offered: number; inFlight: number; originReads: number; ended: Record<ReadResult, number> } {
    return {
      ...{ offered: this.#offered, inFlight: this.readsInFlight, originReads: this.#sent },
      ended: { ...this.#ended },
    }
  }

  origin(): OriginNumbers | null {
    return this.#origin?.() ?? null
  }

  /** Counted as plain numbers, which costs a list read nothing, and looked at when they are asked for. */
  #registerReads(): void {
    const registers = [this.registry]
    const metrics = this
    const counter = (name: string, help: string, value: () => number) =>
      new Counter({
        ...{ name, help, registers },
        collect() {
          this.reset()
          this.inc(value())
        },
      })
    const gauge = (name: string, help: string, value: () => number) =>
      new Gauge({
        ...{ name, help, registers },
        collect() {
          this.set(value())
        },
      })
    counter('garner_reads_offered_total', 'List reads asked for.', () => this.#offered)
    new Counter({
      name: 'garner_reads_total',
      help: 'List reads by how they ended; with those in flight they add up to the offered ones.',
      labelNames: ['result'],
      registers,
      collect() {
        this.reset()
        for (const [result, n] of Object.entries(metrics.#ended)) this.inc({ result }, n)
      },
    })
    gauge('garner_reads_in_flight', 'List reads under way.', () => this.readsInFlight)
    counter('garner_origin_reads_total', 'List reads that reached the database.', () => this.#sent)
    gauge('garner_origin_share', 'What this process may ask of the database in any second now.', () => {
      return this.origin()?.rate ?? 0
    })
    counter('garner_origin_refused_total', 'List reads that the budget had no room for.', () => {
      return this.origin()?.refused ?? 0
    })
    counter('garner_origin_renewal_failures_total', 'Times that the share was not renewed.', () => {
      return this.origin()?.renewalFailures ?? 0
    })
    counter(
      'garner_shared_cache_failures_total',
      'Calls of the shared cache that failed, took too long, or were not made because it is down.',
      () => this.origin()?.sharedFailures ?? 0,
    )
    gauge('garner_list_copies_bytes', 'What copies of lists take in memory.', () => {
      return this.origin()?.memoryBytes ?? 0
    })
  }

  outbound(kind: string, outcome: string): void {
    this.#outbound.inc({ kind, outcome })
  }

  billed(): void {
    this.#billed.inc()
  }

  refunded(): void {
    this.#refunds.inc()
  }

  rejected(reason: string): void {
    this.#rejections.inc({ reason })
  }

  request(route: string, status: number, ms: number): void {
    const key = `${status} ${route}`
    let series = this.#series.get(key)
    if (!series) {
      series = this.#requests.labels({ route, status: String(status) })
      this.#series.set(key, series)
    }
    series.observe(ms / 1000)
  }
}
