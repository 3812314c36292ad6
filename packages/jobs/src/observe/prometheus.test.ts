import { ManualClock, StoreUnavailable } from '@garner/db'
import { Counter, Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { JobMetrics } from './metrics.ts'
import { prometheusMetrics } from './prometheus.ts'
import { claimOf, storeSaying } from './testing/census.ts'

function scene(registry: Registry = new Registry()) {
  const clock = new ManualClock()
  const store = storeSaying({
    counts: [{ kind: 'title', state: 'ready', count: 3, oldestDueMs: 1_500 }],
    totals: [{ kind: 'title', name: 'finished:succeeded', value: 7 }],
  })
  const metrics = new JobMetrics({ clock, store })
  prometheusMetrics(metrics, registry)
  const lines = async () => (await registry.metrics()).split('\n')
  return { clock, store, metrics, registry, lines }
}

test('a scrape says what the worker and the store say at that moment', async () => {
  const { clock, metrics, lines } = scene()
  const claim = claimOf({ runAtMs: 0, claimedAtMs: 40 })
  metrics.started(claim)
  clock.advance(250)
  metrics.ended(claim, 'published')
  expect(await lines()).toEqual(
    expect.arrayContaining([
      '# TYPE garner_attempts_total counter',
      'garner_attempts_total{kind="title",end="published"} 1',
      'garner_attempts_active{kind="title"} 0',
      '# TYPE garner_attempt_duration_seconds histogram',
      'garner_attempt_duration_seconds_bucket{kind="title",le="0.1"} 0',
      'garner_attempt_duration_seconds_bucket{kind="title",le="0.25"} 1',
      'garner_attempt_duration_seconds_bucket{kind="title",le="+Inf"} 1',
      'garner_attempt_duration_seconds_sum{kind="title"} 0.25',
      'garner_attempt_duration_seconds_count{kind="title"} 1',
      'garner_queue_wait_seconds_bucket{kind="title",le="0.05"} 1',
      'garner_jobs{kind="title",state="ready"} 3',
      'garner_job_oldest_ready_seconds{kind="title"} 1.5',
      'garner_jobs_finished_total{kind="title",outcome="succeeded"} 7',
    ]),
  )
  metrics.ended(claimOf(), 'published')
  expect(await lines()).toContain('garner_attempts_total{kind="title",end="published"} 2')
})

test('one scrape is one look at the store', async () => {
  const { store, lines } = scene()
  await lines()
  expect(store.looks).toBe(1)
})

test('a scrape fails while the store is away: old numbers would look like new ones', async () => {
  const { store, lines } = scene()
  store.fails = new StoreUnavailable('busy', 'testing')
  await expect(lines()).rejects.toBeInstanceOf(StoreUnavailable)
})

test('the registry keeps its own metrics, refuses a second set, and a reset of it forgets nothing here', async () => {
  const { metrics, registry, lines } = scene()
  new Counter({ name: 'mine_total', help: 'Mine.', registers: [registry] }).inc()
  metrics.ended(claimOf(), 'published')
  registry.resetMetrics()
  expect(await lines()).toEqual(
    expect.arrayContaining(['mine_total 0', 'garner_attempts_total{kind="title",end="published"} 1']),
  )
  expect(() => prometheusMetrics(metrics, registry)).toThrow('already been registered')
})

test('a registry that speaks OpenMetrics names the counters once, with its default labels', async () => {
  const registry = new Registry()
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE as never)
  registry.setDefaultLabels({ app: 'shop' })
  const { metrics, lines } = scene(registry)
  metrics.ended(claimOf(), 'published')
  for (const scrape of [await lines(), await lines()]) {
    expect(scrape).toEqual(
      expect.arrayContaining([
        '# TYPE garner_attempts counter',
        'garner_attempts_total{kind="title",end="published",app="shop"} 1',
      ]),
    )
  }
})
