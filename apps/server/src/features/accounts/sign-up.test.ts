import { afterEach, describe, expect, it } from 'vitest'
import { PASSWORD, type World, world } from './fixture.ts'

let here: World
afterEach(() => here.close())

describe('signing up', () => {
  it('makes the first person the admin, approved, with a group of their own', async () => {
    here = await world()
    expect((await here.ask('GET', '/api/welcome')).json()).toEqual({
      setup_needed: true,
      demo: false,
      demo_users: [],
    })
    const answer = await here.signUp('ines')
    expect(answer.statusCode).toBe(200)
    const me = (await here.ask('GET', '/api/me', { cookie: answer.cookie })).json()
    expect(me).toMatchObject({
      name: 'ines',
      email: 'ines@example.org',
      role: 'admin',
      status: 'approved',
      demo: false,
    })
    const { groups } = (await here.ask('GET', '/api/groups', { cookie: answer.cookie })).json()
    expect(groups).toEqual([
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

  it('lets everyone else wait until they are let in', async () => {
    here = await world()
    const admin = await here.signUp('ines')
    const mei = await here.signUp('mei')
    const refused = await here.ask('GET', '/api/elsewhere', { cookie: mei.cookie })
    expect(refused.statusCode).toBe(403)
    expect(refused.json().type).toBe('account-pending')
    expect((await here.ask('GET', '/api/me', { cookie: mei.cookie })).json()).toMatchObject({
      status: 'pending',
      role: 'member',
      default_group: null,
    })
    const { users } = (await here.ask('GET', '/api/admin/users', { cookie: admin.cookie })).json()
    expect(users.map((one: { name: string; status: string }) => [one.name, one.status])).toEqual([
      ['mei', 'pending'],
      ['ines', 'approved'],
    ])
    const approve = `/api/admin/users/${users[0].id}/approve`
    expect((await here.ask('POST', approve, { cookie: mei.cookie })).statusCode).toBe(403)
    expect((await here.ask('POST', approve, { cookie: admin.cookie })).json()).toMatchObject({
      name: 'mei',
      status: 'approved',
    })
    expect(here.changes.at(-1)).toEqual({ kind: 'account', id: users[0].id })
    expect((await here.ask('GET', '/api/elsewhere', { cookie: mei.cookie })).statusCode).toBe(200)
    // A second click gives no second group.
    await here.ask('POST', approve, { cookie: admin.cookie })
    expect((await here.ask('GET', '/api/groups', { cookie: mei.cookie })).json().groups).toHaveLength(1)
  })
  it('answers a wrong pair', async () => {
    here = await world()
    await here.signUp('ines')
    const wrong = await here.ask('POST', '/api/auth/sign-in/email', {
      body: { email: 'ines@example.org', password: `${PASSWORD}!` },
    })
    expect([wrong.statusCode, wrong.json().detail]).toEqual([
      401,
      'That email and password do not go together.',
    ])
  })
})
