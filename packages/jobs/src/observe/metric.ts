/**
 * What is counted and measured: the names, units and labels, which dashboards depend on and which therefore stay.
 * Durations are in seconds and sizes in ones, as Prometheus and OpenTelemetry want them. Labels hold kinds, states
 * and ends: few values, never a tenant, an id or an error's text.
 */
export interface MetricInfo {
  name: string
  type: 'counter' | 'gauge' | 'histogram'
  help: string
  unit: 'seconds' | 'ones'
  labels: readonly string[]
}

/** What a series is about, by the names in MetricInfo. */
export type Labels = Readonly<Record<string, string>>

/** One number under its labels. */
export interface Sample {
  labels: Labels
  value: number
}

/** One histogram under its labels. Seconds. */
export interface Distribution {
  labels: Labels
  /** How many were at most each of DURATION_BUCKETS, in their order; larger ones are in `count` alone. */
  atMost: readonly number[]
  count: number
  sum: number
}

/** A metric with what it says now. A series that has nothing to say is absent, not 0. */
export type Reading =
  | { info: MetricInfo & { type: 'counter' | 'gauge' }; samples: readonly Sample[] }
  | { info: MetricInfo & { type: 'histogram' }; distributions: readonly Distribution[] }

/**
 * Upper bounds in seconds. From 1 ms, below which a job's time is the store's, to half an hour, beyond which the age
 * of the oldest due job says more than a histogram. Two to three a decade: finer ones would cost series and tell
 * nobody what to do.
 */
export const DURATION_BUCKETS: readonly number[] = [
  ...[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5],
  ...[1, 2.5, 5, 10, 30, 60, 300, 1_800],
]

const kind = ['kind'] as const

/** Counted by this process, from what its worker tells. */
export const ATTEMPT_METRICS = {
  ended: {
    ...{ name: 'garner_attempts_total', type: 'counter', unit: 'ones', labels: ['kind', 'end'] },
    help: 'Attempts of this process by how they ended.',
  },
  active: {
    ...{ name: 'garner_attempts_active', type: 'gauge', unit: 'ones', labels: kind },
    help: 'Attempts of this process that are under way.',
  },
  duration: {
    ...{ name: 'garner_attempt_duration_seconds', type: 'histogram', unit: 'seconds', labels: kind },
    help: 'From the start of an attempt to its end, publication included.',
  },
  wait: {
    ...{ name: 'garner_queue_wait_seconds', type: 'histogram', unit: 'seconds', labels: kind },
    help: "From when a job was due to when it was claimed, by the store's clock; not after a lost lease.",
  },
} as const satisfies Record<string, MetricInfo>

/** Read from the store: for all processes together, and over restarts. */
export const STORE_METRICS = {
  jobs: {
    ...{ name: 'garner_jobs', type: 'gauge', unit: 'ones', labels: ['kind', 'state'] },
    help: 'Jobs by kind and state.',
  },
  oldest: {
    ...{ name: 'garner_job_oldest_ready_seconds', type: 'gauge', unit: 'seconds', labels: kind },
    help: 'Age of the oldest job that is due and not claimed; absent when there is none.',
  },
  paused: {
    ...{ name: 'garner_kind_paused', type: 'gauge', unit: 'ones', labels: kind },
    help: '1 for each kind that is paused; absent for the others.',
  },
  finished: {
    ...{ name: 'garner_jobs_finished_total', type: 'counter', unit: 'ones', labels: ['kind', 'outcome'] },
    help: 'Jobs by how they ended.',
  },
  retries: {
    ...{ name: 'garner_job_retries_total', type: 'counter', unit: 'ones', labels: kind },
    help: 'Tries that failed and were put back for another.',
  },
  stale: {
    ...{ name: 'garner_stale_publications_total', type: 'counter', unit: 'ones', labels: kind },
    help: 'Publications refused because the epoch was old or the lease had run out.',
  },
} as const satisfies Record<string, MetricInfo>
