import { beforeEach, describe, expect, test } from 'vitest'
import { Diary } from '../../../testing/diary.ts'
import { plate, TOAST } from '../../../testing/photos.ts'

/** The book beside everything that makes meals of photos: real uploads, real jobs, a vision model that does as told. */
let diary: Diary
beforeEach(async () => {
  diary = await Diary.open()
})

const patch = (id: string, body: object) => diary.harness.ask('PATCH', `/api/meals/${id}`, { body })
const del = (id: string, as = 'alice') => diary.harness.ask('DELETE', `/api/meals/${id}`, { as })
const day = async (date: string) =>
  (await diary.harness.ask('GET', `/api/meals?date=${date}`)).json().days[0] as {
    meals: { id: string; time: string; description: string; version: number }[]
    totals: { energy_kcal: number | null; meals: number; waiting: number }
  }

describe('photos.jsonl', () => {
  test('tim-hand-correction: what a person says while it is described stays, also after another estimate', async () => {
    const sent = await diary.send(1, { date: '2025-12-30', time: '10:00' })
    const { id } = sent.json().entry
    diary.vision.script = async () => {
      expect((await patch(id, { version: 1, date: '2025-12-20', time: '12:30' })).statusCode).toBe(200)
      expect((await day('2025-12-20')).totals).toMatchObject({ meals: 0, waiting: 1 })
      return TOAST
    }
    await diary.work()
    diary.vision.script = () => TOAST
    const [meal] = (await day('2025-12-20')).meals
    expect(meal).toMatchObject({ id, time: '12:30', description: 'Avocado toast with a fried egg' })
    const again = await diary.harness.ask('POST', `/api/meals/${id}/estimate`)
    expect(again.statusCode).toBe(202)
    await diary.work()
    expect((await day('2025-12-20')).meals).toEqual([expect.objectContaining({ id, time: '12:30' })])
    expect((await day('2025-12-20')).totals.energy_kcal).toBeGreaterThan(0)
    expect((await day('2025-12-30')).totals).toMatchObject({ meals: 0, waiting: 0, energy_kcal: null })
    expect(diary.vision.billed).toBe(2)
  })

  test('wrk-edit-during-call: the edit stands, the late estimate is not applied over it', async () => {
    const id = await diary.log(1)
    await diary.work()
    await diary.harness.ask('POST', `/api/meals/${id}/estimate`)
    const items = [{ food: 'Soup', nutrients: { energy_kcal: 120 } }]
    diary.vision.script = async () => {
      const { version } = await diary.meal(id)
      expect((await patch(id, { version, description: 'Soup', items })).statusCode).toBe(200)
      return TOAST
    }
    await diary.work()
    expect(await diary.meal(id)).toMatchObject({
      ...{ description: 'Soup', is_edited: true, is_estimating: false },
      nutrients: expect.objectContaining({ energy_kcal: 120 }),
    })
  })

  test.each(['while it is described', 'after it was'])(
    'dup-after-delete, wrk-delete-during-call: a meal deleted %s does not come back, and its photo may be logged anew',
    async (when) => {
      const id = await diary.log(1)
      if (when === 'after it was') {
        await diary.work()
        expect((await del(id)).statusCode).toBe(204)
      } else {
        diary.vision.script = async () => {
          expect((await del(id)).statusCode).toBe(204)
          return TOAST
        }
        await diary.work()
        diary.vision.script = () => TOAST
      }
      await diary.workLater()
      expect([await diary.meals(), (await diary.pending()).pending]).toEqual([[], 0])
      await expect.poll(() => diary.blobs()).toEqual([])
      const again = await diary.log(1)
      expect(again).not.toBe(id)
      await diary.work()
      expect((await diary.meals()).map((meal: { id: string }) => meal.id)).toEqual([again])
    },
  )

  test('acc-shared-picture: alice and bob log the same bytes; alice’s account goes, and bob’s photo stays', async () => {
    const photo = await plate(7)
    const fields = { date: '2025-12-31', time: '12:00' }
    const bobs = (await diary.send(photo, fields, { as: 'bob' })).json().entry.id
    await diary.send(photo, fields)
    await diary.work()
    const deleted = await diary.harness.ask('DELETE', '/api/me', { body: { confirm: 'delete' } })
    expect(deleted.statusCode).toBeLessThan(300)
    expect(diary.blobs()).toEqual([`bob/${bobs}`])
    const answer = await diary.harness.ask('GET', (await diary.meal(bobs, 'bob')).photo_url, { as: 'bob' })
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'image/jpeg'])
  })
})

test('the photo is there under one address from the upload to the meal', async () => {
  const id = await diary.log(3)
  const waiting = await diary.harness.ask('GET', `/api/photos/${id}`)
  await diary.work()
  const { photo_url } = await diary.meal(id)
  const logged = await diary.harness.ask('GET', photo_url)
  expect([waiting.statusCode, logged.statusCode]).toEqual([200, 200])
  expect(logged.rawPayload.equals(waiting.rawPayload)).toBe(true)
  expect(logged.headers.etag).toBe(waiting.headers.etag)
})

test('a share shows a photo’s meal once it is one, and its account’s end is the share’s', async () => {
  const id = await diary.log(4)
  const body = { expires_at: new Date(diary.harness.clock.nowMs() + 3_600_000).toISOString() }
  const { path } = (await diary.harness.ask('POST', '/api/shares', { body })).json()
  const open = (url: string) =>
    diary.harness.ask('GET', url, { as: null, headers: { accept: 'application/json' } })
  expect((await open(path)).json().days).toEqual([])
  await diary.work()
  const [shown] = (await open(path)).json().days[0].meals
  expect(shown.description).toBe('Avocado toast with a fried egg')
  expect((await open(shown.photo_url)).headers['content-type']).toBe('image/jpeg')
  expect((await open(`${path}/photos/${id}`)).statusCode).toBe(200)
  await diary.harness.ask('DELETE', '/api/me', { body: { confirm: 'delete' } })
  expect([(await open(path)).statusCode, (await open(shown.photo_url)).statusCode]).toEqual([404, 404])
})
