import { mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { StoreUnavailable } from '@garner/db'
import { afterEach, describe, expect, it } from 'vitest'
import { DIALECT } from '../../testing/database.ts'
import { PASSWORD, type World, world } from './fixture.ts'

let here: World
let dir: string | undefined
afterEach(async () => {
  await here.close()
  if (dir) rmSync(dir, { recursive: true })
  dir = undefined
})

function file(): string {
  dir = mkdtempSync(join(tmpdir(), 'garner-accounts-'))
  return join(dir, 'garner.db')
}

describe('when it cannot be known who someone is', () => {
  it('nothing is shown: 503, with a time to come back', async () => {
    let isBroken = false
    here = await world({
      around: async (point, effect) => {
        if (isBroken && point === 'account.read') throw new StoreUnavailable('injected', 'reading an account')
        return effect()
      },
    })
    const { cookie } = await here.signUp('ines')
    const { token } = (await here.ask('POST', '/api/tokens', { cookie, body: { name: 'x' } })).json()
    isBroken = true
    for (const ask of [{ cookie }, { headers: { authorization: `Bearer ${token}` } }]) {
      for (const url of ['/api/elsewhere', '/api/me', '/api/groups']) {
        const refused = await here.ask('GET', url, ask)
        expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '2'])
        expect(refused.body).not.toContain('ines')
      }
    }
    await expect(here.accounts.people.membership(here.db.read, 'x', 'y')).rejects.toThrow(StoreUnavailable)
    isBroken = false
    expect((await here.ask('GET', '/api/elsewhere', { cookie })).statusCode).toBe(200)
  })

  it('a silent database is given up after 2 s', async () => {
    let isSilent = false
    here = await world({
      isDemo: true,
      around: (point, effect) =>
        isSilent && point === 'account.read' ? new Promise(() => {}) : Promise.resolve(effect()),
    })
    isSilent = true
    const asked = here.ask('GET', '/api/elsewhere', { as: 'alice' })
    let isAnswered = false
    asked.then(() => {
      isAnswered = true
    })
    await here.clock.untilAsleep()
    here.clock.advance(1_999)
    await new Promise(setImmediate)
    expect(isAnswered).toBe(false)
    here.clock.advance(1)
    expect((await asked).statusCode).toBe(503)
  })
})

describe('when the database does not take it', () => {
  const itOfFiles = it.skipIf(DIALECT !== 'sqlite')

  itOfFiles('a locked file answers 503 to sign-up and sign-in, and nothing is claimed', async () => {
    const path = file()
    here = await world({ path, busyMs: 0 })
    const { cookie } = await here.signUp('ines')
    const other = new DatabaseSync(path)
    other.exec('BEGIN IMMEDIATE')
    const signedUp = await here.signUp('mei')
    expect([signedUp.statusCode, signedUp.json().type, signedUp.cookies]).toEqual([503, 'unavailable', []])
    expect(signedUp.headers['retry-after']).toBe('2')
    const body = { email: 'ines@example.org', password: PASSWORD }
    const signedIn = await here.ask('POST', '/api/auth/sign-in/email', { body })
    expect([signedIn.statusCode, signedIn.cookies]).toEqual([503, []])
    expect((await here.ask('POST', '/api/groups', { cookie, body: { name: 'x' } })).statusCode).toBe(503)
    expect((await here.ask('POST', '/api/auth/sign-out', { cookie })).statusCode).toBe(503)
    other.exec('ROLLBACK')
    other.close()
    expect(await here.db.read.all('SELECT name FROM users')).toEqual([{ name: 'ines' }])
    expect((await here.ask('GET', '/api/elsewhere', { cookie })).statusCode).toBe(200)
    expect((await here.signUp('mei')).statusCode).toBe(200)
  })

  itOfFiles('a file that was taken away answers 503, and 200 again when it is back', async () => {
    const path = file()
    here = await world({ path })
    const { cookie } = await here.signUp('ines')
    renameSync(path, `${path}.away`)
    expect((await here.ask('GET', '/api/me', { cookie })).statusCode).toBe(503)
    expect((await here.ask('GET', '/api/welcome')).statusCode).toBe(503)
    expect((await here.signUp('mei')).statusCode).toBe(503)
    renameSync(`${path}.away`, path)
    expect((await here.ask('GET', '/api/me', { cookie })).statusCode).toBe(200)
    expect((await here.signUp('mei')).statusCode).toBe(200)
  })

  it('two servers on one file are set up by one person', async () => {
    const path = file()
    here = await world({ path })
    const there = await world({ path, idPrefix: 'there' })
    const answers = await Promise.all([here.signUp('ines'), there.signUp('mei')])
    expect(answers.map((one) => one.statusCode)).toEqual([200, 200])
    expect(await here.db.read.all("SELECT 1 FROM users WHERE role = 'admin'")).toHaveLength(1)
    // A session that one server began is known to the other.
    const ids = await Promise.all(answers.map(({ cookie }) => there.ask('GET', '/api/me', { cookie })))
    expect(ids.map((one) => one.json().name)).toEqual(['ines', 'mei'])
    await there.close()
  })
})
