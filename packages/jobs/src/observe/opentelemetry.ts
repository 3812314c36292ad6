import { ATTEMPT_METRICS, DURATION_BUCKETS, type Labels, type MetricInfo, STORE_METRICS } from './metric.ts'
import type { JobMetrics } from './metrics.ts'

/** What an instrument is created with. */
export interface InstrumentOptions {
  description: string
  unit: string
  advice?: { explicitBucketBoundaries: number[] }
}

/** The part of OpenTelemetry's `Meter` that is needed; `metrics.getMeter(…)` of its API is one. */
export interface OpenTelemetryMeter<Observable = unknown> {
  createCounter(name: string, options: InstrumentOptions): { add(value: number, attributes: Labels): void }
  createUpDownCounter(
    name: string,
    options: InstrumentOptions,
  ): { add(value: number, attributes: Labels): void }
  createHistogram(
    name: string,
    options: InstrumentOptions,
  ): { record(value: number, attributes: Labels): void }
  createObservableCounter(name: string, options: InstrumentOptions): Observable
  createObservableGauge(name: string, options: InstrumentOptions): Observable
  addBatchObservableCallback(callback: ObservableCallback<Observable>, observables: Observable[]): void
  removeBatchObservableCallback(callback: ObservableCallback<Observable>, observables: Observable[]): void
}

/** Called at each collection. */
export type ObservableCallback<Observable> = (result: {
  observe(metric: Observable, value: number, attributes: Labels): void
}) => Promise<void>

/**
 * Says all of `metrics` through the caller's meter, from now on. Answers how to stop it. Names are those of
 * metric.ts without `_total` and the unit, which exporters to Prometheus put back. All that the store says is asked
 * for once a collection; while the store is away that part is left out, and the SDK reports the error.
 */
export function openTelemetryMetrics<Observable>(
  metrics: JobMetrics,
  meter: OpenTelemetryMeter<Observable>,
): () => void {
  const ended = meter.createCounter(...described(ATTEMPT_METRICS.ended))
  const active = meter.createUpDownCounter(...described(ATTEMPT_METRICS.active))
  const histograms = new Map(
    [ATTEMPT_METRICS.duration, ATTEMPT_METRICS.wait].map((info) => [
      info.name,
      meter.createHistogram(...described(info)),
    ]),
  )
  const unsubscribe = metrics.subscribe({
    ended: (kind, end) => ended.add(1, { kind, end }),
    active: (kind, change) => active.add(change, { kind }),
    observed: ({ name }, kind, seconds) => histograms.get(name)!.record(seconds, { kind }),
  })

  const observables = new Map<string, Observable>(
    Object.values(STORE_METRICS).map((info) => [
      info.name,
      info.type === 'counter'
        ? meter.createObservableCounter(...described(info))
        : meter.createObservableGauge(...described(info)),
    ]),
  )
  const observe: ObservableCallback<Observable> = async (result) => {
    for (const reading of await metrics.store()) {
      const observable = observables.get(reading.info.name)
      if (observable === undefined || !('samples' in reading)) continue
      for (const { labels, value } of reading.samples) result.observe(observable, value, labels)
    }
  }
  meter.addBatchObservableCallback(observe, [...observables.values()])
  return () => {
    unsubscribe()
    meter.removeBatchObservableCallback(observe, [...observables.values()])
  }
}

function described({ name, help, type, unit }: MetricInfo): [string, InstrumentOptions] {
  const options: InstrumentOptions = { description: help, unit: unit === 'seconds' ? 's' : '1' }
  if (type === 'histogram') options.advice = { explicitBucketBoundaries: [...DURATION_BUCKETS] }
  return [name.replace(/_total$/, '').replace(/_seconds$/, ''), options]
}
