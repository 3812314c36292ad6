import { beforeEach, describe, expect, test } from 'vitest'
import { Book } from '../../../testing/book.ts'

let book: Book
beforeEach(async () => {
  book = await Book.open()
})

const get = (url: string, as: string | null = 'alice', headers: Record<string, string> = {}) =>
  book.ask('GET', url, { as, headers })

describe('GET /api/photos/:meal', () => {
  test('is the picture, byte for byte, kept by its owner’s browser alone', async () => {
    const jpeg = Buffer.from([0xff, 0xd8, 0, 1, 2, 0xff, 0xd9])
    await book.photo({ jpeg })
    const [{ meals }] = await book.days('date=2026-08-10')
    const answer = await get(meals[0].photo_url)
    expect([answer.statusCode, answer.rawPayload.equals(jpeg)]).toEqual([200, true])
    expect(answer.headers).toMatchObject({
      'content-type': 'image/jpeg',
      'content-length': '7',
      'cache-control': expect.stringMatching(/^private,.*immutable/),
      etag: expect.stringMatching(/^"[0-9a-f]{12}"$/),
      vary: 'cookie, authorization, x-demo-user',
      'x-content-type-options': 'nosniff',
    })
    const again = await get(meals[0].photo_url, 'alice', { 'if-none-match': String(answer.headers.etag) })
    expect([again.statusCode, again.body]).toEqual([304, ''])
  })

  test.each(['waiting', 'dead'] as const)(
    'is there under the same id while its entry is %s',
    async (state) => {
      await book.photo({ state })
      expect((await get('/api/photos/photo')).statusCode).toBe(200)
    },
  )

  test('another person’s, a missing one, and that of a meal without a photo: the same 404', async () => {
    await book.photo()
    await book.photo({ id: 'waits', state: 'waiting' })
    const { id } = await book.write()
    const answers = [
      await get('/api/photos/photo', 'bob'),
      await get('/api/photos/photo', 'admin'),
      await get('/api/photos/waits', 'bob'),
      await get('/api/photos/none'),
      await get(`/api/photos/${id}`),
      await get('/api/photos/..%2f..%2fsecret'),
    ]
    expect(answers.map((one) => one.statusCode)).toEqual([404, 404, 404, 404, 404, 404])
    expect(new Set(answers.map((one) => one.body)).size).toBe(1)
    expect((await get('/api/photos/photo', null)).statusCode).toBe(401)
  })

  test('even with the right tag, another person’s photo is not confirmed', async () => {
    await book.photo()
    const { etag } = (await get('/api/photos/photo')).headers
    expect((await get('/api/photos/photo', 'bob', { 'if-none-match': String(etag) })).statusCode).toBe(404)
  })

  test('a picture that is lost from the folder: 404, and the meal is still listed', async () => {
    await book.photo()
    await book.objects.remove('alice/photo')
    expect((await get('/api/photos/photo')).statusCode).toBe(404)
    expect((await book.days('date=2026-08-10'))[0].meals).toHaveLength(1)
  })

  test('acc-shared-picture: the same bytes of two people are two pictures; one going leaves the other’s', async () => {
    const jpeg = Buffer.from('the same bytes')
    await book.photo({ id: 'hers', userId: 'alice', jpeg })
    await book.photo({ id: 'his', userId: 'bob', jpeg })
    await book.ask('DELETE', '/api/meals/hers')
    await book.objects.removeAll('alice')
    expect((await get('/api/photos/his', 'bob')).statusCode).toBe(200)
  })
})
