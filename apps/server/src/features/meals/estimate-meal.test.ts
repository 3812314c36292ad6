import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type Described, VisionError } from '../../outbound/vision.ts'
import { Diary } from '../../testing/diary.ts'
import { TOAST } from '../../testing/photos.ts'

const SOUP: Described = {
  outcome: 'estimated',
  seen: {
    description: 'Tomato soup with bread',
    isFood: true,
    items: [
      {
        ...{ food: 'tomato soup with bread', serving: '1 bowl', grams: 400 },
        nutrients: { energy_kcal: 250, protein_g: 8, carbohydrate_g: 40, fat_g: 6, fiber_g: 5 },
      },
    ],
  },
}

async function logged(): Promise<{ diary: Diary; id: string }> {
  const diary = await Diary.open()
  const id = await diary.log(1)
  await diary.work()
  diary.vision.script = () => SOUP
  return { diary, id }
}
const estimate = (diary: Diary, id: string, as = 'alice') =>
  diary.harness.ask('POST', `/api/meals/${id}/estimate`, { as })

/** Asks for a new estimate whose call waits for the gate. */
async function underWay() {
  const { diary, id } = await logged()
  const gate = Promise.withResolvers<Described>()
  diary.vision.script = () => gate.promise
  expect((await estimate(diary, id)).statusCode).toBe(202)
  const step = await diary.harness.web.garner.worker.step()
  while (diary.vision.calls < 2) await wait(1)
  return { diary, id, gate, step }
}

test('a new estimate replaces the old one, which stays until then; it is a use of its own', async () => {
  const { diary, id } = await logged()
  const answer = await estimate(diary, id)
  expect([answer.statusCode, answer.json()]).toEqual([
    202,
    { queued: true, meal_id: id, job: { id: expect.any(String) } },
  ])
  expect(await diary.meal(id)).toMatchObject({
    description: 'Avocado toast with a fried egg',
    is_estimating: true,
  })
  expect(await diary.work()).toEqual(['published'])
  expect(await diary.meal(id)).toMatchObject({
    ...{
      description: 'Tomato soup with bread',
      nutrients: { energy_kcal: 250 },
      is_estimating: false,
      version: 2,
    },
    ...{ date: '2025-12-31', has_photo: true },
  })
  expect([diary.vision.calls, (await diary.allowance()).used]).toEqual([2, 2])
  expect(new Set(diary.vision.operations).size).toBe(2)
})

test('a placeholder gets its estimate when its person asks', async () => {
  const diary = await Diary.open()
  diary.vision.script = () => {
    throw new VisionError('overloaded')
  }
  const id = await diary.log(1)
  await diary.work()
  await diary.workLater()
  await diary.workLater()
  expect(await diary.meal(id)).toMatchObject({ estimate: 'none', reason: 'overloaded' })
  diary.vision.script = () => SOUP
  await estimate(diary, id)
  await diary.work()
  expect(await diary.meal(id)).toMatchObject({ estimate: 'estimated', reason: null, ai_assisted: true })
})

test('asking twice while one is under way is one request', async () => {
  const { diary, id, gate, step } = await underWay()
  const again = await estimate(diary, id)
  expect([again.statusCode, again.json().meal_id]).toEqual([202, id])
  gate.resolve(SOUP)
  await step.done
  expect(await diary.work()).toEqual([])
  expect([diary.vision.calls, (await diary.allowance()).used]).toEqual([2, 2])
})

test('the same request under its key is one estimate, also when the first is done', async () => {
  const { diary, id } = await logged()
  const ask = () =>
    diary.harness.ask('POST', `/api/meals/${id}/estimate`, { headers: { 'idempotency-key': 'k1' } })
  const first = await ask()
  await diary.work()
  const second = await ask()
  expect([second.body, second.headers['idempotency-replayed']]).toEqual([first.body, 'true'])
  expect(await diary.work()).toEqual([])
})

test('what its person writes meanwhile stands; the late estimate changes nothing', async () => {
  const { diary, id, gate, step } = await underWay()
  const body = { version: 1, description: 'Porridge', items: [] }
  expect((await diary.harness.ask('PATCH', `/api/meals/${id}`, { body })).statusCode).toBe(200)
  gate.resolve(SOUP)
  expect(await step.done).toEqual(['superseded'])
  expect(await diary.meal(id)).toMatchObject({
    description: 'Porridge',
    is_estimating: false,
    is_edited: true,
  })
})

test('who only moves the meal still gets the words, and the meal stays where it was moved', async () => {
  const { diary, id, gate, step } = await underWay()
  const body = { version: 1, date: '2025-12-24', time: '12:30' }
  expect((await diary.harness.ask('PATCH', `/api/meals/${id}`, { body })).statusCode).toBe(200)
  gate.resolve(SOUP)
  expect(await step.done).toEqual(['published'])
  expect(await diary.meal(id)).toMatchObject({
    ...{ date: '2025-12-24', time: '12:30', description: 'Tomato soup with bread' },
  })
})

test('a meal that is deleted meanwhile does not come back', async () => {
  const { diary, id, gate, step } = await underWay()
  expect((await diary.harness.ask('DELETE', `/api/meals/${id}`)).statusCode).toBe(204)
  gate.resolve(SOUP)
  expect(await step.done).toEqual(['stale'])
  expect([await diary.count('meals'), await diary.count('jobs')]).toEqual([0, 0])
})

test('an estimate that fails leaves the meal as it was', async () => {
  const { diary, id } = await logged()
  const before = await diary.meal(id)
  diary.vision.script = () => {
    throw new VisionError('overloaded')
  }
  await estimate(diary, id)
  expect(await diary.work()).toEqual(['retried'])
  await diary.workLater()
  expect(await diary.workLater()).toEqual(['degraded'])
  expect(await diary.meal(id)).toEqual(before)
  expect([diary.vision.calls, (await diary.allowance()).used]).toEqual([4, 1])
})

test('a placeholder says why there is still no estimate', async () => {
  const diary = await Diary.open({ env: { GARNER_AI_DAILY_LIMIT: '0' } })
  const id = await diary.log(1)
  diary.vision.isConfigured = false
  await diary.work()
  expect((await diary.meal(id)).reason).toBe('no_provider')
  expect((await estimate(diary, id)).json()).toMatchObject({ status: 409, type: 'no-provider' })
})

test('the allowance is used up: the placeholder says so', async () => {
  const diary = await Diary.open({ env: { GARNER_AI_DAILY_LIMIT: '1' } })
  diary.vision.script = () => ({ outcome: 'unusable', reason: 'declined' })
  const id = await diary.log(1)
  await diary.work()
  await estimate(diary, id)
  expect(await diary.work()).toEqual(['degraded'])
  expect(await diary.meal(id)).toMatchObject({
    estimate: 'none',
    reason: 'allowance_exhausted',
    is_estimating: false,
  })
  expect(diary.vision.calls).toBe(1)
})

test('404 for another person’s meal and for none; 400 for a meal without a photo', async () => {
  const { diary, id } = await logged()
  expect((await estimate(diary, id, 'bob')).statusCode).toBe(404)
  expect((await estimate(diary, 'nothing')).statusCode).toBe(404)
  const body = { date: '2025-12-31', time: '08:00', description: 'Porridge' }
  const byHand = (await diary.harness.ask('POST', '/api/meals', { body })).json()
  expect((await estimate(diary, byHand.id)).statusCode).toBe(400)
})

test('a redo of the photo’s own job gives words to an untouched placeholder, and to nothing else', async () => {
  const diary = await Diary.open()
  diary.vision.script = () => {
    throw new VisionError('overloaded')
  }
  const ids = [await diary.log(1), await diary.log(2)]
  await diary.work()
  await diary.workLater()
  await diary.workLater()
  const body = { version: 1, description: 'My own words' }
  await diary.harness.ask('PATCH', `/api/meals/${ids[1]}`, { body })
  diary.vision.script = () => TOAST
  const { jobs } = (await diary.harness.ask('GET', '/api/admin/jobs?state=degraded', { as: 'admin' })).json()
  for (const { id } of jobs) await diary.harness.ask('POST', `/api/admin/jobs/${id}/repair`, { as: 'admin' })
  expect(await diary.work()).toEqual(['published', 'published'])
  expect(await diary.meal(ids[0]!)).toMatchObject({
    description: 'Avocado toast with a fried egg',
    version: 2,
  })
  expect(await diary.meal(ids[1]!)).toMatchObject({ description: 'My own words', version: 2 })
})
