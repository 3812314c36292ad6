import { afterEach, describe, expect, it, vi } from 'vitest'
import { tablesOf } from '../../testing/database.ts'
import { type World, world } from './fixture.ts'

let here: World
afterEach(() => here.close())

async function withToken(token: string) {
  return here.ask('GET', '/api/elsewhere', { headers: { authorization: `Bearer ${token}` } })
}

const make = (cookie: string, headers: Record<string, string> = {}) =>
  here.ask('POST', '/api/tokens', { cookie, headers, body: { name: 'phone' } })

describe('an API token', () => {
  it('is shown once, acts for its person, and is gone when it is revoked', async () => {
    here = await world()
    const { cookie } = await here.signUp('ines')
    const made = await make(cookie)
    expect(made.statusCode).toBe(201)
    const { token, ...rest } = made.json()
    expect(token).toMatch(/^garner_[A-Za-z0-9_-]{43}$/)
    expect(rest).toEqual({
      id: expect.any(String),
      name: 'phone',
      start: token.slice(0, 12),
      created_at: expect.stringMatching(/Z$/),
      last_used_at: null,
    })
    expect((await withToken(token)).json()).toMatchObject({ name: 'ines', via: 'token' })
    expect((await here.ask('GET', '/api/tokens', { cookie })).body).not.toContain(token)
    expect((await here.ask('DELETE', `/api/tokens/${rest.id}`, { cookie })).statusCode).toBe(204)
    expect((await withToken(token)).statusCode).toBe(401)
    expect((await here.ask('GET', '/api/tokens', { cookie })).json()).toEqual({ tokens: [] })
  })

  it('is nowhere in the database, nor in the log', async () => {
    here = await world()
    const { cookie } = await here.signUp('ines')
    const { token } = (await make(cookie, { 'idempotency-key': 'k1' })).json()
    await withToken(token)
    for (const name of await tablesOf(here.db)) {
      const rows = await here.db.read.all(`SELECT * FROM ${name}`)
      expect([name, JSON.stringify(rows).includes(token)]).toEqual([name, false])
    }
    expect(here.log.join('')).not.toContain(token)
  })

  it('is refused when it is not exactly one of ours, also beside a good cookie', async () => {
    here = await world()
    const { cookie } = await here.signUp('ines')
    const { token } = (await make(cookie)).json()
    for (const wrong of [token.slice(0, -1), `${token}x`, token.slice('garner_'.length), 'garner_', '']) {
      const headers = { authorization: `Bearer ${wrong}` }
      expect((await here.ask('GET', '/api/elsewhere', { cookie, headers })).statusCode).toBe(401)
    }
    const basic = { authorization: 'Basic dXNlcjpwYXNz' }
    expect((await here.ask('GET', '/api/elsewhere', { cookie, headers: basic })).statusCode).toBe(200)
  })

  it('counts for no more than its person does now', async () => {
    here = await world()
    const admin = await here.signUp('ines')
    const mei = await here.person('mei')
    const { token } = (await make(mei.cookie)).json()
    expect((await withToken(token)).statusCode).toBe(200)
    await here.ask('POST', `/api/admin/users/${mei.id}/reject`, { cookie: admin.cookie })
    expect((await withToken(token)).statusCode).toBe(403)
  })

  it('notes its use at most once a minute', async () => {
    here = await world()
    const { cookie } = await here.signUp('ines')
    const { token } = (await make(cookie)).json()
    const used = async () => (await here.ask('GET', '/api/tokens', { cookie })).json().tokens[0].last_used_at
    const now = () => new Date(here.clock.nowMs()).toISOString()
    await withToken(token)
    const first = now()
    await vi.waitFor(async () => expect(await used()).toBe(first))
    here.clock.advance(59_000)
    await withToken(token)
    await here.db.transaction(async () => {})
    expect(await used()).toBe(first)
    here.clock.advance(1_000)
    await withToken(token)
    await vi.waitFor(async () => expect(await used()).toBe(now()))
  })

  it('makes no further tokens', async () => {
    here = await world()
    const { cookie } = await here.signUp('ines')
    const { token } = (await make(cookie)).json()
    const headers = { authorization: `Bearer ${token}` }
    const refused = await here.ask('POST', '/api/tokens', { headers, body: { name: 'heir' } })
    expect(refused.statusCode).toBe(403)
  })

  it('is given once more, sealed until then, when its making is repeated', async () => {
    here = await world()
    const { cookie } = await here.signUp('ines')
    const first = await make(cookie, { 'idempotency-key': 'k1' })
    const again = await make(cookie, { 'idempotency-key': 'k1' })
    expect(again.json()).toEqual(first.json())
    expect([again.statusCode, again.headers['idempotency-replayed']]).toEqual([201, 'true'])
    await here.ask('DELETE', `/api/tokens/${first.json().id}`, { cookie })
    expect(await here.db.read.all('SELECT 1 FROM idempotency')).toEqual([])
  })

  it('is nobody else’s to see or revoke', async () => {
    here = await world()
    const { cookie } = await here.signUp('ines')
    const { id } = (await make(cookie)).json()
    const mei = await here.person('mei')
    const theirs = await here.ask('DELETE', `/api/tokens/${id}`, { cookie: mei.cookie })
    const missing = await here.ask('DELETE', '/api/tokens/nothing', { cookie: mei.cookie })
    expect([theirs.statusCode, theirs.json()]).toEqual([404, missing.json()])
    expect((await here.ask('GET', '/api/tokens', { cookie: mei.cookie })).json().tokens).toEqual([])
    expect((await here.ask('GET', '/api/tokens', { cookie })).json().tokens).toHaveLength(1)
  })

  it('comes in a bounded number, with a plain name and no forged owner', async () => {
    here = await world({ isDemo: true })
    const ask = (body: object) => here.ask('POST', '/api/tokens', { as: 'bob', body })
    for (const body of [
      { name: '' },
      { name: 'a\u0000b' },
      { name: 'x', owner: 'alice' },
      { name: 'x', user_id: 'alice' },
    ]) {
      expect((await ask(body)).statusCode).toBe(400)
    }
    for (let n = 0; n < 50; n++) expect((await ask({ name: `t${n}` })).statusCode).toBe(201)
    expect((await ask({ name: 'one more' })).json().type).toBe('too-many-tokens')
  })
})
