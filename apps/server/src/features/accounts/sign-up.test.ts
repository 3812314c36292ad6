import { afterEach, describe, expect, it } from 'vitest'
import { refuseInserts } from '../../testing/database.ts'
import { PASSWORD, type World, world } from './fixture.ts'

let here: World
afterEach(() => here.close())

const SIGN_UP = '/api/auth/sign-up/email'

describe('the first account', () => {
  it('becomes the admin, approved, with a group of their own', async () => {
    here = await world()
    expect((await here.ask('GET', '/api/welcome')).json()).toEqual({
      setup_needed: true,
      demo: false,
      demo_users: [],
    })
    const answer = await here.signUp('ines')
    expect(answer.statusCode).toBe(200)
    const me = (await here.ask('GET', '/api/me', { cookie: answer.cookie })).json()
    expect(me).toEqual({
      id: answer.json().user.id,
      name: 'ines',
      email: 'ines@example.org',
      role: 'admin',
      status: 'approved',
      default_group: expect.any(String),
      demo: false,
    })
    expect((await here.ask('GET', '/api/groups', { cookie: answer.cookie })).json().groups).toEqual([
      {
        id: me.default_group,
        name: 'Only me',
        personal: true,
        role: 'owner',
        show_reads: false,
        members: [{ id: me.id, name: 'ines' }],
        links: 3,
        unread: 2,
      },
    ])
    expect((await here.ask('GET', '/api/welcome')).json().setup_needed).toBe(false)
  })

  it('is one admin when several people are first at once', async () => {
    here = await world()
    const answers = await Promise.all(['ines', 'mei', 'bo', 'ali'].map((name) => here.signUp(name)))
    expect(answers.map((one) => one.statusCode)).toEqual([200, 200, 200, 200])
    const people = await here.db.read.all<{ role: string; status: string }>('SELECT role, status FROM users')
    expect(people.filter((one) => one.role === 'admin')).toEqual([{ role: 'admin', status: 'approved' }])
    expect(people.filter((one) => one.status === 'pending')).toHaveLength(3)
    expect(await here.db.read.all('SELECT 1 FROM groups')).toHaveLength(1)
  })

  it('is still made the admin when the server died between the account and that', async () => {
    here = await world()
    const answer = await here.signUp('ines')
    await here.db.transaction(async (tx) => {
      await tx.run('DELETE FROM setup')
      await tx.run('DELETE FROM groups')
      await tx.run("UPDATE users SET role = 'member', status = 'pending'")
    })
    expect((await here.ask('GET', '/api/me', { cookie: answer.cookie })).json()).toMatchObject({
      role: 'admin',
      status: 'approved',
      default_group: expect.any(String),
    })
  })
})

describe('asking for an account', () => {
  it('waits until the admin lets the person in', async () => {
    here = await world()
    const admin = await here.signUp('ines')
    const mei = await here.signUp('mei')
    for (const url of ['/api/elsewhere', '/api/groups', '/api/tokens']) {
      const refused = await here.ask('GET', url, { cookie: mei.cookie })
      expect([refused.statusCode, refused.json().type]).toEqual([403, 'account-pending'])
    }
    expect((await here.ask('GET', '/api/me', { cookie: mei.cookie })).json()).toMatchObject({
      status: 'pending',
      role: 'member',
      default_group: null,
    })
    const { users } = (await here.ask('GET', '/api/admin/users', { cookie: admin.cookie })).json()
    expect(users).toEqual([
      expect.objectContaining({
        name: 'mei',
        status: 'pending',
        asked_at: expect.stringMatching(/^\d{4}-.*Z$/),
      }),
      expect.objectContaining({ name: 'ines', status: 'approved' }),
    ])
    const approve = `/api/admin/users/${users[0].id}/approve`
    expect((await here.ask('POST', approve, { cookie: mei.cookie })).statusCode).toBe(403)
    expect((await here.ask('POST', approve)).statusCode).toBe(401)
    const let_in = await here.ask('POST', approve, { cookie: admin.cookie })
    expect(let_in.json()).toMatchObject({ name: 'mei', status: 'approved' })
    expect(here.changes.at(-1)).toEqual({ kind: 'account', id: users[0].id })
    expect((await here.ask('GET', '/api/elsewhere', { cookie: mei.cookie })).statusCode).toBe(200)
    // A second click gives no second group.
    await here.ask('POST', approve, { cookie: admin.cookie })
    expect((await here.ask('GET', '/api/groups', { cookie: mei.cookie })).json().groups).toHaveLength(1)
  })

  it('can be turned down, also after the person was in, and from then on nothing is theirs to see', async () => {
    here = await world()
    const admin = await here.signUp('ines')
    const mei = await here.person('mei')
    expect((await here.ask('GET', '/api/elsewhere', { cookie: mei.cookie })).statusCode).toBe(200)
    const reject = await here.ask('POST', `/api/admin/users/${mei.id}/reject`, { cookie: admin.cookie })
    expect(reject.json().status).toBe('rejected')
    const refused = await here.ask('GET', '/api/elsewhere', { cookie: mei.cookie })
    expect([refused.statusCode, refused.json().type]).toEqual([403, 'account-rejected'])
    expect((await here.ask('GET', '/api/me', { cookie: mei.cookie })).json().status).toBe('rejected')
  })

  it('is decided by the admin about others only, and about people that exist', async () => {
    here = await world()
    const admin = await here.signUp('ines')
    const own = await here.ask('POST', `/api/admin/users/${admin.json().user.id}/reject`, {
      cookie: admin.cookie,
    })
    expect(own.statusCode).toBe(409)
    for (const verb of ['approve', 'reject']) {
      const nobody = await here.ask('POST', `/api/admin/users/nobody/${verb}`, { cookie: admin.cookie })
      expect(nobody.statusCode).toBe(404)
    }
  })

  it('is refused for an address that has one, however it is written', async () => {
    here = await world()
    await here.signUp('ines')
    const again = await here.ask('POST', SIGN_UP, {
      body: { name: 'Other', email: 'INES@Example.org', password: PASSWORD },
    })
    expect([again.statusCode, again.json().type]).toEqual([409, 'email-taken'])
    expect(again.headers['content-type']).toContain('application/problem+json')
    const both = await Promise.all([here.signUp('mei'), here.signUp('mei')])
    expect(both.map((one) => one.statusCode).sort()).toEqual([200, 409])
    expect(await here.db.read.all('SELECT 1 FROM users')).toHaveLength(2)
  })

  it.each([
    ['a forged role', { role: 'admin' }, 'role'],
    ['a forged status', { status: 'approved' }, 'status'],
    ['a forged id', { id: 'alice' }, 'id'],
    ['a picture from elsewhere', { image: 'https://example.org/x.png' }, 'image'],
    ['a short password', { password: 'short' }, 'password'],
    ['a long name', { name: 'x'.repeat(81) }, 'name'],
    ['a blank name', { name: '   ' }, 'name'],
    ['a name over two lines', { name: 'a\nb' }, 'name'],
    ['a name that turns the text around', { name: 'a\u202eb' }, 'name'],
    ['something that is no address', { email: 'not an address' }, 'email'],
    ['a name that is not text', { name: 7 }, 'name'],
  ])('refuses %s and leaves nothing behind', async (_what, wrong, path) => {
    here = await world()
    const answer = await here.ask('POST', SIGN_UP, {
      body: { name: 'Ines', email: 'ines@example.org', password: PASSWORD, ...wrong },
    })
    expect(answer.statusCode).toBe(400)
    expect(answer.headers['content-type']).toContain('application/problem+json')
    expect(answer.json().errors).toEqual([{ path, message: expect.any(String) }])
    expect(await here.db.read.all('SELECT 1 FROM users')).toEqual([])
  })

  it('is there whole or not at all: an account that cannot get its password is not left without one', async () => {
    here = await world()
    await refuseInserts(here.db, 'sessions')
    expect((await here.signUp('ines')).statusCode).toBe(500)
    expect(await here.db.read.all('SELECT 1 FROM users')).toEqual([])
  })

  it('puts no address and no password into the log', async () => {
    here = await world()
    await here.signUp('ines')
    await here.signUp('ines')
    await here.db.transaction((tx) => tx.run('DROP TABLE credentials'))
    await here.signUp('mei')
    await here.ask('POST', '/api/auth/sign-in/email', {
      body: { email: 'ines@example.org', password: PASSWORD },
    })
    expect(here.log.length).toBeGreaterThan(0)
    expect(here.log.join('')).not.toMatch(/example\.org|correct horse/)
  })
})
