import { afterEach, describe, expect, it } from 'vitest'
import { type World, world } from './fixture.ts'

let here: World
afterEach(() => here.close())

const DELETE = { confirm: 'delete' }

async function rowsOf(userId: string): Promise<unknown[]> {
  const found = []
  for (const [table, column] of [
    ['users', 'id'],
    ['sessions', 'user_id'],
    ['credentials', 'user_id'],
    ['api_tokens', 'user_id'],
    ['memberships', 'user_id'],
    ['groups', 'personal_of'],
    ['idempotency', 'user_id'],
    ['setup', 'user_id'],
  ]) {
    const rows = await here.db.read.all(`SELECT 1 FROM ${table} WHERE ${column} = ?`, userId)
    if (rows.length > 0) found.push(table)
  }
  return found
}

describe('deleting an account', () => {
  it('takes the queue, then the photos, then the rows, and leaves nothing', async () => {
    here = await world()
    const admin = await here.signUp('ines')
    const mei = await here.signUp('mei')
    const { id } = mei.json().user
    const { cookie } = mei
    await here.ask('POST', `/api/admin/users/${id}/approve`, { cookie: admin.cookie })
    await here.ask('POST', '/api/tokens', {
      cookie,
      headers: { 'idempotency-key': 'k' },
      body: { name: 'phone' },
    })
    const group = (await here.ask('POST', '/api/groups', { cookie, body: { name: 'Family' } })).json().id
    await here.ask('POST', `/api/groups/${group}/members`, { cookie, body: { email: 'ines@example.org' } })
    const answer = await here.ask('DELETE', '/api/me', { cookie, body: DELETE })
    expect(answer.statusCode).toBe(204)
    expect(answer.headers['set-cookie']).toBe(
      'garner.session_token=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax',
    )
    expect(here.purged).toEqual([`queue of ${id}`, `photos of ${id}`, `rows of ${id}`])
    expect(await rowsOf(id)).toEqual([])
    expect((await here.ask('GET', '/api/me', { cookie })).statusCode).toBe(401)
    expect(here.changes.slice(-2)).toEqual([
      { kind: 'group', id: group },
      { kind: 'account', id },
    ])
    // What was shared goes on with those who are still there.
    const { groups } = (await here.ask('GET', '/api/groups', { cookie: admin.cookie })).json()
    expect(groups.find((one: { id: string }) => one.id === group)).toMatchObject({
      role: 'owner',
      members: [{ name: 'ines' }],
    })
  })

  it('tells the other features which groups end with the person', async () => {
    const ended: string[][] = []
    here = await world({
      isDemo: true,
      purges: { queue: async () => {}, rows: async (_tx, _userId, groups) => void ended.push(groups) },
    })
    const { id } = (await here.ask('POST', '/api/groups', { as: 'alice', body: { name: 'Alone' } })).json()
    await here.ask('DELETE', '/api/me', { as: 'alice', body: DELETE })
    expect(ended).toEqual([[id]])
    expect(await here.db.read.all('SELECT id FROM groups')).toEqual([{ id: 'study' }])
    expect((await here.ask('GET', '/api/groups', { as: 'bob' })).json().groups[0].role).toBe('owner')
  })

  it.each(['queue', 'photos', 'rows'] as const)(
    'keeps the account when the %s cannot go, says so, and finishes when it is repeated',
    async (failing) => {
      let isBroken = true
      const done: string[] = []
      const part = (name: string) => async () => {
        if (isBroken && name === failing) throw new Error('out of order')
        done.push(name)
      }
      here = await world({
        isDemo: true,
        purges: { queue: part('queue'), photos: part('photos'), rows: part('rows') },
      })
      const before = await rowsOf('bob')
      const failed = await here.ask('DELETE', '/api/me', { as: 'bob', body: DELETE })
      expect([failed.statusCode, failed.json().type]).toEqual([500, 'deletion-incomplete'])
      expect(await rowsOf('bob')).toEqual(before)
      expect(here.changes).toEqual([])
      expect((await here.ask('GET', '/api/elsewhere', { as: 'bob' })).statusCode).toBe(200)
      isBroken = false
      expect((await here.ask('DELETE', '/api/me', { as: 'bob', body: DELETE })).statusCode).toBe(204)
      expect(done.slice(-3)).toEqual(['queue', 'photos', 'rows'])
      expect(await rowsOf('bob')).toEqual([])
    },
  )

  it.each(['purge.after-queue', 'purge.after-photos'])('survives a fault at %s', async (point) => {
    let isBroken = true
    here = await world({
      isDemo: true,
      around: async (at, effect) => {
        if (isBroken && at === point) throw new Error('injected')
        return effect()
      },
    })
    expect((await here.ask('DELETE', '/api/me', { as: 'bob', body: DELETE })).statusCode).toBe(500)
    expect(await rowsOf('bob')).toContain('users')
    isBroken = false
    expect((await here.ask('DELETE', '/api/me', { as: 'bob', body: DELETE })).statusCode).toBe(204)
  })

  it('takes back with the rest what the other features deleted, when the rows cannot go', async () => {
    here = await world({
      isDemo: true,
      purges: {
        queue: async () => {},
        rows: async (tx, userId) => {
          await tx.run("UPDATE users SET name = 'gone' WHERE id = ?", userId)
          throw new Error('out of order')
        },
      },
    })
    await here.ask('DELETE', '/api/me', { as: 'bob', body: DELETE })
    expect((await here.ask('GET', '/api/me', { as: 'bob' })).json().name).toBe('Bob')
  })

  it('is not for the last admin while there are others; alone they may, and Garner is as new', async () => {
    here = await world()
    const { cookie } = await here.signUp('ines')
    const mei = await here.signUp('mei')
    const refused = await here.ask('DELETE', '/api/me', { cookie, body: DELETE })
    expect([refused.statusCode, refused.json().type]).toEqual([409, 'last-admin'])
    expect(here.purged).toEqual([])
    // Someone who still waits may take their account back.
    expect((await here.ask('DELETE', '/api/me', { cookie: mei.cookie, body: DELETE })).statusCode).toBe(204)
    expect((await here.ask('DELETE', '/api/me', { cookie, body: DELETE })).statusCode).toBe(204)
    expect((await here.ask('GET', '/api/welcome')).json().setup_needed).toBe(true)
    expect(await here.db.read.all('SELECT 1 FROM groups')).toEqual([])
  })

  it.each([undefined, {}, { confirm: 'yes' }, { confirm: 'delete', user: 'alice' }])(
    'is not done by %j',
    async (body) => {
      here = await world({ isDemo: true })
      expect((await here.ask('DELETE', '/api/me', { as: 'bob', body })).statusCode).toBe(400)
      expect(here.purged).toEqual([])
      expect((await here.ask('DELETE', '/api/me', { body: DELETE })).statusCode).toBe(401)
    },
  )
})
