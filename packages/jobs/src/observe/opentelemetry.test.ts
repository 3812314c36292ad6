import { ManualClock, StoreUnavailable } from '@garner/db'
import { expect, test } from 'vitest'
import type { Labels } from './metric.ts'
import { JobMetrics } from './metrics.ts'
import { type OpenTelemetryMeter, openTelemetryMetrics } from './opentelemetry.ts'
import { claimOf, storeSaying } from './testing/census.ts'

type Callback = Parameters<OpenTelemetryMeter<string>['addBatchObservableCallback']>[0]

/** Writes down what it is told; observables are their own names. */
class FakeMeter implements OpenTelemetryMeter<string> {
  readonly instruments: string[] = []
  readonly said: string[] = []
  readonly callbacks = new Set<Callback>()

  createCounter(name: string, { unit }: { unit: string }) {
    return { add: this.#teller('counter', name, unit) }
  }
  createUpDownCounter(name: string, { unit }: { unit: string }) {
    return { add: this.#teller('up-down', name, unit) }
  }
  createHistogram(
    name: string,
    { unit, advice }: { unit: string; advice?: { explicitBucketBoundaries: number[] } },
  ) {
    return { record: this.#teller(`histogram of ${advice?.explicitBucketBoundaries.length}`, name, unit) }
  }
  createObservableCounter(name: string, { unit }: { unit: string }) {
    this.#teller('observable counter', name, unit)
    return name
  }
  createObservableGauge(name: string, { unit }: { unit: string }) {
    this.#teller('observable gauge', name, unit)
    return name
  }
  addBatchObservableCallback(callback: Callback) {
    this.callbacks.add(callback)
  }
  removeBatchObservableCallback(callback: Callback) {
    this.callbacks.delete(callback)
  }
  async collect() {
    for (const callback of this.callbacks) await callback({ observe: this.#tell })
  }

  #teller(type: string, name: string, unit: string) {
    this.instruments.push(`${type} ${name} ${unit}`)
    return (value: number, labels: Labels) => this.#tell(name, value, labels)
  }
  readonly #tell = (name: string, value: number, labels: Labels) => {
    this.said.push(`${name} ${Object.values(labels).join('/')} ${value}`)
  }
}

function scene() {
  const clock = new ManualClock()
  const store = storeSaying({
    counts: [{ kind: 'title', state: 'ready', count: 3, oldestDueMs: 1_500 }],
    totals: [{ kind: 'title', name: 'stale_publications', value: 2 }],
  })
  const metrics = new JobMetrics({ clock, store })
  const meter = new FakeMeter()
  return { clock, store, metrics, meter, stop: openTelemetryMetrics(metrics, meter) }
}

test('each metric is an instrument of its type and unit, named so that exporters complete the name', () => {
  expect(scene().meter.instruments).toEqual([
    'counter garner_attempts 1',
    'up-down garner_attempts_active 1',
    'histogram of 17 garner_attempt_duration s',
    'histogram of 17 garner_queue_wait s',
    'observable gauge garner_jobs 1',
    'observable gauge garner_job_oldest_ready s',
    'observable gauge garner_kind_paused 1',
    'observable counter garner_jobs_finished 1',
    'observable counter garner_job_retries 1',
    'observable counter garner_stale_publications 1',
  ])
})

test('attempts are said as they happen, the store when it is collected, in one look', async () => {
  const { clock, store, metrics, meter } = scene()
  const claim = claimOf({ runAtMs: 0, claimedAtMs: 40 })
  metrics.started(claim)
  clock.advance(250)
  metrics.ended(claim, 'published')
  expect(meter.said.splice(0)).toEqual([
    'garner_attempts_active title 1',
    'garner_queue_wait title 0.04',
    'garner_attempts title/published 1',
    'garner_attempts_active title -1',
    'garner_attempt_duration title 0.25',
  ])
  await meter.collect()
  expect(meter.said).toEqual([
    'garner_jobs title/ready 3',
    'garner_job_oldest_ready title 1.5',
    'garner_stale_publications title 2',
  ])
  expect(store.looks).toBe(1)
})

test('the error of a store that is away is passed to whoever collects', async () => {
  const { store, meter } = scene()
  store.fails = new StoreUnavailable('busy', 'testing')
  await expect(meter.collect()).rejects.toBeInstanceOf(StoreUnavailable)
})

test('nothing more is said once it is stopped', async () => {
  const { metrics, meter, stop } = scene()
  stop()
  metrics.ended(claimOf(), 'published')
  await meter.collect()
  expect(meter.said).toEqual([])
})
