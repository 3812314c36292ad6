import { expect, test } from 'vitest'
import { inMemory, POLL_MS } from '../testing/workplace.ts'
import { PayloadRejected } from './errors.ts'
import type { Job } from './job.ts'
import { Jobs } from './jobs.ts'
import { defineKind } from './kind.ts'
import type { MemoryTransaction } from './memory/store.ts'
import type { PayloadSchema } from './schema.ts'
import { watch } from './watch.ts'

/** A schema as any Standard Schema library makes one, with a default. */
const photo: PayloadSchema<{ photo: string; quality: number }> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate(value) {
      const { photo, quality = 85 } = value as { photo?: unknown; quality?: number }
      if (typeof photo === 'string') return { value: { photo, quality } }
      return { issues: [{ message: 'is not a string', path: [{ key: 'photo' }] }] }
    },
  },
}

function shop() {
  const place = inMemory()
  let count = 0
  const jobs = new Jobs<MemoryTransaction>({
    store: place.store,
    ids: () => `id-${String(++count).padStart(3, '0')}`,
  })
  const kind = defineKind<MemoryTransaction, { photo: string; quality: number }>({
    ...place.kind(),
    payload: photo,
    handle: async ({ payload }) => ({ result: payload.quality }),
  })
  return { place, jobs, kind }
}

test('a payload is checked before anything is stored, and again before it is handled', async () => {
  const { place, jobs, kind } = shop()
  const bad = { tenant: 'alice', payload: { photo: 7 } as never }
  await expect(async () => jobs.accept(kind, bad)).rejects.toThrow(PayloadRejected)
  await expect(async () => jobs.accept(kind, bad)).rejects.toThrow('photo is not a string')
  expect(await place.store.counts()).toEqual([])

  await jobs.accept(kind, { tenant: 'alice', payload: { photo: 'a.jpg' } as never })
  await place.submit({ payload: { photo: null } }) // as an older program left it
  const worker = place.worker({ kinds: [kind] })
  expect((await worker.drain()).sort()).toEqual(['dead', 'published'])
  expect((await place.job('id-003')).result).toBe(85)
  expect((await place.job('job-0001')).lastError).toBe('payload_rejected')
})

test('one by one, many, in the caller’s transaction or in one of their own', async () => {
  const { place, jobs, kind } = shop()
  const one = { tenant: 'alice', payload: { photo: 'a.jpg', quality: 1 } }
  await place.store.transaction(async (tx) => {
    await jobs.submit(tx, kind, one)
    await jobs.submitMany(tx, kind, [one, one])
  })
  await jobs.accept(kind, one)
  await jobs.acceptMany(kind, [one, { ...one, deadlineMs: 5 }])
  const all = await place.store.list({ limit: 10 })
  expect(all.map(({ id }) => id)).toEqual(['id-006', 'id-005', 'id-004', 'id-003', 'id-002', 'id-001'])
  expect(all[0]!.deadlineAtMs - all[0]!.submittedAtMs).toBe(5)
  expect(all[1]!.deadlineAtMs - all[1]!.submittedAtMs).toBe(kind.policy.deadlineMs)
})

test('a schedule has its payload checked, too', async () => {
  const { place, jobs, kind } = shop()
  const nightly = { name: 'nightly', tenant: 'alice', cron: '0 3 * * *', payload: { photo: 'a', quality: 1 } }
  await place.store.transaction((tx) => jobs.schedule(tx, kind, nightly))
  expect(await place.store.schedules()).toMatchObject([{ name: 'nightly', kind: 'title' }])
  const bad = { ...nightly, payload: {} as never }
  await expect(async () =>
    place.store.transaction(async (tx) => jobs.schedule(tx, kind, bad)),
  ).rejects.toThrow(PayloadRejected)
})

test('watching a job shows its states and its progress, and ends with it', async () => {
  const place = inMemory()
  await place.submit()
  const kind = place.kind({
    handle: async (attempt) => {
      await attempt.progress({ done: 1, of: 2 })
      await gate.promise
      return { result: 'done' }
    },
  })
  const gate = Promise.withResolvers<void>()
  const seen: Job[] = []
  const watching = (async () => {
    for await (const job of watch(place.store, 'job-0001', { clock: place.clock, pollMs: POLL_MS }))
      seen.push(job)
  })()
  await place.settle()
  const step = await place.worker({ kinds: [kind] }).step()
  await place.pass(POLL_MS)
  gate.resolve()
  await step.done
  await place.pass(POLL_MS)
  await watching
  expect(seen.map(({ state, progress }) => [state, progress])).toEqual([
    ['ready', null],
    ['running', { done: 1, of: 2 }],
    ['succeeded', { done: 1, of: 2 }],
  ])
})

test('watching a job that is not there ends at once', async () => {
  const place = inMemory()
  for await (const _ of watch(place.store, 'nobody', { clock: place.clock, pollMs: POLL_MS })) {
    throw new Error('There is nothing to see.')
  }
})
