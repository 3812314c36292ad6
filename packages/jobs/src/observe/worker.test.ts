import { expect, test } from 'vitest'
import { inMemory } from '../../testing/workplace.ts'
import { Permanent } from '../errors.ts'
import { inspect } from './inspect.ts'
import type { Reading } from './metric.ts'
import { JobMetrics } from './metrics.ts'

/** A real worker on a real store, told through its hooks and looked at through the store. */
function scene() {
  const place = inMemory()
  const metrics = new JobMetrics({ clock: place.clock, store: place.store })
  const worker = place.worker({ onStart: metrics.started, onEnd: metrics.ended })
  return { place, metrics, worker }
}

const lines = (readings: Reading[]) =>
  readings.flatMap((reading) =>
    'samples' in reading
      ? reading.samples.map(({ labels, value }) =>
          [reading.info.name, ...Object.values(labels), value].join(' '),
        )
      : reading.distributions.map(({ labels, count, sum }) =>
          [reading.info.name, ...Object.values(labels), `${sum} s of ${count}`].join(' '),
        ),
  )

test('a job that waited 2 s and took 3 s is measured so, while it runs and when it is done', async () => {
  const { place, metrics, worker } = scene()
  await place.submit()
  place.clock.advance(2_000)
  const { done } = await worker.step()
  await place.settle()
  expect(lines(metrics.attempts())).toEqual([
    'garner_attempts_active title 1',
    'garner_queue_wait_seconds title 2 s of 1',
  ])
  place.clock.advance(3_000)
  place.tries[0]!.answer({})
  await done
  expect(lines(metrics.attempts())).toEqual([
    'garner_attempts_total title published 1',
    'garner_attempts_active title 0',
    'garner_attempt_duration_seconds title 3 s of 1',
    'garner_queue_wait_seconds title 2 s of 1',
  ])
  expect(lines(await metrics.store())).toEqual([
    'garner_jobs title succeeded 1',
    'garner_jobs_finished_total title succeeded 1',
  ])
})

test('a store after a retry, a death and a pause, as an operations page sees it', async () => {
  const { place, worker } = scene()
  const { store } = place
  await place.submit({ id: 'job-a' })
  await place.submit({ id: 'job-b' })
  const { done } = await worker.step()
  await place.settle()
  place.tries[0]!.fail(new Permanent('http_404'))
  place.tries[1]!.fail(new Error('a fault of ours'))
  await done
  await store.transaction((tx) => store.pause(tx, 'photo', { reason: 'provider_down' }))
  const seen = await inspect(store)
  expect(seen.kinds).toMatchObject([
    { kind: 'photo', paused: { reason: 'provider_down', untilMs: null } },
    { kind: 'title', jobs: { dead: 1, ready: 1 }, finished: { dead: 1 }, retries: 1, paused: null },
  ])
  expect(seen.dead).toMatchObject([{ id: 'job-a', lastError: 'http_404', attempt: 1 }])
})
