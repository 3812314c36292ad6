import { afterEach, describe, expect, it } from 'vitest'
import { type World, world } from './fixture.ts'

let here: World
afterEach(() => here.close())

const members = (group: string, as: string, body: object) =>
  here.ask('POST', `/api/groups/${group}/members`, { as, body })
const remove = async (group: string, user: string, as: string) =>
  (await here.ask('DELETE', `/api/groups/${group}/members/${user}`, { as })).statusCode
const groupsOf = async (as: string) => (await here.ask('GET', '/api/groups', { as })).json().groups

describe('a group', () => {
  it('is made by a person, who owns it, and shows its members to its members', async () => {
    here = await world({ isDemo: true })
    const made = await here.ask('POST', '/api/groups', { as: 'carol', body: { name: ' Family ' } })
    expect(made.statusCode).toBe(201)
    expect(made.json()).toEqual({
      id: expect.any(String),
      name: 'Family',
      personal: false,
      role: 'owner',
      show_reads: false,
      members: [{ id: 'carol', name: 'Carol' }],
      links: 0,
      unread: 0,
    })
    const { id } = made.json()
    const added = await members(id, 'carol', { user: 'bob' })
    expect([added.statusCode, added.json()]).toEqual([201, { id: 'bob', name: 'Bob' }])
    expect(here.changes.slice(-2)).toEqual([
      { kind: 'group', id },
      { kind: 'account', id: 'bob' },
    ])
    // Any member may add.
    expect((await members(id, 'bob', { user: 'alice' })).statusCode).toBe(201)
    expect((await members(id, 'bob', { user: 'alice' })).statusCode).toBe(200)
    expect((await groupsOf('alice')).map((one: { id: string; role: string }) => [one.id, one.role])).toEqual([
      ['study', 'owner'],
      [id, 'member'],
    ])
    expect((await groupsOf('alice'))[1]).toMatchObject({ links: 3, unread: 2 })
  })

  it('is the same to a stranger as one that does not exist', async () => {
    here = await world({ isDemo: true })
    for (const [method, path, body] of [
      ['PATCH', '', { show_reads: true }],
      ['POST', '/members', { user: 'carol' }],
      ['DELETE', '/members/bob', undefined],
    ] as const) {
      const ask = (id: string) => here.ask(method, `/api/groups/${id}${path}`, { as: 'carol', body })
      const [theirs, missing] = [await ask('study'), await ask('nothing')]
      expect([theirs.statusCode, theirs.json().type]).toEqual([403, 'not-a-member'])
      expect(missing.json()).toEqual(theirs.json())
    }
    expect((await groupsOf('alice'))[0].members).toHaveLength(2)
  })

  it('refuses a removed member at once', async () => {
    here = await world({ isDemo: true })
    expect(await groupsOf('bob')).toHaveLength(1)
    expect(await remove('study', 'bob', 'alice')).toBe(204)
    expect(await groupsOf('bob')).toEqual([])
    expect((await here.ask('GET', '/api/me', { as: 'bob' })).json().default_group).toBeNull()
    expect((await members('study', 'bob', { user: 'bob' })).statusCode).toBe(403)
    expect(here.changes.slice(-2)).toEqual([
      { kind: 'group', id: 'study' },
      { kind: 'account', id: 'bob' },
    ])
  })

  it('lets members leave and only the owner remove others', async () => {
    here = await world({ isDemo: true })
    await members('study', 'alice', { user: 'carol' })
    expect(await remove('study', 'carol', 'bob')).toBe(403)
    expect(await remove('study', 'nobody', 'alice')).toBe(404)
    expect(await remove('study', 'bob', 'bob')).toBe(204)
    // The owner goes: the one who has been in longest takes over.
    expect(await remove('study', 'alice', 'alice')).toBe(204)
    expect((await groupsOf('carol'))[0]).toMatchObject({
      role: 'owner',
      members: [{ id: 'carol', name: 'Carol' }],
    })
    expect(await remove('study', 'carol', 'carol')).toBe(409)
  })

  it('keeps each member’s own choice about read marks', async () => {
    here = await world({ isDemo: true })
    const choose = (as: string, body: object) => here.ask('PATCH', '/api/groups/study', { as, body })
    expect((await groupsOf('bob'))[0].show_reads).toBe(true)
    expect((await choose('bob', { show_reads: false })).json()).toMatchObject({
      id: 'study',
      show_reads: false,
      links: 3,
    })
    expect((await groupsOf('alice'))[0].show_reads).toBe(true)
    expect((await groupsOf('bob'))[0].show_reads).toBe(false)
    expect((await choose('bob', { show_reads: 1 })).statusCode).toBe(400)
    expect((await choose('bob', { show_reads: true, user: 'alice' })).statusCode).toBe(400)
  })

  it('that is only for one person has no other members, ever', async () => {
    here = await world()
    const { cookie } = await here.signUp('ines')
    const mei = await here.person('mei')
    const { default_group: own, id } = (await here.ask('GET', '/api/me', { cookie })).json()
    const add = await here.ask('POST', `/api/groups/${own}/members`, {
      cookie,
      body: { email: 'mei@example.org' },
    })
    expect([add.statusCode, add.json().type]).toEqual([409, 'personal-group'])
    const leave = await here.ask('DELETE', `/api/groups/${own}/members/${id}`, { cookie })
    expect(leave.statusCode).toBe(409)
    const foreign = await here.ask('PATCH', `/api/groups/${own}`, {
      cookie: mei.cookie,
      body: { show_reads: true },
    })
    expect(foreign.statusCode).toBe(403)
  })

  it('is joined by e-mail, by approved people only, and does not tell those who wait from those who are not', async () => {
    here = await world()
    const { cookie } = await here.signUp('ines')
    const { id } = (await here.ask('POST', '/api/groups', { cookie, body: { name: 'Family' } })).json()
    const mei = await here.person('mei')
    await here.signUp('pending')
    const add = (body: object) => here.ask('POST', `/api/groups/${id}/members`, { cookie, body })
    expect((await add({ email: ' Mei@Example.org ' })).json()).toEqual({ id: mei.id, name: 'mei' })
    const [waiting, nobody] = [
      await add({ email: 'pending@example.org' }),
      await add({ email: 'x@example.org' }),
    ]
    expect([waiting.statusCode, waiting.json()]).toEqual([404, nobody.json()])
    expect((await add({ user: mei.id })).json().errors[0].path).toBe('user')
    expect((await add({})).statusCode).toBe(400)
    expect((await add({ email: 'mei@example.org', user: mei.id })).statusCode).toBe(400)
    // A save without a group stays with oneself, whatever else one is in.
    const own = (await here.ask('GET', '/api/me', { cookie })).json().default_group
    expect(
      (await here.ask('GET', '/api/groups', { cookie })).json().groups.map((one: { id: string }) => one.id),
    ).toEqual([own, id])
  })

  it('no longer counts someone who was turned away', async () => {
    here = await world({ isDemo: true })
    await here.ask('POST', '/api/admin/users/bob/reject', { as: 'admin' })
    expect((await groupsOf('alice'))[0].members).toEqual([{ id: 'alice', name: 'Alice' }])
    expect(await here.accounts.people.membership(here.db.read, 'bob', 'study')).toBeNull()
    expect(await here.accounts.people.isApproved(here.db.read, 'bob')).toBe(false)
  })

  it.each([
    {},
    { name: '' },
    { name: ' ' },
    { name: 'x'.repeat(81) },
    { name: 7 },
    { name: 'x', owner: 'alice' },
    { name: 'x', id: 'study' },
  ])('is not made from %j', async (body) => {
    here = await world({ isDemo: true })
    const before = await here.db.read.all('SELECT * FROM groups')
    expect((await here.ask('POST', '/api/groups', { as: 'bob', body })).statusCode).toBe(400)
    expect(await here.db.read.all('SELECT * FROM groups')).toEqual(before)
  })
})

describe('what other features may ask', () => {
  it('is who belongs where, and by what name', async () => {
    here = await world({ isDemo: true })
    const { people } = here.accounts
    const { read } = here.db
    expect(await people.membership(read, 'alice', 'study')).toEqual({ role: 'owner', showReads: true })
    expect(await people.membership(read, 'carol', 'study')).toBeNull()
    expect(await people.membership(read, 'alice', 'nothing')).toBeNull()
    expect(await people.defaultGroup(read, 'alice')).toBe('study')
    expect(await people.defaultGroup(read, 'carol')).toBeNull()
    expect(await people.isApproved(read, 'alice')).toBe(true)
    expect(await people.isApproved(read, 'nobody')).toBe(false)
    expect(await people.namesOf(read, ['bob', 'nobody'])).toEqual(new Map([['bob', 'Bob']]))
    expect(await here.db.transaction((tx) => people.membership(tx, 'bob', 'study'))).toMatchObject({
      role: 'member',
    })
  })
})
