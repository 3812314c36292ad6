import { beforeEach, describe, expect, test } from 'vitest'
import { Book } from '../../../testing/book.ts'

let book: Book
beforeEach(async () => {
  book = await Book.open()
})

const NOTHING = { energy_kcal: null, protein_g: null, carbohydrate_g: null, fat_g: null, fiber_g: null }
const NO_UNKNOWN = { energy_kcal: 0, protein_g: 0, carbohydrate_g: 0, fat_g: 0, fiber_g: 0 }

describe('GET /api/meals', () => {
  test('?date= answers that day, empty as it may be', async () => {
    expect(await book.days('date=2026-08-10')).toEqual([
      {
        date: '2026-08-10',
        meals: [],
        totals: { ...NOTHING, meals: 0, uncounted: 0, unknown: NO_UNKNOWN, waiting: 0 },
      },
    ])
  })

  test('a photo’s meal and one by hand, in order of time, with everything about them', async () => {
    const estimated = { energy_kcal: 386, protein_g: 14.5, carbohydrate_g: 30, fat_g: 22, fiber_g: 9 }
    const item = {
      ...{ food: 'Avocado', serving: 'half', grams: 90, nutrients: estimated, source: 'model' },
    }
    await book.photo({ time: '12:40', nutrients: estimated, items: [item], isGuess: true })
    await book.write({ time: '07:05', description: 'Coffee' })
    const [{ meals, totals }] = await book.days('date=2026-08-10')
    expect(meals).toEqual([
      expect.objectContaining({ time: '07:05', description: 'Coffee', has_photo: false, photo_url: null }),
      {
        ...{
          id: 'photo',
          date: '2026-08-10',
          time: '12:40',
          is_time_guess: true,
          description: 'Avocado toast',
        },
        items: [{ ...item, basis: null }],
        ...{ nutrients: estimated, ai_assisted: true, estimate: 'estimated', reason: null },
        ...{ is_estimating: false, is_edited: false, has_photo: true, version: 1 },
        photo_url: expect.stringMatching(/^\/api\/photos\/photo\?v=[0-9a-f]{12}$/),
      },
    ])
    expect(totals).toMatchObject({ ...estimated, meals: 2, uncounted: 1 })
  })

  test('a placeholder says why, and is not counted as nothing', async () => {
    await book.photo({ state: 'placeholder', estimate: 'none', reason: 'allowance_exhausted' })
    await book.photo({ id: 'other', state: 'placeholder', estimate: 'unknown', reason: 'billing_unknown' })
    const [{ meals, totals }] = await book.days('date=2026-08-10')
    expect(meals.map((one: { estimate: string; reason: string }) => [one.estimate, one.reason])).toEqual(
      expect.arrayContaining([
        ['none', 'allowance_exhausted'],
        ['unknown', 'billing_unknown'],
      ]),
    )
    expect(totals).toMatchObject({ ...NOTHING, meals: 2, uncounted: 2 })
  })

  test('photos that wait are told beside the totals, and are no meals', async () => {
    await book.photo({ state: 'waiting' })
    await book.photo({ id: 'gone', state: 'dead' })
    const [{ meals, totals }] = await book.days('date=2026-08-10')
    expect([meals.length, totals.waiting, totals.meals]).toEqual([0, 1, 0])
  })

  test('?from=&to= lists every day of the range, in order, also empty ones', async () => {
    await book.write({ date: '2026-08-03' })
    await book.write({ date: '2026-08-01', time: '23:59' })
    await book.write({ date: '2026-07-31' })
    const days = await book.days('from=2026-08-01&to=2026-08-04')
    expect(days.map((day: { date: string; meals: unknown[] }) => [day.date, day.meals.length])).toEqual([
      ['2026-08-01', 1],
      ['2026-08-02', 0],
      ['2026-08-03', 1],
      ['2026-08-04', 0],
    ])
  })

  test('?days=&anchor= is the days that end on the anchor', async () => {
    await book.write({ date: '2026-08-10' })
    await book.write({ date: '2026-07-12' })
    await book.write({ date: '2026-07-11' })
    const days = await book.days('days=30&anchor=2026-08-10')
    expect([days.length, days[0].date, days.at(-1).date]).toEqual([30, '2026-07-12', '2026-08-10'])
    expect(days.filter((day: { meals: unknown[] }) => day.meals.length > 0)).toHaveLength(2)
  })

  test('a leap year is the most', async () => {
    expect(await book.days('days=366&anchor=2026-08-10')).toHaveLength(366)
    expect((await book.ask('GET', '/api/meals?from=2025-01-01&to=2026-01-01')).statusCode).toBe(200)
  })

  test.each([
    ['', 'query'],
    ['date=2026-02-30', 'date'],
    ['date=2026-8-1', 'date'],
    ['date=58552-03-12', 'date'],
    ['date=2026-08-10&from=2026-08-01&to=2026-08-02', 'query'],
    ['from=2026-08-01', 'to'],
    ['to=2026-08-01', 'from'],
    ['from=2026-08-02&to=2026-08-01', 'to'],
    ['from=2025-01-01&to=2026-01-02', 'to'],
    ['days=30', 'anchor'],
    ['anchor=2026-08-01', 'days'],
    ['days=367&anchor=2026-08-01', 'days'],
    ['days=0&anchor=2026-08-01', 'days'],
    ['days=-1&anchor=2026-08-01', 'days'],
    ['days=1e2&anchor=2026-08-01', 'days'],
    ['days=NaN&anchor=2026-08-01', 'days'],
    ['date=2026-08-10&date=2026-08-11', 'date'],
    ['date=2026-08-10&user=bob', 'user'],
  ])('?%s: 400 saying what is wrong', async (query, path) => {
    const answer = await book.ask('GET', `/api/meals?${query}`)
    expect(answer.statusCode).toBe(400)
    const named = answer.json().errors?.map((one: { path: string }) => one.path) ?? ['query']
    expect(named).toContain(path)
  })

  test('shows nobody else’s, and nothing to nobody', async () => {
    await book.write()
    expect((await book.days('date=2026-08-10', 'bob'))[0].meals).toEqual([])
    expect((await book.days('date=2026-08-10', 'admin'))[0].meals).toEqual([])
    expect((await book.ask('GET', '/api/meals?date=2026-08-10', { as: null })).statusCode).toBe(401)
  })

  test('tim-day-not-utc: the day is the one that the camera showed, whatever zone is looking', async () => {
    // Taken 16:09 at -08:00, which is past midnight in UTC.
    await book.photo({ date: '2026-08-01', time: '16:09', nutrients: { energy_kcal: 500 } })
    const [first, second] = await book.days('from=2026-08-01&to=2026-08-02')
    expect([first.meals.length, first.totals.energy_kcal]).toEqual([1, 500])
    expect([second.meals.length, second.totals.energy_kcal]).toEqual([0, null])
  })
})

describe('a diary’s version', () => {
  const get = (as = 'alice', etag?: unknown) =>
    book.ask('GET', '/api/meals?date=2026-08-10', {
      as,
      ...(etag !== undefined && { headers: { 'if-none-match': String(etag) } }),
    })

  test('grows with each change; the same one again is 304', async () => {
    const first = await get()
    expect(first.headers).toMatchObject({ 'cache-control': 'private, no-cache', 'x-garner-version': '0' })
    expect((await get('alice', first.headers.etag)).statusCode).toBe(304)
    const meal = await book.write()
    const second = await get('alice', first.headers.etag)
    expect([second.statusCode, second.json().version]).toEqual([200, 1])
    expect((await get('alice', second.headers.etag)).statusCode).toBe(304)
    await book.ask('PATCH', `/api/meals/${meal.id}`, { body: { version: 1, time: '09:00' } })
    expect((await get('alice', second.headers.etag)).json().version).toBe(2)
    await book.ask('DELETE', `/api/meals/${meal.id}`)
    expect((await get()).json().version).toBe(3)
  })

  test('is of one person: in a shared browser one’s tag is not another’s', async () => {
    const { etag } = (await get('alice')).headers
    expect((await get('bob', etag)).statusCode).toBe(200)
  })
})

describe('the start of the day', () => {
  const dates = async () =>
    (await book.days('from=2026-08-09&to=2026-08-10')).map((day: { meals: { time: string }[] }) =>
      day.meals.map((meal) => meal.time),
    )

  test('a meal after midnight belongs to the evening before, and its own date stays', async () => {
    for (const time of ['01:30', '04:00']) await book.write({ date: '2026-08-10', time })
    await book.write({ date: '2026-08-09', time: '22:00' })
    await book.write({ date: '2026-08-11', time: '03:59' })
    await book.write({ date: '2026-08-09', time: '03:59' })
    expect(await dates()).toEqual([
      ['03:59', '22:00'],
      ['01:30', '04:00'],
    ])
    const before = await book.ask('GET', '/api/meals?date=2026-08-09')
    await book.ask('PUT', '/api/goals', { body: { start_of_day: '04:00' } })
    expect(await dates()).toEqual([
      ['22:00', '01:30'],
      ['04:00', '03:59'],
    ])
    const headers = { 'if-none-match': String(before.headers.etag) }
    const after = await book.ask('GET', '/api/meals?date=2026-08-09', { headers })
    expect(after.json().days[0].meals[1]).toMatchObject({ date: '2026-08-10', time: '01:30' })
  })
})
