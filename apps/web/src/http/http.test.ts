import { describe, expect, test } from 'vitest'
import type { Browser } from '../browser.ts'
import { shelf } from '../browser.ts'
import { Api, staleMs } from './api.ts'
import { Failure, retryAfterMs } from './failure.ts'
import { Http } from './http.ts'
import { retryDelayMs } from './retry.ts'

describe('waiting to ask again', () => {
  const wait = (failures: number, after: number | null, random = 0) =>
    retryDelayMs({ failures, retryAfterMs: after, random })

  test('Retry-After, doubled up to 30 s, plus up to a second', () => {
    expect([1, 2, 3, 4, 5, 6, 60].map((n) => wait(n, 2_000))).toEqual([
      2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000,
    ])
    expect(wait(1, null)).toBe(1_000)
    expect(wait(1, 2_000, 0.999)).toBe(2_999)
    expect(wait(0, 2_000)).toBe(2_000)
  })

  test('a server that asks for longer than 30 s gets it, and none is hammered', () => {
    expect(wait(1, 120_000)).toBe(120_000)
    expect(wait(5, 120_000)).toBe(120_000)
    expect(wait(1, 0)).toBe(250)
  })

  test('Retry-After is seconds or a date', () => {
    const nowMs = Date.parse('2026-08-29T12:00:00Z')
    expect(retryAfterMs('20', nowMs)).toBe(20_000)
    expect(retryAfterMs('0.5', nowMs)).toBe(500)
    expect(retryAfterMs('Sat, 29 Aug 2026 12:00:05 GMT', nowMs)).toBe(5_000)
    expect(retryAfterMs('Sat, 29 Aug 2026 11:00:00 GMT', nowMs)).toBe(0)
    expect(retryAfterMs('soon', nowMs)).toBeNull()
    expect(retryAfterMs(null, nowMs)).toBeNull()
  })
})

test('a copy is stale when the cache says so, not because it has an age', () => {
  const of = (headers: Record<string, string>) => staleMs(new Headers(headers))
  expect(of({ 'Cache-Status': 'garner; hit; ttl=1', Age: '1' })).toBe(0)
  expect(of({ Age: '40' })).toBe(0)
  expect(of({ 'Cache-Status': 'garner; hit; ttl=-16', Age: '18' })).toBe(18_000)
  expect(of({ 'Cache-Status': 'garner; hit; ttl=-1' })).toBe(1_000)
})

describe('asking the server', () => {
  function http(
    answer: (path: string, init: RequestInit) => Response | Promise<Response>,
    demoUser: string | null = null,
  ) {
    const seen: { path: string; headers: Headers }[] = []
    const events: string[] = []
    const memory = shelf(() => {
      throw new Error('no storage here')
    })
    const browser: Browser = {
      clock: { nowMs: () => 0, sleep: () => Promise.resolve() },
      random: () => 0,
      newId: () => 'id',
      fetch: async (input, init = {}) => {
        seen.push({ path: String(input), headers: new Headers(init.headers) })
        return answer(String(input), init)
      },
      shelf: memory,
      tabShelf: memory,
    }
    const sender = new Http(browser, () => demoUser, {
      onSignedOut: () => events.push('out'),
      onReached: (reached) => events.push(reached ? 'reached' : 'gone'),
    })
    return { api: new Api(sender), seen, events }
  }
  const json = (body: unknown, status = 200, headers: Record<string, string> = {}) =>
    new Response(JSON.stringify(body), {
      status,
      headers: { 'Content-Type': 'application/json', ...headers },
    })

  test('a read of a group asks for no less than one’s own last write', async () => {
    const { api, seen } = http((_, init) =>
      init.method === 'POST'
        ? json({ group: 'g', id: '1' }, 201, { 'X-Garner-Version': '7' })
        : json({ items: [] }, 200, { ETag: '"1"' }),
    )
    const read = () => api.list({ group: 'g', filter: { show: 'all', q: '' }, limit: 50 })
    await read()
    expect(seen[0]?.headers.has('X-Garner-Min-Version')).toBe(false)
    await api.save({ url: 'https://example.org', group: 'g' }, 'key-1')
    expect(seen[1]?.headers.get('Idempotency-Key')).toBe('key-1')
    await read()
    expect(seen[2]?.headers.get('X-Garner-Min-Version')).toBe('7')
    api.expectVersion('g', 5)
    await read()
    expect(seen[3]?.headers.get('X-Garner-Min-Version')).toBe('7')
    api.forgetVersions()
    await read()
    expect(seen[4]?.headers.has('X-Garner-Min-Version')).toBe(false)
  })

  test('304 is an answer, not a failure', async () => {
    const { api, seen } = http(() => new Response(null, { status: 304 }))
    const answer = await api.list({
      group: 'g',
      filter: { show: 'unread', q: 'a b' },
      limit: 50,
      etag: '"1"',
    })
    expect(answer).toBe('unchanged')
    expect(seen[0]?.headers.get('If-None-Match')).toBe('"1"')
    expect(seen[0]?.path).toBe('/api/bookmarks?group=g&sort=-saved_at&limit=50&unread=true&q=a+b')
  })

  test('a demo person is named on every request, and nobody else is', async () => {
    const demo = http(() => json({}), 'bob')
    await demo.api.me()
    expect(demo.seen[0]?.headers.get('X-Demo-User')).toBe('bob')
    const real = http(() => json({}))
    await real.api.me()
    expect(real.seen[0]?.headers.has('X-Demo-User')).toBe(false)
  })

  test('no answer, a problem, and the end of a session are told apart', async () => {
    const gone = http(() => Promise.reject(new TypeError('fetch failed')))
    await expect(gone.api.me()).rejects.toMatchObject({ status: 0, isUnreachable: true })
    expect(gone.events).toEqual(['gone'])

    const full = http(() =>
      json({ type: 'queue-full', detail: 'The queue is full.' }, 429, { 'Retry-After': '20' }),
    )
    const refused: unknown = await full.api
      .save({ url: 'https://example.org' }, 'k')
      .catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(Failure)
    expect(refused).toMatchObject({
      status: 429,
      isBusy: true,
      retryAfterMs: 20_000,
      detail: 'The queue is full.',
    })

    const out = http(() => json({}, 401))
    await expect(out.api.groups()).rejects.toMatchObject({ status: 401 })
    expect(out.events).toEqual(['reached', 'out'])
    const wrong = http(() => json({ type: 'wrong-credentials', detail: 'No.' }, 401))
    await expect(wrong.api.signIn({ email: 'a', password: 'b' })).rejects.toMatchObject({
      type: 'wrong-credentials',
      detail: 'No.',
    })
    expect(wrong.events).toEqual(['reached'])

    const proxy = http(() => new Response('<h1>Bad gateway</h1>', { status: 502 }))
    await expect(proxy.api.me()).rejects.toMatchObject({ status: 502, detail: '' })
  })
})
