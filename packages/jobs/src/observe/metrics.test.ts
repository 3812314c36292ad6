import { ManualClock, StoreUnavailable } from '@garner/db'
import { expect, test } from 'vitest'
import { DURATION_BUCKETS, type Reading } from './metric.ts'
import { JobMetrics } from './metrics.ts'
import { claimOf, storeSaying } from './testing/census.ts'

function scene(store = storeSaying({})) {
  const clock = new ManualClock()
  return { clock, store, metrics: new JobMetrics({ clock, store }) }
}

/** What a metric says, as `label/label value`. */
function said(readings: Reading[], name: string): string[] {
  const reading = readings.find((one) => one.info.name === name)!
  if (!('samples' in reading)) throw new Error(`${name} is a histogram`)
  return reading.samples.map(({ labels, value }) => `${Object.values(labels).join('/')} ${value}`)
}

function distribution(readings: Reading[], name: string, kind = 'title') {
  const reading = readings.find((one) => one.info.name === name)!
  if ('samples' in reading) throw new Error(`${name} is no histogram`)
  const found = reading.distributions.find((one) => one.labels.kind === kind)
  return (
    found && {
      count: found.count,
      sum: found.sum,
      upTo: (s: number) => found.atMost[DURATION_BUCKETS.indexOf(s)],
    }
  )
}

test('attempts are counted by kind and end, and are under way in between', () => {
  const { metrics } = scene()
  const [one, two, other] = [claimOf(), claimOf(), claimOf({ kind: 'photo' })]
  for (const claim of [one, two, other]) metrics.started(claim)
  metrics.ended(one, 'published')
  metrics.ended(other, 'retried')
  expect(said(metrics.attempts(), 'garner_attempts_total')).toEqual(['title/published 1', 'photo/retried 1'])
  expect(said(metrics.attempts(), 'garner_attempts_active')).toEqual(['title 1', 'photo 0'])
  metrics.ended(two, 'published')
  expect(said(metrics.attempts(), 'garner_attempts_total')).toEqual(['title/published 2', 'photo/retried 1'])
})

test('an attempt takes from its start to its end on the monotonic clock, whatever the wall clock does', () => {
  const { clock, metrics } = scene()
  const claim = claimOf()
  metrics.started(claim)
  clock.advance(250)
  clock.jump(-3_600_000)
  metrics.ended(claim, 'published')
  const took = distribution(metrics.attempts(), 'garner_attempt_duration_seconds')!
  expect(took).toMatchObject({ count: 1, sum: 0.25 })
  expect([took.upTo(0.1), took.upTo(0.25), took.upTo(1_800)]).toEqual([0, 1, 1])
})

test('an observation beyond the last bucket is in the count alone', () => {
  const { clock, metrics } = scene()
  const claim = claimOf()
  metrics.started(claim)
  clock.advance(7_200_000)
  metrics.ended(claim, 'published')
  const took = distribution(metrics.attempts(), 'garner_attempt_duration_seconds')!
  expect([took.upTo(1_800), took.count]).toEqual([0, 1])
})

test("a job waits from when it was due to its claim, both by the store's clock and never less than nothing", () => {
  const { metrics } = scene()
  metrics.started(claimOf({ runAtMs: 10_000, claimedAtMs: 12_000 }))
  metrics.started(claimOf({ runAtMs: 10_000, claimedAtMs: 9_999 }))
  expect(distribution(metrics.attempts(), 'garner_queue_wait_seconds')).toMatchObject({ count: 2, sum: 2 })
})

test('the time that a lost lease held a job is not its wait', () => {
  const { metrics } = scene()
  metrics.started(claimOf({ runAtMs: 0, claimedAtMs: 600_000, lastError: 'lease_expired' }))
  expect(distribution(metrics.attempts(), 'garner_queue_wait_seconds')).toBeUndefined()
})

test('an end whose start was not told is counted and has no duration', () => {
  const { metrics } = scene()
  metrics.ended(claimOf(), 'dead')
  expect(said(metrics.attempts(), 'garner_attempts_total')).toEqual(['title/dead 1'])
  expect(said(metrics.attempts(), 'garner_attempts_active')).toEqual([])
  expect(distribution(metrics.attempts(), 'garner_attempt_duration_seconds')).toBeUndefined()
})

test('the store is read for what holds for the fleet; what it has nothing on is absent', async () => {
  const { metrics } = scene(
    storeSaying({
      counts: [
        { kind: 'title', state: 'ready', count: 3, oldestDueMs: 1_500 },
        { kind: 'title', state: 'dead', count: 1, oldestDueMs: null },
      ],
      totals: [
        { kind: 'title', name: 'finished:succeeded', value: 7 },
        { kind: 'title', name: 'retries', value: 2 },
        { kind: 'photo', name: 'stale_publications', value: 1 },
      ],
      paused: [{ kind: 'photo', reason: 'provider_down', sinceMs: 1, untilMs: null }],
    }),
  )
  const readings = await metrics.store()
  expect(said(readings, 'garner_jobs')).toEqual(['title/ready 3', 'title/dead 1'])
  expect(said(readings, 'garner_job_oldest_ready_seconds')).toEqual(['title 1.5'])
  expect(said(readings, 'garner_jobs_finished_total')).toEqual(['title/succeeded 7'])
  expect(said(readings, 'garner_job_retries_total')).toEqual(['title 2'])
  expect(said(readings, 'garner_stale_publications_total')).toEqual(['photo 1'])
  expect(said(readings, 'garner_kind_paused')).toEqual(['photo 1'])
})

test('those who ask together share one look at the store; the next one looks again, also after a failure', async () => {
  const store = storeSaying({})
  const { metrics } = scene(store)
  await Promise.all([metrics.store(), metrics.store(), metrics.store()])
  expect(store.looks).toBe(1)
  store.fails = new StoreUnavailable('busy', 'testing')
  await expect(metrics.store()).rejects.toBeInstanceOf(StoreUnavailable)
  store.fails = null
  await metrics.store()
  expect(store.looks).toBe(3)
})

test('who subscribes is told of each observation from then on, until it stops', () => {
  const { clock, metrics } = scene()
  const told: string[] = []
  metrics.ended(claimOf(), 'published')
  const stop = metrics.subscribe({
    ended: (kind, end) => told.push(`${kind} ${end}`),
    active: (kind, change) => told.push(`${kind} ${change}`),
    observed: ({ name }, kind, seconds) => told.push(`${name} ${kind} ${seconds}`),
  })
  const claim = claimOf({ runAtMs: 1_000, claimedAtMs: 1_500 })
  metrics.started(claim)
  clock.advance(20)
  metrics.ended(claim, 'published')
  expect(told).toEqual([
    'title 1',
    'garner_queue_wait_seconds title 0.5',
    'title published',
    'title -1',
    'garner_attempt_duration_seconds title 0.02',
  ])
  stop()
  metrics.ended(claimOf(), 'published')
  expect(told).toHaveLength(5)
})
