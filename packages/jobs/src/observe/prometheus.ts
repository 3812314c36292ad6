import {
  ATTEMPT_METRICS,
  type Distribution,
  DURATION_BUCKETS,
  type MetricInfo,
  type Reading,
  STORE_METRICS,
} from './metric.ts'
import type { JobMetrics } from './metrics.ts'

/**
 * The part of prom-client's `Registry` that is needed. prom-client itself is never loaded: a registry takes any
 * object that answers `get()` as its own metrics do, and asks it when it is scraped.
 */
export interface PrometheusRegistry {
  registerMetric(metric: never): void
}

interface Value {
  value: number
  labels: Record<string, string | number>
  metricName?: string
}

/**
 * Adds all of `metrics` to the caller's registry; each scrape then says what is true at that moment. The names are
 * in metric.ts. While the store is away the scrape fails with StoreUnavailable: old numbers would look like new ones.
 * Errors: what the registry says of names it already has.
 */
export function prometheusMetrics(metrics: JobMetrics, registry: PrometheusRegistry): void {
  for (const info of Object.values(ATTEMPT_METRICS)) register(registry, info, async () => metrics.attempts())
  for (const info of Object.values(STORE_METRICS)) register(registry, info, () => metrics.store())
}

function register(registry: PrometheusRegistry, info: MetricInfo, look: () => Promise<Reading[]>): void {
  const metric = {
    // The registry renames counters when it speaks OpenMetrics, and then expects to read the new name.
    name: info.name,
    help: info.help,
    type: info.type,
    aggregator: 'sum',
    labelNames: info.labels,
    async get() {
      const reading = (await look()).find((one) => one.info.name === info.name)
      const { name, help, type, aggregator } = this
      return { name, help, type, aggregator, values: reading ? valuesOf(reading) : [] }
    },
    /** `resetMetrics()` of the registry: what is counted is not the registry's to forget. */
    reset() {},
  }
  registry.registerMetric(metric as never)
}

function valuesOf(reading: Reading): Value[] {
  if ('samples' in reading)
    return reading.samples.map(({ labels, value }) => ({ labels: { ...labels }, value }))
  return reading.distributions.flatMap((one) => histogramValues(reading.info.name, one))
}

function histogramValues(name: string, { labels, atMost, count, sum }: Distribution): Value[] {
  const bucket = (le: string | number, value: number): Value => ({
    ...{ metricName: `${name}_bucket`, labels: { ...labels, le }, value },
  })
  return [
    ...DURATION_BUCKETS.map((bound, n) => bucket(bound, atMost[n]!)),
    bucket('+Inf', count),
    { metricName: `${name}_sum`, labels: { ...labels }, value: sum },
    { metricName: `${name}_count`, labels: { ...labels }, value: count },
  ]
}
