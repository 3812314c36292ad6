import { createHash } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { Book } from '../../../testing/book.ts'
import type { CreatedShare } from './schemas.ts'

let book: Book
beforeEach(async () => {
  book = await Book.open()
})

const IN_A_MONTH = '2026-09-10T12:00:00Z'
const post = (body: unknown, headers: Record<string, string> = {}, as: string | null = 'alice') =>
  book.ask('POST', '/api/shares', { body, headers, as })
const share = async (body: object = {}, as = 'alice'): Promise<CreatedShare> =>
  (await post({ expires_at: IN_A_MONTH, ...body }, {}, as)).json()
const list = async (as = 'alice') => (await book.ask('GET', '/api/shares', { as })).json().shares

/** As somebody without an account. */
const open = (path: string, headers: Record<string, string> = {}) =>
  book.ask('GET', path, {
    as: null,
    headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', ...headers },
  })
const data = (path: string) => open(path, { accept: 'application/json' })
const shown = async (path: string) =>
  (await data(path))
    .json()
    .days.map((day: { date: string; meals: { description: string }[] }) => [
      day.date,
      ...day.meals.map((meal) => meal.description),
    ])

describe('a share', () => {
  test('is answered with its token, once; what is kept is the token’s SHA-256', async () => {
    const answer = await post({
      name: ' Dr. Keller ',
      from: '2026-08-01',
      expires_at: '2026-09-10T14:00:00+02:00',
    })
    expect([answer.statusCode, answer.headers['cache-control']]).toEqual([201, 'no-store'])
    const { token, path, ...made } = answer.json() as CreatedShare
    expect(made).toEqual({
      ...{ id: expect.any(String), name: 'Dr. Keller', from: '2026-08-01', to: null, photos: true },
      expires_at: '2026-09-10T12:00:00.000Z',
      created_at: '2026-08-10T12:00:00.000Z',
      ...{ views: 0, last_view_at: null },
    })
    expect([token, path]).toEqual([expect.stringMatching(/^[\w-]{43}$/), `/s/${token}`])
    expect(await list()).toEqual([made])
    const row = await book.db.read.get<{ hash: string }>('SELECT * FROM shares')
    expect(row!.hash).toBe(createHash('sha256').update(token).digest('hex'))
  })

  test('a database that is stolen opens no link: nothing in it holds the token, nor does the hash open one', async () => {
    const answer = await post({ expires_at: IN_A_MONTH }, { 'idempotency-key': 'k1' })
    const { token } = answer.json()
    const again = await post({ expires_at: IN_A_MONTH }, { 'idempotency-key': 'k1' })
    expect([again.body, again.headers['idempotency-replayed']]).toEqual([answer.body, 'true'])
    const rows = [
      ...(await book.db.read.all('SELECT * FROM shares')),
      ...(await book.db.read.all('SELECT * FROM idempotency')),
    ]
    expect(rows).toHaveLength(2)
    expect(JSON.stringify(rows)).not.toContain(token)
    expect((await open(`/s/${(rows[0] as { hash: string }).hash}`)).statusCode).toBe(404)
    expect(book.log.join()).not.toContain(token)
  })

  test.each([
    ['an end that is past', { expires_at: '2026-08-10T11:59:59Z' }, 'expires_at'],
    ['an end in more than a year', { expires_at: '2027-08-12T12:00:00Z' }, 'expires_at'],
    ['an end without an offset', { expires_at: '2026-09-10T12:00:00' }, 'expires_at'],
    ['an end on 30 February', { expires_at: '2027-02-30T12:00:00Z' }, 'expires_at'],
    ['an end at 25:00', { expires_at: '2026-09-10T25:00:00Z' }, 'expires_at'],
    ['a first day that is none', { from: '2026-02-30' }, 'from'],
    ['a last day that is unpadded', { to: '2026-9-1' }, 'to'],
    ['a last day before the first', { from: '2026-08-02', to: '2026-08-01' }, 'to'],
    ['an unknown field', { user_id: 'bob' }, 'user_id'],
  ])('%s: 400 naming it, and there is no link', async (_name, body, path) => {
    const answer = await post({ expires_at: IN_A_MONTH, ...body })
    expect([answer.statusCode, answer.json().errors[0].path]).toEqual([400, path])
    expect(await book.count('shares')).toBe(0)
  })

  test('without an end it lasts a month', async () => {
    expect((await post({})).json().expires_at).toBe('2026-09-09T12:00:00.000Z')
  })

  test('50 links that are live are the most; one that was stopped makes room', async () => {
    const first = await share()
    const rest = await Promise.all(Array.from({ length: 55 }, () => post({ expires_at: IN_A_MONTH })))
    expect(rest.filter((one) => one.statusCode === 201)).toHaveLength(49)
    expect(rest.find((one) => one.statusCode !== 201)!.json().type).toBe('too-many-shares')
    await book.ask('DELETE', `/api/shares/${first.id}`)
    expect((await post({ expires_at: IN_A_MONTH })).statusCode).toBe(201)
  })

  test('is listed and stopped by its owner alone', async () => {
    const { id, path } = await share()
    expect(await list('bob')).toEqual([])
    expect((await book.ask('DELETE', `/api/shares/${id}`, { as: 'bob' })).statusCode).toBe(404)
    expect((await open(path)).statusCode).toBe(200)
    expect((await book.ask('DELETE', `/api/shares/${id}`)).statusCode).toBe(204)
    expect((await open(path)).statusCode).toBe(404)
    expect((await post({ expires_at: IN_A_MONTH }, {}, null)).statusCode).toBe(401)
  })
})

describe('GET /s/:token', () => {
  test('shows the days of its range, newest first, and how often it was opened', async () => {
    for (const date of ['2026-07-31', '2026-08-01', '2026-08-05', '2026-08-06']) {
      await book.write({ date, description: `of ${date}` })
    }
    await book.write({ date: '2026-08-01', time: '07:00', description: 'earlier' })
    const { path } = await share({ from: '2026-08-01', to: '2026-08-05' })
    expect(await shown(path)).toEqual([
      ['2026-08-05', 'of 2026-08-05'],
      ['2026-08-01', 'earlier', 'of 2026-08-01'],
    ])
    await open(path)
    expect(await list()).toEqual([
      expect.objectContaining({ views: 2, last_view_at: '2026-08-10T12:00:00.000Z' }),
    ])
    await book.ask('HEAD', path, { as: null })
    expect((await list())[0].views).toBe(2)
  })

  test('days begin where their owner’s do', async () => {
    await book.ask('PUT', '/api/goals', { body: { start_of_day: '04:00' } })
    await book.write({ date: '2026-08-06', time: '01:00', description: 'late' })
    await book.write({ date: '2026-08-05', time: '03:00', description: 'the night before' })
    const { path } = await share({ from: '2026-08-05', to: '2026-08-05' })
    expect(await shown(path)).toEqual([['2026-08-05', 'late']])
  })

  test('a meal that was moved out or deleted is gone at once, one moved in is there', async () => {
    const [moved, deleted, comes] = [
      await book.write({ date: '2026-08-02', description: 'moved' }),
      await book.write({ date: '2026-08-02', description: 'deleted' }),
      await book.write({ date: '2026-07-02', description: 'comes' }),
    ]
    const { path } = await share({ from: '2026-08-01' })
    expect((await shown(path))[0]).toHaveLength(3)
    await book.ask('PATCH', `/api/meals/${moved.id}`, { body: { version: 1, date: '2026-07-02' } })
    await book.ask('DELETE', `/api/meals/${deleted.id}`)
    await book.ask('PATCH', `/api/meals/${comes.id}`, { body: { version: 1, date: '2026-08-03' } })
    expect(await shown(path)).toEqual([['2026-08-03', 'comes']])
  })

  test('a month of days a page, and a way to the days before', async () => {
    for (let day = 1; day <= 31; day++) {
      await book.write({ date: `2026-07-${String(day).padStart(2, '0')}` })
    }
    await book.write({ date: '2026-08-10' })
    const { path } = await share()
    const first = (await data(path)).json()
    expect([first.days.length, first.days[0].date, first.before]).toEqual([31, '2026-08-10', '2026-07-02'])
    expect((await open(path)).body).toContain('href="?before=2026-07-02"')
    const second = (await data(`${path}?before=${first.before}`)).json()
    expect([second.days.map((day: { date: string }) => day.date), second.before]).toEqual([
      ['2026-07-01'],
      null,
    ])
    expect((await data(`${path}?before=2026-02-30`)).statusCode).toBe(400)
  })

  test('more than 500 meals: each is on one page, and days are not cut in two', async () => {
    await book.db.transaction(async (tx) => {
      for (let n = 0; n < 600; n++) {
        await tx.run(
          `INSERT INTO meals (id, user_id, date, time, description, items, estimate, ai_assisted, is_edited, version,
             created_at_ms, changed_at_ms) VALUES (?, 'alice', ?, '12:00', ?, '[]', 'none', 0, 0, 1, 0, 0)`,
          ...[`m${n}`, `2026-07-0${1 + (n % 3)}`, `meal ${n}`],
        )
      }
    })
    const { path } = await share()
    const first = (await data(path)).json()
    const second = (await data(`${path}?before=${first.before}`)).json()
    const counts = [...first.days, ...second.days].map((day) => [day.date, day.meals.length])
    expect(counts).toEqual([
      ['2026-07-03', 200],
      ['2026-07-02', 200],
      ['2026-07-01', 200],
    ])
  })

  test('tells nothing that is not for others: no version, no reason, not for whom the link is', async () => {
    await book.photo({ state: 'placeholder', estimate: 'none', reason: 'allowance_exhausted' })
    const { path, id } = await share({ name: 'My annoying doctor' })
    const answers = [(await data(path)).body, (await open(path)).body].join()
    for (const word of ['allowance_exhausted', 'annoying', 'version', id, 'alice/photo']) {
      expect(answers).not.toContain(word)
    }
    expect(answers).toContain('Alice')
  })

  test('is a page without scripts that nobody caches, indexes, frames or learns the address of', async () => {
    await book.photo({ nutrients: { energy_kcal: 386.4, protein_g: 2.25 }, isGuess: true })
    const { path } = await share()
    const answer = await open(path)
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect(answer.headers).toMatchObject({
      'cache-control': 'private, no-store',
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex, nofollow',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
    })
    expect(answer.body).not.toMatch(/<script|<link|<form|<iframe| on\w+=|javascript:|https?:\/\//)
    expect(answer.body).toContain('386 kcal')
    expect(answer.body).toContain('2.3 g')
    expect(answer.body).toMatch(/Monday,? 10 August 2026/)
    // The one style is the one that the page allows.
    const style = /<style>(.*)<\/style>/s.exec(answer.body)![1]!
    const hash = createHash('sha256').update(style).digest('base64')
    expect(answer.headers['content-security-policy']).toContain(`style-src 'sha256-${hash}'`)
  })

  test('kJ where its owner counts so', async () => {
    await book.write({ items: [{ food: 'Oats', nutrients: { energy_kcal: 100 } }] })
    await book.ask('PUT', '/api/goals', { body: { energy_unit: 'kJ' } })
    const { path } = await share()
    expect((await open(path)).body).toContain('418 kJ')
  })

  test('what people write is text on the page, whatever it looks like', async () => {
    const evil = `"><script>alert('1')</script><img src=x onerror=alert(2)>`
    await book.write({ description: evil, items: [{ food: evil, serving: evil }] })
    await book.db.transaction((tx) => tx.run('UPDATE users SET name = ? WHERE id = ?', evil, 'alice'))
    const { path } = await share()
    const { body } = await open(path)
    expect(body).not.toMatch(/<script|<img/)
    expect(body.split('&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;')).toHaveLength(6)
    expect((await data(path)).json().days[0].meals[0].description).toBe(evil)
  })
})

describe('photos of a share', () => {
  test('are those of its days, of its owner, as long as it is live', async () => {
    await book.photo({ id: 'in', date: '2026-08-02' })
    await book.photo({ id: 'out', date: '2026-07-31' })
    await book.photo({ id: 'waits', date: '2026-08-02', state: 'waiting' })
    await book.photo({ id: 'bobs', userId: 'bob', date: '2026-08-02' })
    const { path, id } = await share({ from: '2026-08-01' })
    const [meal] = (await data(path)).json().days[0].meals
    expect(meal).toMatchObject({ has_photo: true, photo_url: `${path}/photos/in` })
    const photo = await open(meal.photo_url)
    expect([photo.statusCode, photo.headers['content-type'], photo.body]).toEqual([
      ...[200, 'image/jpeg', 'the picture of alice/in'],
    ])
    expect(photo.headers).toMatchObject({
      'cache-control': 'private, no-store',
      'x-robots-tag': 'noindex, nofollow',
    })
    for (const other of ['out', 'waits', 'bobs', 'none', '']) {
      expect((await open(`${path}/photos/${other}`)).statusCode).toBe(404)
    }
    expect((await list())[0].views).toBe(1)
    await book.ask('PATCH', '/api/meals/in', { body: { version: 1, date: '2026-07-01' } })
    expect((await open(meal.photo_url)).statusCode).toBe(404)
    await book.ask('PATCH', '/api/meals/in', { body: { version: 2, date: '2026-08-03' } })
    await book.ask('DELETE', `/api/shares/${id}`)
    expect((await open(meal.photo_url)).statusCode).toBe(404)
  })

  test('are left out where they are not shared, and not to be had by their address either', async () => {
    await book.photo()
    const { path } = await share({ photos: false })
    const [meal] = (await data(path)).json().days[0].meals
    expect([meal.has_photo, meal.photo_url]).toEqual([false, null])
    expect((await open(path)).body).not.toContain('<img')
    expect((await open(`${path}/photos/photo`)).statusCode).toBe(404)
  })
})

describe('tokens that open nothing', () => {
  test('cannot be told apart: stopped, ended, wrong, missing, odd, or of somebody who was turned away', async () => {
    const stopped = await share()
    await book.ask('DELETE', `/api/shares/${stopped.id}`)
    const ends = await share({ expires_at: '2026-08-10T12:00:01Z' })
    const bobs = await share({}, 'bob')
    await book.photo({ id: 'bobs', userId: 'bob' })
    expect((await open(ends.path)).statusCode).toBe(200)
    expect((await open(bobs.path)).statusCode).toBe(200)
    book.clock.advance(1_000)
    await book.db.transaction((tx) => tx.run("UPDATE users SET status = 'rejected' WHERE id = 'bob'"))
    const paths = [
      ...[
        stopped.path,
        ends.path,
        bobs.path,
        `/s/${'A'.repeat(43)}`,
        '/s/x',
        '/s/',
        '/s',
        `/s/${'x'.repeat(3_000)}`,
      ],
      ...[
        `${ends.path}/`,
        `${ends.path}/photos/photo`,
        `${bobs.path}/photos/bobs`,
        `${bobs.path}/x`,
        '/s/%00',
        '/s//',
      ],
      ...["/s/'%20OR%201=1", '/s/..%2f..%2fapi', `/s/${stopped.path.slice(3).toLowerCase()}`],
    ]
    for (const accept of ['text/html', 'application/json', '*/*']) {
      const answers = await Promise.all(paths.map((path) => open(path, { accept })))
      expect(answers.map((one) => one.statusCode)).toEqual(paths.map(() => 404))
      const all = answers.map(({ body, headers: { date, ...headers } }) => JSON.stringify({ body, headers }))
      expect(new Set(all).size).toBe(1)
      expect(answers[0]!.headers).toMatchObject({
        ...{ 'cache-control': 'private, no-store', 'referrer-policy': 'no-referrer' },
        'content-type': `${accept.includes('json') ? 'application/problem+json' : 'text/html'}; charset=utf-8`,
      })
    }
    expect((await list()).map((one: { views: number }) => one.views)).toEqual([1])
  })

  test('ask the database the same things as one another', async () => {
    const stopped = await share()
    await book.ask('DELETE', `/api/shares/${stopped.id}`)
    const ended = await share({ expires_at: '2026-08-10T12:00:01Z' })
    book.clock.advance(1_000)
    const asked = async (path: string) => {
      book.statements.length = 0
      await open(path)
      return [...book.statements]
    }
    const [first, ...others] = [await asked(stopped.path), await asked(ended.path), await asked('/s/wrong')]
    expect(first!.length).toBeGreaterThan(0)
    for (const other of others) expect(other).toEqual(first)
    const [photo, wrongPhoto] = [await asked(`${ended.path}/photos/a`), await asked('/s/wrong/photos/a')]
    expect(photo).toEqual(wrongPhoto)
  })

  test('a link that ended is listed for a month, then dropped', async () => {
    await share({ expires_at: '2026-08-11T12:00:00Z' })
    book.clock.advance(31 * 24 * 3_600_000)
    await book.sweep()
    expect(await list()).toHaveLength(1)
    book.clock.advance(1)
    await book.sweep()
    expect(await list()).toHaveLength(0)
  })
})
