import { afterEach, describe, expect, it } from 'vitest'
import { type World, world } from './fixture.ts'

let here: World
afterEach(() => here.close())

describe('demo mode', () => {
  it('has Alice and Bob in a group, Carol in none, and an operator', async () => {
    here = await world({ isDemo: true })
    expect((await here.ask('GET', '/api/welcome')).json()).toEqual({
      setup_needed: false,
      demo: true,
      demo_users: [
        { id: 'alice', name: 'Alice' },
        { id: 'bob', name: 'Bob' },
        { id: 'carol', name: 'Carol' },
        { id: 'admin', name: 'Admin' },
      ],
    })
    for (const [id, role, group] of [
      ['alice', 'member', 'study'],
      ['bob', 'member', 'study'],
      ['carol', 'member', null],
      ['admin', 'admin', null],
    ]) {
      expect((await here.ask('GET', '/api/me', { as: id! })).json()).toMatchObject({
        id,
        role,
        status: 'approved',
        email: null,
        demo: true,
        default_group: group,
      })
    }
    expect((await here.ask('GET', '/api/admin/users', { as: 'admin' })).json().users).toHaveLength(4)
    expect((await here.ask('GET', '/api/admin/users', { as: 'alice' })).statusCode).toBe(403)
  })

  it('goes by the header alone', async () => {
    here = await world({ isDemo: true })
    expect((await here.ask('GET', '/api/elsewhere')).statusCode).toBe(401)
    for (const as of ['mallory', 'ALICE', '', "alice' OR '1"]) {
      expect((await here.ask('GET', '/api/elsewhere', { as })).statusCode).toBe(401)
    }
    const { token } = (await here.ask('POST', '/api/tokens', { as: 'bob', body: { name: 'x' } })).json()
    const headers = { authorization: `Bearer ${token}` }
    expect((await here.ask('GET', '/api/elsewhere', { headers })).statusCode).toBe(401)
    expect((await here.ask('GET', '/api/elsewhere', { as: 'alice', headers })).json().userId).toBe('alice')
    expect((await here.signUp('ines')).json().type).toBe('demo-mode')
  })

  it('changes nothing by being seeded again', async () => {
    here = await world({ isDemo: true })
    await here.ask('DELETE', '/api/groups/study/members/bob', { as: 'alice' })
    const rows = async () => [
      await here.db.read.all('SELECT * FROM users ORDER BY id'),
      await here.db.read.all('SELECT * FROM memberships ORDER BY user_id'),
    ]
    const before = await rows()
    here.clock.advance(1_000)
    await here.accounts.seedDemo()
    expect(await rows()).toEqual(before)
  })
})

describe('outside demo mode', () => {
  it('refuses the header, even beside a good session', async () => {
    here = await world()
    const { cookie } = await here.signUp('ines')
    const answer = await here.ask('GET', '/api/elsewhere', { as: 'alice', cookie })
    expect([answer.statusCode, answer.json().detail]).toEqual([400, 'X-Demo-User is only for demo mode.'])
  })

  it('has no demo people, though a demo ran on the same data', async () => {
    here = await world()
    await here.accounts.seedDemo()
    expect((await here.ask('GET', '/api/welcome')).json().setup_needed).toBe(true)
    const { cookie } = await here.signUp('ines')
    expect((await here.ask('GET', '/api/me', { cookie })).json()).toMatchObject({
      role: 'admin',
      status: 'approved',
    })
    expect((await here.ask('GET', '/api/admin/users', { cookie })).json().users).toHaveLength(1)
  })
})
