import type { AttemptEnd, JobStore } from '@garner/jobs'

import { Counter, Gauge, Histogram, Registry } from 'prom-client'

/** The part of a job store that counting needs. */
export type JobCensus = Pick<JobStore<unknown>, 'counts' | 'totals'>

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
  readonly #ends: Counter
  /** Found once per route and status: looking the labels up again costs more than counting. */
  readonly #series = new Map<string, ReturnType<Histogram['labels']>>()

  constructor(jobs: JobCensus) {
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
    this.#ends = new Counter({
      name: 'garner_attempts_total',
      help: 'Attempts of this process by how they ended.',
      labelNames: ['kind', 'end'],
      registers,
    })
    registerJobs(this.registry, jobs)
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

  attempt(kind: string, end: AttemptEnd): void {
    this.#ends.inc({ kind, end })
  }
}

/** 1 s: several gauges are filled from one look at the queue, and a scrape more often than that learns nothing. */
function registerJobs(registry: Registry, jobs: JobCensus): void {
  const registers = [registry]
  new Gauge({
    name: 'garner_jobs',
    help: 'Jobs by kind and state.',
    labelNames: ['kind', 'state'],
    registers,
    async collect() {
      this.reset()
      for (const { kind, state, count } of await jobs.counts()) this.set({ kind, state }, count)
    },
  })
  new Gauge({
    name: 'garner_job_oldest_ready_seconds',
    help: 'Age of the oldest job that is due and not claimed; absent when there is none.',
    labelNames: ['kind'],
    registers,
    async collect() {
      this.reset()
      for (const { kind, oldestDueMs } of await jobs.counts()) {
        if (oldestDueMs !== null) this.set({ kind }, oldestDueMs / 1000)
      }
    },
  })
  total(registry, jobs, {
    name: 'garner_stale_publications_total',
    help: 'Publications refused because the epoch was old or the lease had run out.',
    of: (name) => (name === 'stale_publications' ? {} : null),
    labelNames: [],
  })
  total(registry, jobs, {
    name: 'garner_job_retries_total',
    help: 'Tries that failed and were put back for another.',
    of: (name) => (name === 'retries' ? {} : null),
    labelNames: [],
  })
  total(registry, jobs, {
    name: 'garner_jobs_finished_total',
    help: 'Jobs by how they ended.',
    of: (name) => (name.startsWith('finished:') ? { outcome: name.slice('finished:'.length) } : null),
    labelNames: ['outcome'],
  })
}

/** A counter whose value is kept in the database: set from there at each scrape. */
function total(
  registry: Registry,
  jobs: JobCensus,
  {
    name,
    help,
    of,
    labelNames,
  }: {
    name: string
    help: string
    of: (name: string) => Record<string, string> | null
    labelNames: string[]
  },
): void {
  new Counter({
    name,
    help,
    labelNames: ['kind', ...labelNames],
    registers: [registry],
    async collect() {
      this.reset()
      for (const { kind, name: what, value } of await jobs.totals()) {
        const labels = of(what)
        if (labels) this.inc({ kind, ...labels }, value)
      }
    },
  })
}
