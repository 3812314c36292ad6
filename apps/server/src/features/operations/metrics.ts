import { type JobMetrics, prometheusMetrics } from '@garner/jobs'
import { Counter, Histogram, Registry } from 'prom-client'

/**
 * What /metrics says. Counters that must hold for all processes and over restarts (what became of jobs) come from
 * the database when asked for; those of this process alone (requests, fetches) are counted here.
 * A rate over nothing is absent, not 100 %.
 */
export class Metrics {
  readonly registry = new Registry()
  readonly #readsOffered: Counter
  readonly #reads: Counter
  readonly #originReads: Counter
  readonly #outbound: Counter
  readonly #rejections: Counter
  readonly #requests: Histogram
  /** Found once per route and status: looking the labels up again costs more than counting. */
  readonly #series = new Map<string, ReturnType<Histogram['labels']>>()

  constructor(jobs: JobMetrics) {
    const registers = [this.registry]
    this.#readsOffered = new Counter({
      name: 'garner_reads_offered_total',
      help: 'List reads asked for.',
      registers,
    })
    this.#reads = new Counter({
      name: 'garner_reads_total',
      help: 'List reads by how they ended; with those in flight they add up to the offered ones.',
      labelNames: ['result'],
      registers,
    })
    this.#originReads = new Counter({
      name: 'garner_origin_reads_total',
      help: 'List reads that reached the database.',
      registers,
    })
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
    this.#requests = new Histogram({
      name: 'garner_http_request_duration_seconds',
      help: 'Time to answer HTTP requests.',
      labelNames: ['route', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
      registers,
    })
    prometheusMetrics(jobs, this.registry)
  }

  read(result: 'offered' | 'origin' | 'rejected'): void {
    if (result === 'offered') this.#readsOffered.inc()
    else this.#reads.inc({ result })
    if (result === 'origin') this.#originReads.inc()
  }

  outbound(kind: string, outcome: string): void {
    this.#outbound.inc({ kind, outcome })
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
