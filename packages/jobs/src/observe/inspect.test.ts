import { StoreUnavailable } from '@garner/db'
import { expect, test } from 'vitest'
import { inspect } from './inspect.ts'
import { jobOf, storeSaying } from './testing/census.ts'

const dead = (n: number) => jobOf({ id: `dead-${n}`, state: 'dead', lastError: 'http_404', finishedAtMs: n })

test('one call says what there is of each kind, what became of it, and what is paused', async () => {
  const store = storeSaying({
    counts: [
      { kind: 'title', state: 'ready', count: 3, oldestDueMs: 1_500 },
      { kind: 'title', state: 'dead', count: 1, oldestDueMs: null },
    ],
    totals: [
      { kind: 'title', name: 'finished:succeeded', value: 7 },
      { kind: 'title', name: 'finished:dead', value: 1 },
      { kind: 'title', name: 'retries', value: 2 },
      { kind: 'photo', name: 'stale_publications', value: 4 },
    ],
    paused: [{ kind: 'mail', reason: 'provider_down', sinceMs: 1, untilMs: 9 }],
  })
  const rest = { oldestDueMs: null, finished: {}, retries: 0, stalePublications: 0, paused: null }
  expect((await inspect(store)).kinds).toEqual([
    { ...rest, kind: 'mail', jobs: {}, paused: { reason: 'provider_down', sinceMs: 1, untilMs: 9 } },
    { ...rest, kind: 'photo', jobs: {}, stalePublications: 4 },
    {
      ...rest,
      ...{ kind: 'title', jobs: { ready: 3, dead: 1 }, oldestDueMs: 1_500 },
      ...{ finished: { succeeded: 7, dead: 1 }, retries: 2 },
    },
  ])
})

test('the newest dead jobs are shown, and whether there are more', async () => {
  const two = storeSaying({ jobs: [dead(2), dead(1)] })
  expect(await inspect(two, { deadMax: 2 })).toMatchObject({
    dead: [{ id: 'dead-2', lastError: 'http_404', finishedAtMs: 2 }, { id: 'dead-1' }],
    hasMoreDead: false,
  })
  const three = storeSaying({ jobs: [dead(3), jobOf({ state: 'ready' }), dead(2), dead(1)] })
  const shown = await inspect(three, { deadMax: 2 })
  expect([shown.dead.map((job) => job.id), shown.hasMoreDead]).toEqual([['dead-3', 'dead-2'], true])
})

test('schedules are shown with their next instant', async () => {
  const store = storeSaying({
    schedules: [
      {
        ...{ name: 'nightly', kind: 'digest', tenant: 'all', payload: { secret: 'S3' }, deadlineMs: 1 },
        ...{ cron: '0 3 * * *', zone: 'UTC', missed: 'once', nextAtMs: 99, lastFiredAtMs: null },
      },
    ],
  })
  expect((await inspect(store)).schedules).toMatchObject([
    { name: 'nightly', nextAtMs: 99, lastFiredAtMs: null },
  ])
})

test('no payload, no result and no progress is in it: the page may be logged', async () => {
  const contents = { payload: { secret: 'S1' }, result: { secret: 'S2' }, progress: { secret: 'S4' } }
  const store = storeSaying({
    jobs: [{ ...dead(1), ...contents }],
    schedules: [
      {
        ...{ name: 'nightly', kind: 'digest', tenant: 'all', payload: { secret: 'S3' }, deadlineMs: 1 },
        ...{ cron: '0 3 * * *', zone: 'UTC', missed: 'once', nextAtMs: 99, lastFiredAtMs: null },
      },
    ],
  })
  expect(JSON.stringify(await inspect(store))).not.toContain('secret')
})

test('a store that is away is not an empty one', async () => {
  const store = storeSaying({})
  store.fails = new StoreUnavailable('busy', 'testing')
  await expect(inspect(store)).rejects.toBeInstanceOf(StoreUnavailable)
})
