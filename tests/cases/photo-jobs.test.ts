import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Described, VisionError } from '../../apps/server/src/outbound/vision.ts'
import { Diary } from '../../apps/server/src/testing/diary.ts'
import { TOAST } from '../../apps/server/src/testing/photos.ts'
import { caseNamed, casesOf } from './photo-cases.ts'

/**
 * The cases of the areas `worker`, `quota` and `account`, and the one of `time` that is about edits: the whole of Garner
 * over real routes, jobs and files, with a model that does as told. Kills of real processes are in
 * tests/system/meals-crash.test.ts.
 */
const TOLD_ELSEWHERE = {
  'quo-once-per-photo': 'photo-estimates.test.ts',
  // What the page says before an upload; what can be done afterwards is told here.
  'quo-shown': 'also in the page',
}
const TOLD = [
  ...['wrk-crash-in-call', 'wrk-delete-during-call', 'wrk-edit-during-call', 'wrk-no-provider'],
  ...['quo-race', 'quo-no-refund-when-billed', 'quo-waiting-not-counted', 'quo-shown'],
  ...['acc-delete-queued', 'acc-delete-in-flight', 'acc-reject-in-flight', 'acc-shared-picture'],
]
const titled = (id: string) => `${id}: ${caseNamed(id).what}`

function file(): string {
  const dir = mkdtempSync(join(tmpdir(), 'garner-cases-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return join(dir, 'garner.db')
}

async function until(isSo: () => boolean) {
  while (!isSo()) await wait(1)
}

/** A photo whose call waits for `gate`. */
async function inCall(diary: Diary) {
  const gate = Promise.withResolvers<Described>()
  diary.vision.script = () => gate.promise
  const id = await diary.log(1)
  const step = await diary.harness.web.garner.worker.step()
  await until(() => diary.vision.calls === 1)
  return { gate, id, step }
}

const deleteAccount = (diary: Diary) =>
  diary.harness.ask('DELETE', '/api/me', { body: { confirm: 'delete' } })

test('every case of these areas is told here or in the file named', () => {
  const ids = casesOf('worker', 'quota', 'account').map(({ id }) => id)
  expect([...new Set([...TOLD, ...Object.keys(TOLD_ELSEWHERE)])].sort()).toEqual(ids.sort())
})

describe('worker', () => {
  test(titled('wrk-crash-in-call'), async () => {
    const diary = await Diary.open({ env: { GARNER_LEASE_S: '1' } })
    diary.vision.script = () => new Promise(() => {})
    const id = await diary.log(1)
    await diary.harness.web.garner.worker.step()
    await until(() => diary.vision.calls === 1)
    // From now on the first worker is heard of no more: its clock stands still.
    diary.harness.web.freeze()
    const next = await diary.harness.process()
    diary.harness.clock.advance(30_000)
    diary.vision.script = () => TOAST
    expect(await next.garner.worker.drain()).toEqual(['degraded'])
    expect(await diary.meals()).toMatchObject([{ id, estimate: 'unknown', has_photo: true }])
    expect(diary.vision.calls).toBe(1)
    diary.harness.web.thaw()
  })

  test(titled('wrk-delete-during-call'), async () => {
    const diary = await Diary.open()
    const { gate, id, step } = await inCall(diary)
    expect((await diary.harness.ask('DELETE', `/api/auto-log/${id}`)).statusCode).toBe(204)
    gate.resolve(TOAST)
    expect(await step.done).toEqual(['stale'])
    await until(() => diary.blobs().length === 0)
    expect([await diary.meals(), await diary.work(), diary.harness.web.errors]).toEqual([[], [], []])
  })

  test(`${titled('wrk-delete-during-call')} (the finished meal, during a new estimate)`, async () => {
    const diary = await Diary.open()
    const id = await diary.log(1)
    await diary.work()
    const gate = Promise.withResolvers<Described>()
    diary.vision.script = () => gate.promise
    await diary.harness.ask('POST', `/api/meals/${id}/estimate`)
    const step = await diary.harness.web.garner.worker.step()
    await until(() => diary.vision.calls === 2)
    expect((await diary.harness.ask('DELETE', `/api/meals/${id}`)).statusCode).toBe(204)
    gate.resolve(TOAST)
    await step.done
    await until(() => diary.blobs().length === 0)
    expect([await diary.meals(), diary.harness.web.errors]).toEqual([[], []])
  })

  test(titled('wrk-edit-during-call'), async () => {
    const diary = await Diary.open()
    const id = await diary.log(1)
    await diary.work()
    const gate = Promise.withResolvers<Described>()
    diary.vision.script = () => gate.promise
    await diary.harness.ask('POST', `/api/meals/${id}/estimate`)
    const step = await diary.harness.web.garner.worker.step()
    await until(() => diary.vision.calls === 2)
    const items = [{ food: 'porridge', nutrients: { energy_kcal: 300 } }]
    const body = { version: 1, description: 'Porridge', items }
    expect((await diary.harness.ask('PATCH', `/api/meals/${id}`, { body })).statusCode).toBe(200)
    gate.resolve(TOAST)
    await step.done
    expect(await diary.meal(id)).toMatchObject({ description: 'Porridge', nutrients: { energy_kcal: 300 } })
  })

  test(titled('wrk-no-provider'), async () => {
    const diary = await Diary.open()
    diary.vision.isConfigured = false
    const id = await diary.log(817)
    await diary.work()
    expect(await diary.meal(id)).toMatchObject({
      ...{ date: '2025-12-31', time: '13:37', description: 'Photo meal — description pending' },
      ...{ estimate: 'none', reason: 'no_provider', has_photo: true },
    })
    const body = {
      version: 1,
      description: 'Soup',
      items: [{ food: 'soup', nutrients: { energy_kcal: 200 } }],
    }
    expect((await diary.harness.ask('PATCH', `/api/meals/${id}`, { body })).statusCode).toBe(200)
    expect([(await diary.pending()).pending, await diary.workLater(), diary.vision.calls]).toEqual([0, [], 0])
  })

  test(titled('tim-hand-correction'), async () => {
    const diary = await Diary.open()
    const { gate, id, step } = await inCall(diary)
    const moved = { date: '2025-12-24', time: '12:30' }
    await diary.harness.ask('PATCH', `/api/meals/${id}`, { body: { version: 0, ...moved } })
    gate.resolve(TOAST)
    await step.done
    expect(await diary.meals()).toMatchObject([{ id, ...moved, estimate: 'estimated' }])
    diary.vision.script = () => TOAST
    await diary.harness.ask('POST', `/api/meals/${id}/estimate`)
    await diary.work()
    expect(await diary.meals()).toMatchObject([{ id, ...moved, version: 2 }])
  })
})

describe('quota', () => {
  test(titled('quo-race'), async () => {
    const diary = await Diary.open({ path: file(), env: { GARNER_AI_DAILY_LIMIT: '5' } })
    diary.vision.script = async () => {
      await wait(1)
      return TOAST
    }
    for (let n = 0; n < 20; n++) await diary.log(n)
    const other = await diary.harness.process()
    await Promise.all([diary.work(), other.garner.worker.drain()])
    const meals = await diary.meals()
    expect([diary.vision.calls, meals.length, (await diary.allowance()).used]).toEqual([5, 20, 5])
    const without = meals.filter(({ reason }: { reason: string }) => reason === 'allowance_exhausted')
    expect(without).toHaveLength(15)
  })

  test(titled('quo-no-refund-when-billed'), async () => {
    const diary = await Diary.open({ env: { GARNER_AI_DAILY_LIMIT: '3' } })
    diary.vision.script = () => ({ outcome: 'unusable', reason: 'declined' })
    for (let n = 0; n < 10; n++) await diary.log(n)
    await diary.work()
    await diary.workLater()
    expect([diary.vision.calls, (await diary.allowance()).used]).toEqual([3, 3])
  })

  test(titled('quo-waiting-not-counted'), async () => {
    const diary = await Diary.open({ env: { GARNER_AI_DAILY_LIMIT: '5', GARNER_MAX_PENDING: '2' } })
    diary.vision.script = () => new Promise(() => {})
    const at = (n: number) => ({ date: '2025-12-31', time: `10:1${n}` })
    const statuses: number[] = []
    for (let n = 0; n < 10; n++) {
      statuses.push((await diary.send(n, at(n))).statusCode)
      await diary.harness.web.garner.worker.step()
    }
    await until(() => diary.vision.calls === 2)
    expect(statuses).toEqual([202, 202, ...Array(8).fill(429)])
    expect((await diary.send(0, at(0))).statusCode).toBe(200)
    expect(await diary.allowance()).toMatchObject({ used: 0, reserved: 2, unknown: 0 })
  })

  test(titled('quo-shown'), async () => {
    const diary = await Diary.open({ env: { GARNER_AI_DAILY_LIMIT: '10' } })
    expect(await diary.allowance()).toMatchObject({ limit: 10, used: 0 })
    for (let n = 0; n < 20; n++) await diary.log(n)
    await diary.work()
    const without = (await diary.meals()).filter(({ estimate }: { estimate: string }) => estimate === 'none')
    expect([without.length, diary.vision.billed]).toEqual([10, 10])
    diary.harness.clock.advance(24 * 3_600_000)
    for (const { id } of without) await diary.harness.ask('POST', `/api/meals/${id}/estimate`)
    await diary.work()
    const estimates = (await diary.meals()).map(({ estimate }: { estimate: string }) => estimate)
    expect(estimates).toEqual(Array(20).fill('estimated'))
  })
})

describe('account', () => {
  test(titled('acc-delete-queued'), async () => {
    const diary = await Diary.open()
    for (let n = 0; n < 10; n++) await diary.log(n)
    expect((await deleteAccount(diary)).statusCode).toBe(204)
    expect(await diary.work()).toEqual([])
    expect([diary.vision.calls, diary.blobs(), diary.left(), diary.harness.web.errors]).toEqual([
      0,
      [],
      [],
      [],
    ])
    for (const table of ['photo_entries', 'meals', 'jobs', 'idempotency'] as const) {
      expect([table, await diary.count(table)]).toEqual([table, 0])
    }
  })

  test(titled('acc-delete-in-flight'), async () => {
    const diary = await Diary.open()
    const { gate, step } = await inCall(diary)
    expect((await deleteAccount(diary)).statusCode).toBe(204)
    gate.resolve(TOAST)
    expect(await step.done).toEqual(['stale'])
    await diary.harness.web.garner.start({ isWorker: true })
    expect(await diary.workLater()).toEqual([])
    expect([
      diary.blobs(),
      await diary.count('photo_entries'),
      await diary.count('meals'),
      await diary.count('jobs'),
    ]).toEqual([...[[], 0, 0, 0]])
  })

  test(titled('acc-reject-in-flight'), async () => {
    const diary = await Diary.open()
    const { gate, step } = await inCall(diary)
    await diary.log(2)
    await diary.harness.ask('POST', '/api/admin/users/alice/reject', { as: 'admin' })
    gate.reject(new VisionError('overloaded'))
    expect(await step.done).toEqual(['discarded'])
    expect(await diary.work()).toEqual(['discarded'])
    await until(() => diary.blobs().length === 0)
    expect([diary.vision.calls, await diary.count('meals')]).toEqual([1, 0])
  })

  test(titled('acc-shared-picture'), async () => {
    const diary = await Diary.open()
    const at = { date: '2025-12-31', time: '10:00' }
    await diary.send(1, at)
    const { id } = (await diary.send(1, at, { as: 'bob' })).json().entry
    await diary.work()
    await deleteAccount(diary)
    const photo = await diary.harness.ask('GET', `/api/photos/${id}`, { as: 'bob' })
    expect([photo.statusCode, photo.headers['content-type']]).toEqual([200, 'image/jpeg'])
  })
})
