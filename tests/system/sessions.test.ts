import { beforeAll, describe, expect, test } from 'vitest'
import { type Answer, type CallOptions, call } from './api.ts'
import { type GarnerProcess, startGarner } from './garner.ts'
import { census, rows } from './rows.ts'

/** Normal mode, with people who really signed up. */
let server: GarnerProcess
let ann: Person
let ben: Person
interface Person {
  email: string
  cookie: string
}

beforeAll(async () => {
  server = await startGarner({ args: ['serve'], lifetime: 'file' })
  ann = await signUp('ann@garner.example')
  ben = await signUp('ben@garner.example')
})

const password = 'a long enough pass phrase'
async function signUp(email: string): Promise<Person> {
  const answer = await ask('/api/auth/sign-up/email', { body: { name: 'A Person', email, password } })
  expect(answer.status, answer.text).toBe(200)
  return { email, cookie: cookieOf(answer) }
}
const cookieOf = (answer: Answer) =>
  answer.headers
    .getSetCookie()
    .map((one) => one.split(';')[0])
    .join('; ')
const ask = (path: string, options: CallOptions = {}) =>
  call(`${server.url}${path}`, { user: null, ...options })
const as = (cookie: string, path: string, options: CallOptions = {}) =>
  ask(path, { ...options, headers: { cookie, ...options.headers } })
const body = { url: 'https://a.example/' }

async function expectRefused(answer: () => Promise<Answer>, status: number): Promise<void> {
  const before = census(server.dataDir)
  const refused = await answer()
  expect([refused.status, refused.headers.get('content-type')]).toEqual([
    status,
    expect.stringMatching(/^application\/problem\+json/),
  ])
  expect(census(server.dataDir)).toEqual(before)
}

describe('who one says to be, in normal mode', () => {
  test('the first to sign up is the admin and may save; the second one waits', async () => {
    expect((await as(ann.cookie, '/api/bookmarks', { body })).status).toBe(201)
    await expectRefused(() => as(ben.cookie, '/api/bookmarks', { body }), 403)
  })

  test('the demo’s header and title_mode are refused, also beside a good session', async () => {
    await expectRefused(() => ask('/api/bookmarks', { user: 'alice', body }), 400)
    await expectRefused(() => as(ann.cookie, '/api/bookmarks', { user: 'admin', body }), 400)
    await expectRefused(() => as(ann.cookie, '/api/bookmarks', { body: { ...body, title_mode: 'ok' } }), 400)
  })

  test('no session, a made-up one, one signed by somebody else, one cut short: 401, and nothing is saved', async () => {
    const [name = '', value = ''] = ann.cookie.split('=')
    const [token = ''] = value.split('.')
    const forged = [
      `${name}=`,
      `${name}=${token}`,
      `${name}=${token}.${'A'.repeat(43)}%3D`,
      `${name}=${'x'.repeat(32)}.${value.split('.')[1]}`,
      `${name}=${value.slice(0, -4)}`,
      `${name}=${'%'.repeat(50)}`,
      `${name}=${'a'.repeat(8000)}`,
      `other=${value}`,
    ]
    await expectRefused(() => ask('/api/bookmarks', { body }), 401)
    for (const cookie of forged) await expectRefused(() => as(cookie, '/api/bookmarks', { body }), 401)
    for (const authorization of [
      'Bearer',
      'Bearer x',
      'Bearer garner_nothing',
      `Bearer ${token}`,
      'Basic YTpi',
    ]) {
      await expectRefused(() => ask('/api/bookmarks', { body, headers: { authorization } }), 401)
    }
  })

  test('a session of somebody else does not open a third person’s things', async () => {
    const [link] = (await as(ann.cookie, '/api/bookmarks')).body.items
    await as(ann.cookie, `/api/admin/users/${await idOf(ben)}/approve`, { method: 'POST' })
    expect((await as(ben.cookie, '/api/bookmarks')).body.items).toEqual([])
    await expectRefused(() => as(ben.cookie, `/api/bookmarks/${link.id}`), 404)
    await expectRefused(() => as(ben.cookie, `/api/bookmarks/${link.id}`, { method: 'DELETE' }), 404)
    await expectRefused(() => as(ben.cookie, '/api/bookmarks', { body: { ...body, group: link.group } }), 403)
    await expectRefused(() => as(ben.cookie, '/api/admin/users'), 403)
  })

  test('another site’s page cannot save with a visitor’s session', async () => {
    const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
    await expectRefused(() => as(ann.cookie, '/api/bookmarks', { body, headers }), 403)
  })

  test('a session that has expired is nobody’s; signed out, turned away and deleted people’s neither', async () => {
    const second = await signUp('cat@garner.example')
    rows(server.dataDir, 'UPDATE sessions SET expires_at = ? WHERE user_id = ?', past, await idOf(second))
    await expectRefused(() => as(second.cookie, '/api/bookmarks', { body }), 401)

    const signedIn = await ask('/api/auth/sign-in/email', { body: { email: ben.email, password } })
    const old = cookieOf(signedIn)
    expect((await as(old, '/api/me')).status).toBe(200)
    expect((await as(old, '/api/auth/sign-out', { method: 'POST', body: {} })).status).toBe(200)
    await expectRefused(() => as(old, '/api/bookmarks', { body }), 401)

    await as(ann.cookie, `/api/admin/users/${await idOf(ben)}/reject`, { method: 'POST' })
    await expectRefused(() => as(ben.cookie, '/api/bookmarks', { body }), 403)
  })
})

const past = new Date(Date.UTC(2020, 0, 1)).toISOString()
async function idOf({ email }: Person): Promise<string> {
  const { body: answer } = await as(ann.cookie, '/api/admin/users')
  return answer.users.find((one: { email: string }) => one.email === email).id
}
