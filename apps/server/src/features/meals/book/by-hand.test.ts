import { beforeEach, describe, expect, test } from 'vitest'
import { Book } from '../../../testing/book.ts'

let book: Book
beforeEach(async () => {
  book = await Book.open()
})

const MEAL = { date: '2026-08-10', time: '08:00', description: 'Porridge' }
const post = (body: unknown, headers: Record<string, string> = {}, as: string | null = 'alice') =>
  book.ask('POST', '/api/meals', { body, headers, as })
const patch = (id: string, body: unknown, as = 'alice') => book.ask('PATCH', `/api/meals/${id}`, { body, as })
const meals = async (date = '2026-08-10') => (await book.days(`date=${date}`))[0].meals
const totals = async (date: string) => (await book.days(`date=${date}`))[0].totals
const item = (food: string, energy_kcal: number | null, grams: number | null = null) => ({
  ...{ food, grams, nutrients: { energy_kcal } },
})

describe('a meal by hand', () => {
  test('is answered whole: its totals are the sums of its items', async () => {
    const answer = await post({
      ...MEAL,
      items: [
        { food: ' Oats ', serving: '4 spoons', grams: 40, nutrients: { energy_kcal: 150.1, protein_g: 5 } },
        { food: 'Milk', nutrients: { energy_kcal: 92.2, fat_g: 0 } },
      ],
    })
    expect(answer.statusCode).toBe(201)
    const nothing = { energy_kcal: null, protein_g: null, carbohydrate_g: null, fat_g: null, fiber_g: null }
    expect(answer.json()).toEqual({
      ...{ ...MEAL, id: expect.any(String), is_time_guess: false },
      items: [
        {
          ...{ food: 'Oats', serving: '4 spoons', grams: 40, source: 'hand', basis: null },
          nutrients: { ...nothing, energy_kcal: 150.1, protein_g: 5 },
        },
        {
          ...{ food: 'Milk', serving: '', grams: null, source: 'hand', basis: null },
          nutrients: { ...nothing, energy_kcal: 92.2, fat_g: 0 },
        },
      ],
      nutrients: { ...nothing, energy_kcal: 242.3, protein_g: 5, fat_g: 0 },
      ...{ ai_assisted: false, estimate: 'none', reason: null, is_estimating: false, is_edited: false },
      ...{ has_photo: false, photo_url: null, version: 1 },
    })
    expect(await meals()).toEqual([answer.json()])
    expect(book.told).toBe(1)
  })

  test('an item keeps where it came from and what it is scaled from, where that is said', async () => {
    const nutrients = {
      ...{ energy_kcal: 100, protein_g: null, carbohydrate_g: null, fat_g: null, fiber_g: null },
    }
    const items = [{ ...item('Rice', 50, 50), source: 'table', basis: { grams: 100, nutrients } }]
    expect((await post({ ...MEAL, items })).json().items[0]).toMatchObject({
      ...{ source: 'table', basis: { grams: 100, nutrients } },
    })
  })

  test('of which only the whole is known: its amounts are its one item, so totals stay sums', async () => {
    const nutrients = { energy_kcal: 500 }
    const made = (await post({ ...MEAL, description: `Stew ${'x'.repeat(300)}`, nutrients })).json()
    expect([made.items.length, made.items[0].food.length, made.nutrients.energy_kcal]).toEqual([1, 200, 500])
    const corrected = (
      await patch(made.id, { version: 1, nutrients: { energy_kcal: 450, fat_g: 20 } })
    ).json()
    expect(corrected.nutrients).toMatchObject({ energy_kcal: 450, fat_g: 20, protein_g: null })
    expect(corrected.items).toEqual([
      expect.objectContaining({ nutrients: corrected.nutrients, source: 'hand' }),
    ])
  })

  test('the same key again: the same meal, marked; another meal under it: 409', async () => {
    const key = { 'idempotency-key': 'k1' }
    const first = await post(MEAL, key)
    const again = await post(MEAL, key)
    expect([again.statusCode, again.headers['idempotency-replayed'], again.body]).toEqual([
      201,
      'true',
      first.body,
    ])
    expect((await post({ ...MEAL, time: '09:00' }, key)).statusCode).toBe(409)
    expect(await book.count('meals')).toBe(1)
    await book.ask('DELETE', `/api/meals/${first.json().id}`)
    expect(await book.count('idempotency')).toBe(0)
  })

  test('racing repeats make one meal', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => post(MEAL, { 'idempotency-key': 'k1' })),
    )
    expect(new Set(answers.map((one) => one.body)).size).toBe(1)
    expect(await book.count('meals')).toBe(1)
  })

  test('markup, emoji and right-to-left words are text, byte for byte; what would turn a line around goes', async () => {
    const description = `<script>alert('1')</script> & "שקשוקה" 👩‍🍳🍳`
    await post({ ...MEAL, description, items: [item('<b>Egg</b>', 80)] })
    await post({ ...MEAL, time: '09:00', description: '\u202eevil\u2066 soup\u0000' })
    const [first, second] = await meals()
    expect([first.description, first.items[0].food, second.description]).toEqual([
      ...[description, '<b>Egg</b>', 'evil soup'],
    ])
  })

  test('-0 is 0, and a day ahead is not the future', async () => {
    const body = JSON.stringify({ ...MEAL, date: '2026-08-11' }).replace(
      '}',
      ',"items":[{"food":"x","grams":-0}]}',
    )
    const headers = { 'content-type': 'application/json', 'x-demo-user': 'alice' }
    const answer = await book.app.inject({ method: 'POST', url: '/api/meals', headers, payload: body })
    expect([answer.statusCode, Object.is(answer.json().items[0].grams, 0)]).toEqual([201, true])
  })

  test.each([
    ['no date', { date: undefined }, 'date'],
    ['30 February', { date: '2026-02-30' }, 'date'],
    ['an unpadded date', { date: '2026-8-1' }, 'date'],
    ['a year of five digits', { date: '58552-03-12' }, 'date'],
    ['a date two days ahead', { date: '2026-08-13' }, 'date'],
    ['an empty date', { date: '' }, 'date'],
    ['24:00', { time: '24:00' }, 'time'],
    ['an unpadded time', { time: '8:00' }, 'time'],
    ['seconds', { time: '08:00:00' }, 'time'],
    ['an empty time', { time: '' }, 'time'],
    ['no description', { description: undefined }, 'description'],
    ['a blank description', { description: ' \u200b\u202e ' }, 'description'],
    ['a description of 501 characters', { description: 'x'.repeat(501) }, 'description'],
    ['21 items', { items: Array.from({ length: 21 }, () => item('x', 1)) }, 'items'],
    ['an item without a name', { items: [item('\u200b', 1)] }, 'items.0.food'],
    ['10^308 grams', { items: [item('x', 1, 1e308)] }, 'items.0.grams'],
    ['negative grams', { items: [item('x', 1, -1)] }, 'items.0.grams'],
    ['negative energy', { items: [item('x', -0.01)] }, 'items.0.nutrients.energy_kcal'],
    ['the word NaN', { items: [{ food: 'x', nutrients: { fat_g: 'NaN' } }] }, 'items.0.nutrients.fat_g'],
    ['a number as text', { items: [{ food: 'x', grams: '100' }] }, 'items.0.grams'],
    ['an unknown nutrient', { items: [{ food: 'x', nutrients: { salt_g: 1 } }] }, 'items.0.nutrients.salt_g'],
    ['an unknown field', { ai_assisted: true }, 'ai_assisted'],
    ['a forged owner', { user_id: 'bob' }, 'user_id'],
  ])('%s: 400 naming it, and nothing is stored', async (_name, more, path) => {
    const answer = await post({ ...MEAL, ...more })
    expect(answer.statusCode).toBe(400)
    expect(answer.json().errors.map((one: { path: string }) => one.path)).toContain(path)
    expect([await book.count('meals'), await book.count('diaries')]).toEqual([0, 0])
  })

  test.each([
    ['1e999 (infinite)', '{"food":"x","grams":1e999}'],
    ['NaN outside a text', '{"food":"x","grams":NaN}'],
    ['prototype pollution', '{"food":"x","__proto__":{"grams":1}}'],
  ])('%s: 400', async (_name, one) => {
    const payload = `{"date":"2026-08-10","time":"08:00","description":"x","items":[${one}]}`
    const headers = { 'content-type': 'application/json', 'x-demo-user': 'alice' }
    const answer = await book.app.inject({ method: 'POST', url: '/api/meals', headers, payload })
    expect([answer.statusCode, await book.count('meals')]).toEqual([400, 0])
  })

  test('without credentials: 401', async () => {
    expect((await post(MEAL, {}, null)).statusCode).toBe(401)
  })
})

describe('an edit', () => {
  test('moves a meal to another day: it leaves the one’s totals and joins the other’s, once', async () => {
    const { id } = await book.write({ items: [item('Oats', 150)] })
    const answer = await patch(id, { version: 1, date: '2026-08-01', time: '12:30' })
    expect([answer.statusCode, answer.json()]).toEqual([
      200,
      expect.objectContaining({ date: '2026-08-01', time: '12:30', version: 2, is_edited: true }),
    ])
    expect((await totals('2026-08-10')).energy_kcal).toBeNull()
    expect((await totals('2026-08-01')).energy_kcal).toBe(150)
  })

  test('ai-many-dishes: each item can be corrected or removed, and the total follows', async () => {
    const items = Array.from({ length: 20 }, (_, n) => item(`Dish ${n}`, 10))
    await book.photo({ items: [], nutrients: { energy_kcal: 1 } })
    expect((await patch('photo', { version: 1, items })).json().nutrients.energy_kcal).toBe(200)
    const fewer = [...items.slice(0, 3), item('Dish 3', null)]
    const answer = (await patch('photo', { version: 2, items: fewer })).json()
    expect([answer.items.length, answer.nutrients.energy_kcal, answer.nutrients.fat_g]).toEqual([4, 30, null])
    expect((await patch('photo', { version: 3, items: [] })).json().nutrients.energy_kcal).toBeNull()
  })

  test('of the words leaves the amounts as they are', async () => {
    await book.photo({ nutrients: { energy_kcal: 386 } })
    const answer = (await patch('photo', { version: 1, description: 'Toast' })).json()
    expect(answer).toMatchObject({
      description: 'Toast',
      nutrients: { energy_kcal: 386 },
      estimate: 'estimated',
    })
  })

  test('of a placeholder: moving it still wants an estimate, writing what it was does not', async () => {
    await book.photo({ state: 'placeholder', estimate: 'unknown', reason: 'billing_unknown' })
    const moved = (await patch('photo', { version: 1, time: '13:00' })).json()
    expect([moved.estimate, moved.reason]).toEqual(['unknown', 'billing_unknown'])
    const written = (await patch('photo', { version: 2, description: 'Soup' })).json()
    expect([written.estimate, written.reason]).toEqual(['none', null])
  })

  test('wrk-edit-during-call: writing what it was ends the wait for an estimate, moving it does not', async () => {
    await book.photo()
    await book.db.transaction((tx) => tx.run("UPDATE meals SET job_id = 'an estimate under way'"))
    expect((await meals())[0].is_estimating).toBe(true)
    expect((await patch('photo', { version: 1, time: '13:00' })).json().is_estimating).toBe(true)
    expect((await patch('photo', { version: 2, description: 'Soup' })).json().is_estimating).toBe(false)
  })

  test('a guessed time is one until somebody moves the meal', async () => {
    await book.photo({ isGuess: true })
    expect((await patch('photo', { version: 1, description: 'x' })).json().is_time_guess).toBe(true)
    expect((await patch('photo', { version: 2, time: '12:31' })).json().is_time_guess).toBe(false)
  })

  test('on an old version: 409 with the meal as it is, and nothing changes', async () => {
    const { id } = await book.write()
    const current = (await patch(id, { version: 1, description: 'First' })).json()
    const late = await patch(id, { version: 1, description: 'Second' })
    expect([late.statusCode, late.json().type, late.json().current]).toEqual([
      409,
      'version-conflict',
      current,
    ])
    expect((await patch(id, { version: 3, description: 'Ahead' })).statusCode).toBe(409)
    expect((await meals())[0].description).toBe('First')
  })

  test('ten at once on one version: one goes through', async () => {
    const { id } = await book.write()
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => patch(id, { version: 1, description: `Edit ${n}` })),
    )
    expect(answers.map((one) => one.statusCode).sort()).toEqual([200, ...Array(9).fill(409)])
    expect((await meals())[0].version).toBe(2)
  })

  test.each([
    ['no version', { description: 'x' }, 'version'],
    ['a version as text', { version: '1' }, 'version'],
    ['24:00', { version: 1, time: '24:00' }, 'time'],
    ['29 February of no leap year', { version: 1, date: '2026-02-29' }, 'date'],
    ['a blank description', { version: 1, description: '\n' }, 'description'],
    ['items beside a whole', { version: 1, items: [], nutrients: { energy_kcal: 1 } }, 'nutrients'],
    ['a whole of -1 kcal', { version: 1, nutrients: { energy_kcal: -1 } }, 'nutrients.energy_kcal'],
    ['energy on its own', { version: 1, energy_kcal: 1 }, 'energy_kcal'],
    ['21 items', { version: 1, items: Array.from({ length: 21 }, () => item('x', 1)) }, 'items'],
  ])('%s: 400 naming it, and nothing changes', async (_name, body, path) => {
    const { id } = await book.write()
    const answer = await patch(id, body)
    expect([answer.statusCode, answer.json().errors[0].path]).toEqual([400, path])
    expect((await meals())[0].version).toBe(1)
  })

  test('of nothing: 400, and the meal does not count as changed', async () => {
    const { id } = await book.write()
    expect((await patch(id, { version: 1 })).statusCode).toBe(400)
    expect((await meals())[0]).toMatchObject({ version: 1, is_edited: false })
  })

  test('another person’s meal and a missing one: the same 404', async () => {
    const { id } = await book.write()
    const answers = [
      await patch(id, { version: 1, description: 'Mine now' }, 'bob'),
      await patch(id, { version: 1, description: 'Mine now' }, 'admin'),
      await patch('no-such-meal', { version: 1, description: 'x' }),
    ]
    expect(answers.map((one) => one.statusCode)).toEqual([404, 404, 404])
    expect(new Set(answers.map((one) => one.body)).size).toBe(1)
    expect((await meals())[0].description).toBe('Porridge')
  })

  test('tim-hand-correction: while its photo is being described, day and time can be set, and nothing else', async () => {
    await book.photo({ state: 'waiting', date: '2026-08-09', time: '10:00', isGuess: true })
    const answer = await patch('photo', { version: 1, date: '2026-08-01', time: '12:30' })
    expect([answer.statusCode, answer.json()]).toEqual([
      200,
      { id: 'photo', date: '2026-08-01', time: '12:30', state: 'waiting' },
    ])
    const entry = await book.db.read.get('SELECT date, time, time_source, is_guess FROM photo_entries')
    expect(entry).toEqual({ date: '2026-08-01', time: '12:30', time_source: 'client', is_guess: 0 })
    const early = await patch('photo', { version: 1, description: 'Toast' })
    expect([early.statusCode, early.json().type]).toEqual([409, 'still-waiting'])
    expect((await patch('photo', { version: 1, time: '12:31' }, 'bob')).statusCode).toBe(404)
  })
})

describe('a deletion', () => {
  const del = (id: string, as = 'alice') => book.ask('DELETE', `/api/meals/${id}`, { as })

  test('of a meal by hand: 204, and it is gone; again: 404', async () => {
    const { id } = await book.write()
    expect((await del(id)).statusCode).toBe(204)
    expect(await meals()).toEqual([])
    expect((await del(id)).statusCode).toBe(404)
  })

  test.each(['logged', 'placeholder', 'waiting', 'dead'] as const)(
    'of a photo that is %s takes its job and its picture along, and marks its entry',
    async (state) => {
      await book.photo({ state })
      expect((await del('photo')).statusCode).toBe(204)
      expect([await meals(), book.forgotten]).toEqual([[], ['photo:photo']])
      expect(await book.db.read.get('SELECT is_deleted, blob FROM photo_entries')).toEqual({
        ...{ is_deleted: 1, blob: null },
      })
      expect((await book.ask('GET', '/api/photos/photo')).statusCode).toBe(404)
      await expect.poll(() => book.objects.get('alice/photo')).toBeUndefined()
      expect((await del('photo')).statusCode).toBe(404)
    },
  )

  test('whose job cannot be forgotten deletes nothing, and the picture stays', async () => {
    await book.photo()
    book.store.forget = () => Promise.reject(new Error('no'))
    expect((await del('photo')).statusCode).toBe(500)
    expect(await meals()).toHaveLength(1)
    expect((await book.ask('GET', '/api/photos/photo')).statusCode).toBe(200)
  })

  test.each(['logged', 'waiting'] as const)(
    'of another person’s %s photo: 404, and it stays',
    async (state) => {
      await book.photo({ state })
      for (const as of ['bob', 'admin']) expect((await del('photo', as)).statusCode).toBe(404)
      expect([book.forgotten, await book.objects.get('alice/photo')]).toEqual([[], expect.any(Uint8Array)])
    },
  )
})
