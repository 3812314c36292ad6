import { afterEach, describe, expect, it } from 'vitest'
import { type World, world } from './fixture.ts'

let here: World
afterEach(() => here.close())

const headers = { 'idempotency-key': 'key-1' }

describe('making something twice under one Idempotency-Key', () => {
  it('makes one group, also when both requests race', async () => {
    here = await world({ isDemo: true })
    const make = (name = 'Family') =>
      here.ask('POST', '/api/groups', { as: 'alice', headers, body: { name } })
    const [first, second] = await Promise.all([make(), make()])
    expect(second.json()).toEqual(first.json())
    expect([first.headers, second.headers].map((one) => one['idempotency-replayed'])).toEqual([
      undefined,
      'true',
    ])
    expect((await make('Friends')).statusCode).toBe(409)
    expect((await here.ask('GET', '/api/groups', { as: 'alice' })).json().groups).toHaveLength(2)
  })

  it('adds one member, and tells whoever left the group so', async () => {
    here = await world({ isDemo: true })
    const add = (as: string) =>
      here.ask('POST', '/api/groups/study/members', { as, headers, body: { user: 'carol' } })
    expect((await add('bob')).statusCode).toBe(201)
    const again = await add('bob')
    expect([again.statusCode, again.headers['idempotency-replayed']]).toEqual([201, 'true'])
    await here.ask('DELETE', '/api/groups/study/members/bob', { as: 'bob' })
    expect((await add('bob')).statusCode).toBe(403)
  })

  it('makes one token', async () => {
    here = await world({ isDemo: true })
    const make = () => here.ask('POST', '/api/tokens', { as: 'alice', headers, body: { name: 'phone' } })
    const [first, second] = await Promise.all([make(), make()])
    expect(second.json()).toEqual(first.json())
    expect((await here.ask('GET', '/api/tokens', { as: 'alice' })).json().tokens).toHaveLength(1)
  })
})
