import { afterEach, describe, expect, it } from 'vitest'
import { type World, world } from './fixture.ts'

let here: World
afterEach(() => here.close())

const sql = (text: string) => here.db.transaction((tx) => tx.run(text))

/** How often the database was asked for the account behind a request before its transaction began. */
function countedReads(): () => number {
  const { read } = here.db
  let n = 0
  const get = read.get.bind(read)
  read.get = (text, ...params) => {
    n++
    return get(text, ...params)
  }
  return () => n
}

describe('a route that asks again in its own transaction', () => {
  const ask = (cookie: string) => here.ask('POST', '/api/confirmed', { cookie })
  const withToken = (token: string) =>
    here.ask('POST', '/api/confirmed', { headers: { authorization: `Bearer ${token}` } })

  it('does not ask before it for somebody who was known lately, and answers them as they are', async () => {
    here = await world()
    const { id, cookie } = await here.person('ines')
    expect((await ask(cookie)).json()).toMatchObject({ userId: id, name: 'ines', via: 'session' })
    await sql("UPDATE users SET name = 'Inês'")
    const reads = countedReads()
    expect((await ask(cookie)).json()).toMatchObject({ userId: id, name: 'Inês' })
    expect(reads()).toBe(0)
  })

  it.each([
    ['a session that was ended by another process', 'DELETE FROM sessions', 401],
    ['a session that is over', "UPDATE sessions SET expires_at = '2020-01-01T00:00:00.000Z'", 401],
    ['an account that was turned away', "UPDATE users SET status = 'rejected'", 403],
    ['an account that is gone', 'DELETE FROM users', 401],
  ])('refuses %s at the very next request, and from then on', async (_name, change, status) => {
    here = await world()
    const { cookie } = await here.person('ines')
    expect((await ask(cookie)).statusCode).toBe(200)
    await sql(change)
    expect((await ask(cookie)).statusCode).toBe(status)
    // And before any transaction: whoever is refused takes no write lock.
    const reads = countedReads()
    expect((await ask(cookie)).statusCode).toBe(status)
    expect(reads()).toBe(1)
  })

  it('refuses a token that was revoked', async () => {
    here = await world()
    const { cookie } = await here.person('ines')
    const { token } = (await here.ask('POST', '/api/tokens', { cookie, body: { name: 'script' } })).json()
    expect((await withToken(token)).statusCode).toBe(200)
    await sql('DELETE FROM api_tokens')
    expect((await withToken(token)).statusCode).toBe(401)
    expect((await withToken(token)).statusCode).toBe(401)
  })

  it('knows nobody by what was never right, and lets in who is let in', async () => {
    here = await world()
    await here.person('first')
    const { cookie } = await here.person('ines')
    await sql("UPDATE users SET status = 'pending' WHERE name = 'ines'")
    expect((await ask(cookie)).statusCode).toBe(403)
    await sql("UPDATE users SET status = 'approved' WHERE name = 'ines'")
    expect((await ask(cookie)).statusCode).toBe(200)
    expect((await withToken('garner_nothing')).statusCode).toBe(401)
    expect((await here.ask('POST', '/api/confirmed')).statusCode).toBe(401)
  })

  it('is refused to another site’s page, whoever was known lately', async () => {
    here = await world()
    const { cookie } = await here.person('ines')
    expect((await ask(cookie)).statusCode).toBe(200)
    const headers = { origin: 'https://elsewhere.example' }
    expect((await here.ask('POST', '/api/confirmed', { cookie, headers })).statusCode).toBe(403)
  })
})
