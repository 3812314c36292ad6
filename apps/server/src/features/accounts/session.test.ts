import { createHmac } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { PASSWORD, SECRET, type World, world } from './fixture.ts'
import { SessionCookie } from './session-cookie.ts'

let here: World
afterEach(() => here.close())

const SIGN_IN = '/api/auth/sign-in/email'
const pair = (name: string, password = PASSWORD) => ({ email: `${name}@example.org`, password })

async function statusWith(cookie: string): Promise<number> {
  return (await here.ask('GET', '/api/elsewhere', { cookie })).statusCode
}

describe('a session', () => {
  it('begins at sign-in: what Better Auth signs is read by the fast path', async () => {
    here = await world()
    await here.signUp('ines')
    const answer = await here.ask('POST', SIGN_IN, { body: pair('Ines') })
    expect(answer.statusCode).toBe(200)
    expect(answer.cookies).toEqual([
      expect.objectContaining({ name: 'garner.session_token', httpOnly: true, sameSite: 'Lax', path: '/' }),
    ])
    expect(await statusWith(answer.cookie)).toBe(200)
    const browser = `theme=dark; ${answer.cookie}; garner.session_token=later%2Eone`
    expect(await statusWith(browser)).toBe(200)
  })

  it('is refused when its cookie was forged', async () => {
    here = await world()
    const { cookie } = await here.signUp('ines')
    const [name, value] = cookie.split('=') as [string, string]
    const [token, signature] = decodeURIComponent(value).split('.') as [string, string]
    const signedWith = (secret: string) => createHmac('sha256', secret).update(token).digest('base64')
    const flipped = (signature[0] === 'A' ? 'B' : 'A') + signature.slice(1)
    expect(await statusWith(`${name}=${encodeURIComponent(`${token}.${signedWith(SECRET)}`)}`)).toBe(200)
    for (const forged of [
      token,
      `${token}.`,
      `.${signature}`,
      `${token}.${flipped}`,
      `${token}x.${signature}`,
      `${token}.${signature.slice(0, 20)}`,
      `${token}.${signedWith('another secret')}`,
      '',
      '%',
    ]) {
      expect([
        forged,
        await statusWith(`${name}=${forged === '%' ? forged : encodeURIComponent(forged)}`),
      ]).toEqual([forged, 401])
    }
  })

  it('is refused once it is over', async () => {
    here = await world()
    const { cookie } = await here.signUp('ines')
    here.clock.advance(29 * 86_400_000)
    expect(await statusWith(cookie)).toBe(200)
    here.clock.advance(2 * 86_400_000)
    expect(await statusWith(cookie)).toBe(401)
    await here.db.transaction((tx) => tx.run("UPDATE sessions SET expires_at = 'never'"))
    expect(await statusWith(cookie)).toBe(401)
  })

  it('is swept once it is over, and not before', async () => {
    here = await world()
    await here.signUp('ines')
    expect(await here.accounts.sweep()).toBe(0)
    here.clock.advance(31 * 86_400_000)
    expect(await here.accounts.sweep()).toBe(1)
    expect(await here.db.read.all('SELECT 1 FROM sessions')).toEqual([])
  })

  it('ends at sign-out, for the very next request with its cookie', async () => {
    here = await world()
    const { cookie } = await here.signUp('ines')
    expect(await statusWith(cookie)).toBe(200)
    const out = await here.ask('POST', '/api/auth/sign-out', { cookie })
    expect(out.statusCode).toBe(200)
    expect(out.cookie).toBe('')
    expect(await statusWith(cookie)).toBe(401)
  })

  it('ends on the other devices when the password changes, if that is wished', async () => {
    here = await world()
    const { cookie: old } = await here.signUp('ines')
    const { cookie } = await here.ask('POST', SIGN_IN, { body: pair('ines') })
    const change = (currentPassword: string) =>
      here.ask('POST', '/api/auth/change-password', {
        cookie,
        body: { currentPassword, newPassword: 'a new long password', revokeOtherSessions: true },
      })
    expect((await change('not the password')).json().errors[0].path).toBe('currentPassword')
    const changed = await change(PASSWORD)
    expect(changed.statusCode).toBe(200)
    expect(await statusWith(old)).toBe(401)
    expect(await statusWith(changed.cookie)).toBe(200)
    expect((await here.ask('POST', SIGN_IN, { body: pair('ines') })).statusCode).toBe(401)
    expect((await here.ask('POST', SIGN_IN, { body: pair('ines', 'a new long password') })).statusCode).toBe(
      200,
    )
  })

  it('is renewed by looking at one’s account, when a day of it has gone', async () => {
    here = await world()
    const { cookie } = await here.signUp('ines')
    expect((await here.ask('GET', '/api/me', { cookie })).cookies).toEqual([])
    const inDays = (days: number) => new Date(here.clock.nowMs() + days * 86_400_000).toISOString()
    await here.db.transaction((tx) => tx.run('UPDATE sessions SET expires_at = ?', inDays(20)))
    const renewed = await here.ask('GET', '/api/me', { cookie })
    expect(renewed.statusCode).toBe(200)
    expect(renewed.cookie).toBe(cookie)
    const row = await here.db.read.get<{ expires_at: string }>('SELECT expires_at FROM sessions')
    expect(row!.expires_at > inDays(29)).toBe(true)
  })

  it('has a cookie for https alone where the public address is https', async () => {
    here = await world({ baseUrl: 'https://garner.example' })
    const answer = await here.signUp('ines')
    expect(answer.cookies).toEqual([
      expect.objectContaining({ name: '__Secure-garner.session_token', secure: true, httpOnly: true }),
    ])
    expect(await statusWith(answer.cookie)).toBe(200)
    expect(await statusWith(answer.cookie.replace('__Secure-', ''))).toBe(401)
  })

  it('can show the person by another name, but as nobody else', async () => {
    here = await world()
    const { cookie } = await here.signUp('ines')
    const rename = (body: object) => here.ask('POST', '/api/auth/update-user', { cookie, body })
    expect((await rename({ name: ' Ines M ' })).statusCode).toBe(200)
    expect((await here.ask('GET', '/api/me', { cookie })).json().name).toBe('Ines M')
    expect((await rename({ name: 'x', role: 'admin' })).statusCode).toBe(400)
    expect((await here.ask('POST', '/api/auth/update-user', { body: { name: 'x' } })).statusCode).toBe(401)
  })
})

describe('signing in', () => {
  it('says the same of a wrong password and of an address that nobody has', async () => {
    here = await world()
    await here.signUp('ines')
    const wrong = await here.ask('POST', SIGN_IN, { body: pair('ines', 'wrong') })
    const nobody = await here.ask('POST', SIGN_IN, { body: pair('nobody') })
    expect(wrong.statusCode).toBe(401)
    expect(wrong.headers['content-type']).toContain('application/problem+json')
    expect(wrong.json().detail).toBe('That email and password do not go together.')
    expect(nobody.json()).toEqual(wrong.json())
    expect(wrong.cookies).toEqual([])
  })

  it('has to wait after too many tries, whatever address the client claims to have', async () => {
    here = await world()
    const tries = []
    for (let n = 0; n < 11; n++) {
      const headers = { 'x-forwarded-for': `203.0.113.${n}`, 'x-garner-address': `203.0.113.${n}` }
      tries.push(await here.ask('POST', SIGN_IN, { headers, body: pair('nobody') }))
    }
    expect(tries.map((one) => one.statusCode)).toEqual([...Array(10).fill(401), 429])
    const last = tries.at(-1)!
    expect(last.json()).toMatchObject({
      type: 'too-many-tries',
      detail: 'Too many tries. You can try again in 30 s.',
    })
    expect(last.headers['retry-after']).toBe('30')
    here.clock.advance(29_000)
    expect((await here.ask('POST', SIGN_IN, { body: pair('nobody') })).headers['retry-after']).toBe('1')
    here.clock.advance(1_000)
    expect((await here.ask('POST', SIGN_IN, { body: pair('nobody') })).statusCode).toBe(401)
  })

  it('offers of Better Auth what Garner uses and nothing else', async () => {
    here = await world()
    const { cookie } = await here.signUp('ines')
    for (const path of [
      '/list-sessions',
      '/delete-user',
      '/sign-in/social',
      '/ok',
      '/error',
      '/reset-password',
    ]) {
      for (const method of ['GET', 'POST'] as const) {
        expect([path, (await here.ask(method, `/api/auth${path}`, { cookie })).statusCode]).toEqual([
          path,
          404,
        ])
      }
    }
  })
})

describe('reading the cookie', () => {
  it('keeps a bounded number of verdicts, and none of a bad signature', async () => {
    here = await world()
    const cookie = new SessionCookie({ secret: SECRET, secure: false })
    const header = (token: string, secret = SECRET) =>
      `garner.session_token=${token}.${createHmac('sha256', secret).update(token).digest('base64')}`
    for (let n = 0; n < 12_000; n++) expect(cookie.tokenIn(header(`t${n}`))).toBe(`t${n}`)
    expect(cookie.tokenIn(header('t0'))).toBe('t0')
    expect(cookie.tokenIn(header('t0', 'wrong'))).toBeNull()
    expect(cookie.tokenIn(header('t0', 'wrong'))).toBeNull()
    expect(cookie.tokenIn(undefined)).toBeNull()
    expect(cookie.tokenIn('garner.session_token')).toBeNull()
  })
})
