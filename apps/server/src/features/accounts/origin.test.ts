import { afterEach, describe, expect, it } from 'vitest'
import { PASSWORD, type World, world } from './fixture.ts'

let here: World
afterEach(() => here.close())

describe('a page of another site', () => {
  it('changes nothing with a person’s cookie', async () => {
    here = await world()
    const { cookie } = await here.signUp('ines')
    for (const origin of ['https://evil.example', 'http://garner.test:81', 'null', 'not a url']) {
      const headers = { host: 'garner.test', origin }
      for (const [method, url] of [
        ['POST', '/api/elsewhere'],
        ['POST', '/api/groups'],
        ['DELETE', '/api/me'],
        ['POST', '/api/auth/sign-out'],
      ] as const) {
        const refused = await here.ask(method, url, { cookie, headers })
        expect([origin, url, refused.statusCode, refused.json().type]).toEqual([
          origin,
          url,
          403,
          'foreign-origin',
        ])
      }
    }
    expect((await here.ask('GET', '/api/elsewhere', { cookie })).statusCode).toBe(200)
  })

  it('signs nobody in and asks for no account', async () => {
    here = await world()
    const headers = { origin: 'https://evil.example' }
    expect((await here.signUp('ines', headers)).statusCode).toBe(403)
    const body = { email: 'ines@example.org', password: PASSWORD }
    expect((await here.ask('POST', '/api/auth/sign-in/email', { headers, body })).statusCode).toBe(403)
  })

  it('is told from our own page, from a program, and from a script with its own token', async () => {
    here = await world()
    const { cookie } = await here.signUp('ines')
    const post = async (headers: Record<string, string>, as = cookie) =>
      (await here.ask('POST', '/api/elsewhere', { cookie: as, headers })).statusCode
    expect(await post({})).toBe(200)
    expect(await post({ host: 'garner.test:8080', origin: 'http://garner.test:8080' })).toBe(200)
    expect(await post({ host: 'garner.test', origin: 'https://garner.test' })).toBe(200)
    const made = await here.ask('POST', '/api/tokens', { cookie, body: { name: 'extension' } })
    const authorization = `Bearer ${made.json().token}`
    expect(await post({ authorization, origin: 'chrome-extension://abc' }, '')).toBe(200)
  })

  it('is told from our own page behind a proxy by the public address', async () => {
    here = await world({ baseUrl: 'https://garner.example' })
    const { cookie } = await here.signUp('ines')
    const post = async (origin: string) =>
      (await here.ask('POST', '/api/elsewhere', { cookie, headers: { host: 'inner:8080', origin } }))
        .statusCode
    expect(await post('https://garner.example')).toBe(200)
    expect(await post('https://garner.example.evil.example')).toBe(403)
  })
})
