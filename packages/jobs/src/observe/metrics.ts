import type { Clock } from '@garner/db'
import type { Claim } from '../job.ts'
import type { AttemptEnd } from '../run-attempt.ts'
import type { JobCounts, JobStore, JobTotals, PausedKind } from '../store.ts'
import { Histogram } from './histogram.ts'
import { ATTEMPT_METRICS, type MetricInfo, type Reading, type Sample, STORE_METRICS } from './metric.ts'

/** The part of a store that is looked at when metrics are read. */
export type JobCensus = Pick<JobStore<unknown>, 'counts' | 'totals' | 'paused'>

/** Told of each observation as it is made: for libraries that keep the numbers themselves. */
export interface MetricListener {
  ended(kind: string, end: AttemptEnd): void
  active(kind: string, change: 1 | -1): void
  observed(info: MetricInfo, kind: string, seconds: number): void
}

/**
 * Counters and histograms of a worker, and of its store, that depend on no metrics library. Give `started` and
 * `ended` to the worker as `onStart` and `onEnd`; `prometheusMetrics` and `openTelemetryMetrics` bring it to those.
 *
 * What this process alone knows (attempts, durations) is kept here and starts at nothing with the process. What
 * holds for the fleet (jobs, retries, ends, stale publications) is read from the store when it is asked for.
 */
export class JobMetrics {
  readonly #clock: Clock
  readonly #store: JobCensus
  readonly #ends = new Map<string, Map<AttemptEnd, number>>()
  readonly #active = new Map<string, number>()
  readonly #durations = new Map<string, Histogram>()
  readonly #waits = new Map<string, Histogram>()
  readonly #listeners = new Set<MetricListener>()
  /** Weak: an attempt whose end is never told, because the process breaks off, leaves nothing behind. */
  readonly #startedAtMs = new WeakMap<Claim, number>()
  #look: Promise<Reading[]> | null = null

  constructor({ clock, store }: { clock: Clock; store: JobCensus }) {
    this.#clock = clock
    this.#store = store
  }

  /** An attempt starts. */
  readonly started = (claim: Claim): void => {
    const { kind } = claim.job
    this.#startedAtMs.set(claim, this.#clock.monotonicMs())
    this.#changeActive(kind, 1)
    // A job whose lease ran out was due again at an instant that nobody wrote down.
    if (claim.job.lastError === 'lease_expired') return
    const waitMs = Math.max(0, claim.claimedAtMs - claim.job.runAtMs)
    this.#observe(this.#waits, ATTEMPT_METRICS.wait, kind, waitMs)
  }

  /** An attempt has ended. One that nobody said had started is counted, and its duration is not known. */
  readonly ended = (claim: Claim, end: AttemptEnd): void => {
    const { kind } = claim.job
    const ends = this.#ends.get(kind) ?? new Map<AttemptEnd, number>()
    this.#ends.set(kind, ends.set(end, (ends.get(end) ?? 0) + 1))
    for (const listener of this.#listeners) listener.ended(kind, end)
    const startedAtMs = this.#startedAtMs.get(claim)
    if (startedAtMs === undefined) return
    this.#startedAtMs.delete(claim)
    this.#changeActive(kind, -1)
    this.#observe(this.#durations, ATTEMPT_METRICS.duration, kind, this.#clock.monotonicMs() - startedAtMs)
  }

  /** Told of what happens from now on. Answers how to stop it. */
  subscribe(listener: MetricListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** What this process has counted. */
  attempts(): Reading[] {
    const ended = [...this.#ends].flatMap(([kind, ends]) =>
      [...ends].map(([end, value]): Sample => ({ labels: { kind, end }, value })),
    )
    const active = [...this.#active].map(([kind, value]): Sample => ({ labels: { kind }, value }))
    return [
      { info: ATTEMPT_METRICS.ended, samples: ended },
      { info: ATTEMPT_METRICS.active, samples: active },
      { info: ATTEMPT_METRICS.duration, distributions: readAll(this.#durations) },
      { info: ATTEMPT_METRICS.wait, distributions: readAll(this.#waits) },
    ]
  }

  /**
   * What the store says. Those who ask while a look is under way share it: the counts of a large store are not cheap,
   * and a scrape asks for each metric by itself. Errors: StoreUnavailable.
   */
  store(): Promise<Reading[]> {
    this.#look ??= this.#lookAtStore().finally(() => {
      this.#look = null
    })
    return this.#look
  }

  async #lookAtStore(): Promise<Reading[]> {
    const store = this.#store
    const [counts, totals, paused] = await Promise.all([store.counts(), store.totals(), store.paused()])
    return storeReadings(counts, totals, paused)
  }

  #changeActive(kind: string, change: 1 | -1): void {
    this.#active.set(kind, (this.#active.get(kind) ?? 0) + change)
    for (const listener of this.#listeners) listener.active(kind, change)
  }

  #observe(histograms: Map<string, Histogram>, info: MetricInfo, kind: string, ms: number): void {
    let histogram = histograms.get(kind)
    if (!histogram) {
      histogram = new Histogram()
      histograms.set(kind, histogram)
    }
    histogram.observe(ms / 1_000)
    for (const listener of this.#listeners) listener.observed(info, kind, ms / 1_000)
  }
}

function readAll(histograms: Map<string, Histogram>) {
  return [...histograms].map(([kind, histogram]) => histogram.read(kind))
}

const FINISHED = 'finished:'

function storeReadings(counts: JobCounts[], totals: JobTotals[], paused: PausedKind[]): Reading[] {
  const total = (name: string): Sample[] =>
    totals.filter((one) => one.name === name).map(({ kind, value }) => ({ labels: { kind }, value }))
  return [
    {
      info: STORE_METRICS.jobs,
      samples: counts.map(({ kind, state, count }) => ({ labels: { kind, state }, value: count })),
    },
    {
      info: STORE_METRICS.oldest,
      samples: counts
        .filter((one) => one.oldestDueMs !== null)
        .map(({ kind, oldestDueMs }) => ({ labels: { kind }, value: oldestDueMs! / 1_000 })),
    },
    { info: STORE_METRICS.paused, samples: paused.map(({ kind }) => ({ labels: { kind }, value: 1 })) },
    {
      info: STORE_METRICS.finished,
      samples: totals
        .filter((one) => one.name.startsWith(FINISHED))
        .map(({ kind, name, value }) => ({ labels: { kind, outcome: name.slice(FINISHED.length) }, value })),
    },
    { info: STORE_METRICS.retries, samples: total('retries') },
    { info: STORE_METRICS.stale, samples: total('stale_publications') },
  ]
}
