import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { VisionError } from '../../outbound/vision.ts'
import { acceptInserts, refuseInserts } from '../../testing/database.ts'
import { Diary } from '../../testing/diary.ts'
import { TOAST } from '../../testing/photos.ts'
import { CALLS_AT_ONCE } from './describe-photo.ts'

const PLACEHOLDER = 'Photo meal — description pending'

/** In real turns of the event loop: photos are read from disk, and go from there after the answer. */
async function until(isSo: () => boolean) {
  while (!isSo()) await wait(1)
}

const called = (diary: Diary, times = 1) => until(() => diary.vision.calls >= times)

async function finished(diary: Diary) {
  return (await diary.pending()).finished
}

test('a photo becomes the meal of its minute, with words, amounts and its picture; one use, one bill', async () => {
  const diary = await Diary.open()
  const id = await diary.log(817)
  expect(await diary.work()).toEqual(['published'])
  expect(await diary.meal(id)).toMatchObject({
    ...{ date: '2025-12-31', time: '13:37', description: 'Avocado toast with a fried egg' },
    ...{ estimate: 'estimated', reason: null, ai_assisted: true, has_photo: true, version: 1 },
    nutrients: { energy_kcal: 386, protein_g: 14, carbohydrate_g: 31, fat_g: 22, fiber_g: 9 },
  })
  expect(await diary.pending()).toEqual({
    ...{ pending: 0, entries: [], finished: [{ id, state: 'logged', meal_id: id }] },
  })
  expect(await diary.allowance()).toMatchObject({ used: 1, reserved: 0, unknown: 0 })
  expect(await diary.harness.metric('garner_vision_billed_total')).toBe(1)
  expect(await diary.harness.metric('garner_outbound_requests_total{kind="vision",outcome="ok"}')).toBe(1)
  // What is sent is what is stored.
  expect(Buffer.from(diary.vision.photos[0]!).subarray(0, 3).toString('hex')).toBe('ffd8ff')
  expect(diary.harness.web.errors).toEqual([])
})

test('words without amounts are kept: no estimate, and why', async () => {
  const diary = await Diary.open()
  const seen = { description: 'A menu', isFood: false, items: [] }
  diary.vision.script = () => ({ outcome: 'no-amounts', seen, reason: 'not_food' })
  const id = await diary.log(1)
  await diary.work()
  expect(await diary.meal(id)).toMatchObject({
    ...{ description: 'A menu', estimate: 'none', reason: 'not_food', ai_assisted: true },
    nutrients: { energy_kcal: null },
  })
})

test('while they wait, one sees their order, and which is being described', async () => {
  const diary = await Diary.open()
  const gate = Promise.withResolvers<typeof TOAST>()
  diary.vision.script = ({ number }) => (number === 1 ? gate.promise : TOAST)
  const first = await diary.log(1)
  const step = await diary.harness.web.garner.worker.step()
  await called(diary)
  const second = await diary.log(2)
  expect((await diary.pending()).entries).toMatchObject([
    { id: first, state: 'describing', before: 0, attempts: 0, next_try: null, error: null },
    { id: second, state: 'queued', before: 1 },
  ])
  expect(await diary.allowance()).toMatchObject({ used: 0, reserved: 1 })
  gate.resolve(TOAST)
  expect(await step.done).toEqual(['published'])
})

test('a model that hangs holds twenty photos, no more of them, and no titles', async () => {
  const diary = await Diary.open()
  const gate = Promise.withResolvers<typeof TOAST>()
  diary.vision.script = () => gate.promise
  diary.harness.site.rule = () => 'Tomatoes'
  for (let n = 0; n <= CALLS_AT_ONCE.photos; n++) await diary.log(n)
  const saved = await diary.harness.save('https://example.com/tomatoes')
  const step = await diary.harness.web.garner.worker.step()
  expect(step.claimed).toBe(CALLS_AT_ONCE.photos + 1)
  await called(diary, CALLS_AT_ONCE.photos)
  const { entries } = await diary.pending()
  expect(entries.filter(({ state }) => state === 'queued')).toHaveLength(1)
  while ((await diary.harness.link(saved.id)).title !== 'Tomatoes') await wait(1)
  gate.resolve(TOAST)
  await step.done
  expect(await diary.work()).toEqual(['published'])
})

test('no provider: the photo is logged with its time and nothing is counted', async () => {
  const diary = await Diary.open()
  diary.vision.isConfigured = false
  const id = await diary.log(1)
  expect(await diary.work()).toEqual(['degraded'])
  expect(await diary.meal(id)).toMatchObject({
    ...{
      description: PLACEHOLDER,
      estimate: 'none',
      reason: 'no_provider',
      ai_assisted: false,
      has_photo: true,
    },
  })
  expect(await finished(diary)).toEqual([{ id, state: 'placeholder', reason: 'no_provider', meal_id: id }])
  expect([diary.vision.calls, (await diary.allowance()).used]).toEqual([0, 0])
})

test('the allowance is used up: placeholders, no call, nothing counted; tomorrow there is more', async () => {
  const diary = await Diary.open({ env: { GARNER_AI_DAILY_LIMIT: '2' } })
  for (const n of [1, 2, 3, 4]) await diary.log(n)
  const ends = await diary.work()
  expect(ends.sort()).toEqual(['degraded', 'degraded', 'published', 'published'])
  expect(diary.vision.calls).toBe(2)
  expect(await diary.allowance()).toMatchObject({ used: 2, reserved: 0 })
  expect((await finished(diary)).filter(({ reason }) => reason === 'allowance_exhausted')).toHaveLength(2)
  diary.harness.clock.advance(24 * 3_600_000)
  await diary.log(5)
  expect(await diary.work()).toEqual(['published'])
})

test('a provider that fails for ever: three calls, all given back, then the placeholder', async () => {
  const diary = await Diary.open()
  diary.vision.script = () => {
    throw new VisionError('overloaded')
  }
  const id = await diary.log(1)
  expect(await diary.work()).toEqual(['retried'])
  expect((await diary.pending()).entries).toMatchObject([
    {
      id,
      state: 'retrying',
      attempts: 1,
      error: 'overloaded',
      next_try: expect.stringMatching(/^2026-01-01T/),
    },
  ])
  expect(await diary.workLater()).toEqual(['retried'])
  expect(await diary.workLater()).toEqual(['degraded'])
  expect(await diary.workLater()).toEqual([])
  expect([diary.vision.calls, await diary.allowance()]).toMatchObject([
    3,
    { used: 0, reserved: 0, unknown: 0 },
  ])
  expect(await diary.meal(id)).toMatchObject({
    description: PLACEHOLDER,
    estimate: 'none',
    reason: 'overloaded',
  })
  expect(await diary.harness.metric('garner_allowance_refunds_total')).toBe(3)
  expect(await diary.harness.metric('garner_vision_billed_total')).toBe(0)
})

test('a provider that fails twice: the third call is the one that counts', async () => {
  const diary = await Diary.open({ env: { GARNER_AI_DAILY_LIMIT: '1' } })
  diary.vision.script = ({ number }) => {
    if (number < 3) throw new VisionError('rate_limited', { retryAfterMs: 5_000 })
    return TOAST
  }
  const id = await diary.log(1)
  await diary.work()
  await diary.workLater()
  expect(await diary.workLater()).toEqual(['published'])
  expect([diary.vision.billed, (await diary.allowance()).used]).toEqual([1, 1])
  expect((await diary.meal(id)).estimate).toBe('estimated')
  expect(new Set(diary.vision.operations).size).toBe(1)
})

test('what the provider asks for is waited for', async () => {
  const diary = await Diary.open()
  diary.vision.script = () => {
    throw new VisionError('rate_limited', { retryAfterMs: 120_000 })
  }
  await diary.log(1)
  await diary.work()
  expect(await diary.workLater(119_000)).toEqual([])
  expect(await diary.workLater(1_000)).toEqual(['retried'])
})

test('a photo that the provider will never take is not sent again', async () => {
  const diary = await Diary.open()
  diary.vision.script = () => {
    throw new VisionError('request_refused')
  }
  const id = await diary.log(1)
  expect(await diary.work()).toEqual(['degraded'])
  expect((await diary.meal(id)).reason).toBe('request_refused')
  expect([diary.vision.calls, (await diary.allowance()).used]).toEqual([1, 0])
})

test('an answer that cannot be used was billed: counted, not given back, and nobody calls again', async () => {
  const diary = await Diary.open({ env: { GARNER_AI_DAILY_LIMIT: '3' } })
  diary.vision.script = () => ({ outcome: 'unusable', reason: 'declined' })
  for (let n = 0; n < 10; n++) await diary.log(n)
  await diary.work()
  await diary.workLater()
  expect([diary.vision.calls, await diary.allowance()]).toMatchObject([3, { used: 3 }])
  const reasons = (await finished(diary)).map(({ reason }) => reason)
  expect(reasons.filter((reason) => reason === 'declined')).toHaveLength(3)
  expect(reasons.filter((reason) => reason === 'allowance_exhausted')).toHaveLength(7)
  expect(await diary.harness.metric('garner_vision_billed_total')).toBe(3)
})

test('nobody knows whether it was billed: no second call, and the meal says so', async () => {
  const diary = await Diary.open()
  diary.vision.script = () => {
    throw new VisionError('timeout', { billing: 'unknown' })
  }
  const id = await diary.log(1)
  expect(await diary.work()).toEqual(['retried'])
  expect(await diary.workLater()).toEqual(['degraded'])
  expect(await diary.meal(id)).toMatchObject({
    description: PLACEHOLDER,
    estimate: 'unknown',
    reason: 'billing_unknown',
  })
  expect([diary.vision.calls, await diary.allowance()]).toMatchObject([
    1,
    { used: 0, reserved: 0, unknown: 1 },
  ])
})

test('where the operator says so, one more call is made for what nobody knows, and only one', async () => {
  const diary = await Diary.open({ env: { GARNER_BILLING_UNKNOWN: 'retry' } })
  diary.vision.script = () => {
    throw new VisionError('timeout', { billing: 'unknown' })
  }
  const id = await diary.log(1)
  await diary.work()
  for (let n = 0; n < 4; n++) await diary.workLater()
  expect(diary.vision.calls).toBe(2)
  expect((await diary.meal(id)).estimate).toBe('unknown')
  diary.vision.script = ({ number }) => {
    if (number === 3) throw new VisionError('connection_lost', { billing: 'unknown' })
    return TOAST
  }
  const other = await diary.log(2)
  await diary.work()
  await diary.workLater()
  expect([diary.vision.calls, (await diary.meal(other)).estimate]).toEqual([4, 'estimated'])
})

test('a worker that is gone in the middle of a call that has an id: the next one asks by it and pays nothing more', async () => {
  const diary = await Diary.open({ env: { GARNER_LEASE_S: '1' } })
  let isSubmitted = false
  diary.vision.script = async ({ submitted }) => {
    await submitted('resp_1')
    isSubmitted = true
    return new Promise(() => {})
  }
  const id = await diary.log(1)
  await diary.harness.web.garner.worker.step()
  await until(() => isSubmitted)
  diary.vision.onResume = () => {
    throw new VisionError('still_running')
  }
  const next = await diary.harness.process()
  diary.harness.clock.advance(10_000)
  expect(await next.garner.worker.drain()).toEqual(['retried'])
  diary.vision.onResume = () => TOAST
  diary.harness.clock.advance(60_000)
  expect(await next.garner.worker.drain()).toEqual(['published'])
  expect([diary.vision.calls, diary.vision.resumed]).toEqual([1, ['resp_1', 'resp_1']])
  expect(await diary.meal(id)).toMatchObject({ estimate: 'estimated' })
  expect(await diary.allowance()).toMatchObject({ used: 1, reserved: 0, unknown: 0 })
})

test('a call that has failed at the provider after its worker was gone is given back and made anew', async () => {
  const diary = await Diary.open({ env: { GARNER_LEASE_S: '1' } })
  let isSubmitted = false
  diary.vision.script = async ({ submitted }) => {
    await submitted('resp_1')
    isSubmitted = true
    return new Promise(() => {})
  }
  const id = await diary.log(1)
  await diary.harness.web.garner.worker.step()
  await until(() => isSubmitted)
  diary.vision.onResume = () => {
    throw new VisionError('overloaded')
  }
  diary.vision.script = () => TOAST
  const next = await diary.harness.process()
  diary.harness.clock.advance(10_000)
  expect(await next.garner.worker.drain()).toEqual(['retried'])
  expect(await diary.allowance()).toMatchObject({ used: 0, reserved: 0, unknown: 0 })
  diary.harness.clock.advance(3_600_000)
  expect(await next.garner.worker.drain()).toEqual(['published'])
  expect([diary.vision.calls, diary.vision.resumed]).toEqual([2, ['resp_1']])
  expect(await diary.meal(id)).toMatchObject({ estimate: 'estimated' })
  expect(await diary.allowance()).toMatchObject({ used: 1, reserved: 0, unknown: 0 })
})

test('a quota that is used up parks the provider, not the photo: one call an hour, with its reason for the operator', async () => {
  const diary = await Diary.open()
  diary.vision.script = () => {
    throw new VisionError('quota_exceeded')
  }
  const ids = [await diary.log(1), await diary.log(2)]
  await diary.work()
  const calls = diary.vision.calls
  expect(await diary.workLater(59 * 60_000)).toEqual([])
  expect((await diary.pending()).entries).toMatchObject(ids.map((id) => ({ id, error: 'quota_exceeded' })))
  const overview = (await diary.harness.ask('GET', '/api/admin/overview', { as: 'admin' })).json()
  const kind = overview.jobs.kinds.find((one: { kind: string }) => one.kind === 'describe-photo')
  expect(kind.paused).toMatchObject({ reason: 'vision: quota_exceeded', until: expect.any(String) })
  expect([calls, diary.vision.calls, (await diary.allowance()).used]).toEqual([2, 2, 0])
  diary.vision.script = () => TOAST
  await diary.workLater(2 * 60_000)
  expect((await finished(diary)).map(({ state }) => state)).toEqual(['logged', 'logged'])
})

test('whoever puts the key right and starts again need not wait for the hour', async () => {
  const diary = await Diary.open()
  diary.vision.script = () => {
    throw new VisionError('key_refused')
  }
  await diary.log(1)
  await diary.work()
  const { jobs, start } = diary.harness.web.garner
  expect(await jobs.paused()).toHaveLength(2)
  await start({ isWorker: false })
  expect(await jobs.paused()).toHaveLength(2)
  await start({ isWorker: true })
  expect(await jobs.paused()).toEqual([])
})

test.each(['publish.before-commit:fail', 'a table that refuses'] as const)(
  'a save that fails six times (%s): one call, one use, a dead entry with its photo; a repair pays nothing more',
  async (how) => {
    const diary = await Diary.open(how === 'a table that refuses' ? {} : { fault: how })
    const { db } = diary.harness.web
    if (how === 'a table that refuses') await refuseInserts(db, 'meals')
    const id = await diary.log(1)
    expect(await diary.work()).toEqual(['retried'])
    for (const end of ['retried', 'retried', 'retried', 'retried', 'dead']) {
      expect((await diary.pending()).entries).toMatchObject([
        { id, state: 'retrying', error: 'internal_error' },
      ])
      expect(await diary.workLater()).toEqual([end])
    }
    expect(await diary.pending()).toEqual({
      ...{ pending: 0, entries: [], finished: [{ id, state: 'dead', reason: 'internal_error' }] },
    })
    expect([diary.vision.calls, await diary.allowance()]).toMatchObject([1, { used: 1 }])
    expect([diary.blobs(), await diary.meals()]).toEqual([[`alice/${id}`], []])
    const again = await diary.harness.ask('POST', `/api/auto-log/${id}/retry`)
    expect([again.statusCode, again.json()]).toMatchObject([
      202,
      { queued: true, pending: 1, entry: { id, state: 'queued' } },
    ])
    if (how === 'a table that refuses') {
      await acceptInserts(db, 'meals')
      expect(await diary.work()).toEqual(['published'])
      expect(await diary.meal(id)).toMatchObject({ estimate: 'estimated', has_photo: true })
    } else expect(await diary.work()).toEqual(['retried'])
    expect([diary.vision.calls, (await diary.allowance()).used]).toEqual([1, 1])
  },
)

test('a placeholder that cannot be saved is tried again like any save, without a call', async () => {
  const diary = await Diary.open({ fault: 'publish.before-commit:fail@1' })
  diary.vision.script = () => ({ outcome: 'unusable', reason: 'malformed_answer' })
  const id = await diary.log(1)
  expect(await diary.work()).toEqual(['retried'])
  expect(await diary.workLater()).toEqual(['degraded'])
  expect([diary.vision.calls, (await diary.meal(id)).reason]).toEqual([1, 'malformed_answer'])
})

test('failed calls and failed saves are counted apart: two of the one leave all six of the other', async () => {
  const diary = await Diary.open({ fault: 'publish.before-commit:fail' })
  diary.vision.script = ({ number }) => {
    if (number < 3) throw new VisionError('unreachable')
    return TOAST
  }
  await diary.log(1)
  await diary.work()
  const ends: string[] = []
  for (let n = 0; n < 8; n++) ends.push(...(await diary.workLater()))
  expect(ends).toEqual([...Array(6).fill('retried'), 'dead'])
  expect(diary.vision.calls).toBe(3)
})

test('only one’s own dead entry can be tried again, within the bound, and not when the photo is logged by now', async () => {
  const diary = await Diary.open({ fault: 'publish.before-commit:fail', env: { GARNER_MAX_PENDING: '1' } })
  const id = await diary.log(1)
  const retry = (as?: string) => diary.harness.ask('POST', `/api/auto-log/${id}/retry`, as ? { as } : {})
  expect((await retry()).statusCode).toBe(409)
  await diary.work()
  for (let n = 0; n < 5; n++) await diary.workLater()
  expect((await retry('bob')).statusCode).toBe(404)
  await diary.log(2)
  expect((await retry()).statusCode).toBe(429)
  await diary.workLater()
  for (let n = 0; n < 5; n++) await diary.workLater()
  await diary.send(1, { date: '2025-12-30', time: '10:00' })
  expect((await retry()).json()).toMatchObject({ status: 409, type: 'same-photo' })
})

test('the operator’s repair shows the entry waiting again; a discard takes the photo with it', async () => {
  const diary = await Diary.open({ fault: 'publish.before-commit:fail' })
  const ids = [await diary.log(1), await diary.log(2)]
  await diary.work()
  for (let n = 0; n < 5; n++) await diary.workLater()
  const { jobs } = (await diary.harness.ask('GET', '/api/admin/jobs?state=dead', { as: 'admin' })).json()
  expect(jobs).toHaveLength(2)
  const of = (id: string) => jobs.find(({ subject }: { subject: string }) => subject === `photo:${id}`).id
  const [repaired, discarded] = ids.map(of)
  await diary.harness.ask('POST', `/api/admin/jobs/${repaired}/repair`, { as: 'admin' })
  await diary.harness.ask('POST', `/api/admin/jobs/${discarded}/discard`, { as: 'admin' })
  expect(await diary.pending()).toMatchObject({
    ...{ pending: 1, entries: [{ id: ids[0], state: 'queued', attempts: 0 }] },
    finished: [{ id: ids[1], state: 'discarded', reason: 'discarded' }],
  })
  await until(() => diary.blobs().length === 1)
  expect(diary.blobs()).toEqual([`alice/${ids[0]}`])
})

test('a commit that landed and was reported as failed is recognised: one meal, no second call', async () => {
  const diary = await Diary.open({ fault: 'publish.after-commit:land-then-fail@1' })
  const id = await diary.log(1)
  const work = diary.work()
  await called(diary)
  // The publication is said again after a moment, as often as it takes for that moment to have come.
  let isOver = false
  void work.then(() => (isOver = true))
  while (!isOver) {
    await wait(1)
    diary.harness.clock.advance(100)
  }
  expect(await work).toEqual(['published'])
  expect([await diary.meal(id), diary.vision.calls]).toMatchObject([{ version: 1 }, 1])
})

test('rejected while it waits: discarded without a call, its photo gone', async () => {
  const diary = await Diary.open()
  const id = await diary.log(1)
  await diary.harness.ask('POST', '/api/admin/users/alice/reject', { as: 'admin' })
  expect(await diary.work()).toEqual(['discarded'])
  await until(() => diary.blobs().length === 0)
  expect([diary.vision.calls, await diary.count('meals')]).toEqual([0, 0])
  expect((await diary.entries()).map(({ id, state }) => ({ id, state }))).toEqual([
    { id, state: 'discarded' },
  ])
})

test('rejected while the call is under way: the answer changes nothing, its photo is gone', async () => {
  const diary = await Diary.open()
  const gate = Promise.withResolvers<typeof TOAST>()
  diary.vision.script = () => gate.promise
  await diary.log(1)
  const step = await diary.harness.web.garner.worker.step()
  await called(diary)
  await diary.harness.ask('POST', '/api/admin/users/alice/reject', { as: 'admin' })
  gate.resolve(TOAST)
  expect(await step.done).toEqual(['discarded'])
  await until(() => diary.blobs().length === 0)
  expect(await diary.count('meals')).toBe(0)
})

test('deleted while the call is under way: nothing of the person is left, whatever comes back', async () => {
  const diary = await Diary.open()
  const gate = Promise.withResolvers<typeof TOAST>()
  diary.vision.script = () => gate.promise
  await diary.log(1)
  await diary.log(2, 'bob')
  const step = await diary.harness.web.garner.worker.step()
  await called(diary, 2)
  const gone = await diary.harness.ask('DELETE', '/api/me', { body: { confirm: 'delete' } })
  expect(gone.statusCode).toBe(204)
  gate.resolve(TOAST)
  expect((await step.done).sort()).toEqual(['published', 'stale'])
  expect((await diary.entries()).map(({ user_id }) => user_id)).toEqual(['bob'])
  expect(diary.blobs().every((key) => key.startsWith('bob/'))).toBe(true)
  expect([await diary.count('meals'), await diary.count('jobs')]).toEqual([1, 1])
})

test('a photo taken back while it is being described makes no meal', async () => {
  const diary = await Diary.open()
  const gate = Promise.withResolvers<typeof TOAST>()
  diary.vision.script = () => gate.promise
  const id = await diary.log(1)
  const step = await diary.harness.web.garner.worker.step()
  await called(diary)
  expect((await diary.harness.ask('DELETE', `/api/auto-log/${id}`, { as: 'bob' })).statusCode).toBe(404)
  expect((await diary.harness.ask('DELETE', `/api/auto-log/${id}`)).statusCode).toBe(204)
  gate.resolve(TOAST)
  expect(await step.done).toEqual(['stale'])
  expect([await diary.count('meals'), await diary.count('jobs')]).toEqual([0, 0])
  expect(await diary.pending()).toEqual({ pending: 0, entries: [], finished: [] })
  await until(() => diary.blobs().length === 0)
  expect((await diary.harness.ask('DELETE', `/api/auto-log/${id}`)).statusCode).toBe(404)
})

test('moved while it is being described: the meal is where its person says', async () => {
  const diary = await Diary.open()
  const gate = Promise.withResolvers<typeof TOAST>()
  diary.vision.script = () => gate.promise
  const id = await diary.log(1)
  const step = await diary.harness.web.garner.worker.step()
  await called(diary)
  const body = { version: 0, date: '2025-12-24', time: '18:30' }
  expect((await diary.harness.ask('PATCH', `/api/meals/${id}`, { body })).statusCode).toBe(200)
  gate.resolve(TOAST)
  await step.done
  expect(await diary.meal(id)).toMatchObject({ date: '2025-12-24', time: '18:30', estimate: 'estimated' })
})

test('open pages hear of a photo: when it is taken, described and a meal; others do not', async () => {
  const diary = await Diary.open()
  const [mine, others] = [await diary.harness.listen('alice'), await diary.harness.listen('bob')]
  await diary.log(1)
  await diary.harness.pass(300)
  expect(mine.take()).toMatchObject([{ event: 'photo' }, { event: 'meal' }, { event: 'allowance' }])
  await diary.work()
  await diary.harness.pass(300)
  expect(mine.take()).toMatchObject([{ event: 'photo' }, { event: 'meal' }, { event: 'allowance' }])
  expect(others.take()).toEqual([])
})
