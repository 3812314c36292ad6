import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openEar } from '../../testing/database.ts'
import { Harness } from '../../testing/harness.ts'
import { PASSWORD, type World, world } from './fixture.ts'

/** What PostgreSQL announces to other servers, by the triggers of migrations/postgres/0002_access_news.sql. */
describe('what decides who may read what', () => {
  let here: World
  let announced: () => Promise<number>
  let admin: { id: string; cookie: string }
  let ines: { id: string; cookie: string }
  beforeEach(async () => {
    here = await world()
    admin = await here.person('admin')
    ines = await here.person('ines')
    announced = await openEar('garner_access')
  })
  afterEach(() => here.close())

  const sql = (text: string, ...params: string[]) => here.db.transaction((tx) => tx.run(text, ...params))
  const auth = (path: string, { cookie }: { cookie: string }, body: object = {}) =>
    here.ask('POST', `/api/auth/${path}`, { cookie, body })
  const signIn = (body = { email: 'ines@example.org', password: PASSWORD }) =>
    here.ask('POST', '/api/auth/sign-in/email', { body })

  it('is announced when somebody is let in or turned away, has another name or role, or is gone', async () => {
    const { id } = (await here.signUp('carol')).json().user
    expect(await announced()).toBe(0)
    for (const decision of ['approve', 'reject']) {
      await here.ask('POST', `/api/admin/users/${id}/${decision}`, { cookie: admin.cookie })
      expect([decision, await announced()]).toEqual([decision, 1])
    }
    await auth('update-user', ines, { name: 'Inês' })
    expect(await announced()).toBe(1)
    await sql("UPDATE users SET role = 'admin' WHERE id = ?", ines.id)
    expect(await announced()).toBe(1)
    const { statusCode } = await here.ask('DELETE', '/api/me', { ...ines, body: { confirm: 'delete' } })
    expect([statusCode, await announced()]).toEqual([204, 1])
    // Of whom nothing else is there.
    await sql('DELETE FROM sessions WHERE user_id = ?', id)
    await sql('DELETE FROM memberships WHERE user_id = ?', id)
    await announced()
    await sql('DELETE FROM users WHERE id = ?', id)
    expect(await announced()).toBe(1)
  })

  it('is announced when a session ends or is renewed, and not when one begins', async () => {
    const other = await signIn()
    expect([other.statusCode, await announced()]).toEqual([200, 0])
    await auth('sign-out', other)
    expect(await announced()).toBe(1)
    await signIn()
    await auth('revoke-other-sessions', ines)
    expect(await announced()).toBeGreaterThan(0)
    await signIn()
    const change = { currentPassword: PASSWORD, newPassword: `${PASSWORD} too`, revokeOtherSessions: true }
    expect((await auth('change-password', ines, change)).statusCode).toBe(200)
    expect(await announced()).toBeGreaterThan(0)
    await sql("UPDATE sessions SET expires_at = '2000-01-01T00:00:00.000Z' WHERE user_id = ?", admin.id)
    expect(await announced()).toBe(1)
    await here.accounts.sweep()
    expect(await announced()).toBe(1)
  })

  it('is announced when a token is revoked, and neither when it is made nor each time it is used', async () => {
    const { token, id } = (await here.ask('POST', '/api/tokens', { ...ines, body: { name: 'phone' } })).json()
    const headers = { authorization: `Bearer ${token}` }
    expect((await here.ask('GET', '/api/elsewhere', { headers })).statusCode).toBe(200)
    const used = 'SELECT 1 FROM api_tokens WHERE last_used_at_ms IS NOT NULL'
    while (!(await here.db.read.get(used))) await new Promise(setImmediate)
    expect(await announced()).toBe(0)
    await here.ask('DELETE', `/api/tokens/${id}`, ines)
    expect(await announced()).toBe(1)
  })

  it('is announced when somebody comes into a group or goes, once, and not when they show their marks', async () => {
    const { id } = (await here.ask('POST', '/api/groups', { ...ines, body: { name: 'Us' } })).json()
    expect(await announced()).toBe(1)
    const members = `/api/groups/${id}/members`
    await here.ask('POST', members, { ...ines, body: { email: 'admin@example.org' } })
    expect(await announced()).toBe(1)
    await here.ask('PATCH', `/api/groups/${id}`, { ...ines, body: { show_reads: true } })
    expect(await announced()).toBe(0)
    await here.ask('DELETE', `${members}/${admin.id}`, ines)
    expect(await announced()).toBe(1)
    await sql('DELETE FROM groups WHERE id = ?', id)
    expect(await announced()).toBe(1)
  })

  it('is not announced when the transaction is rolled back', async () => {
    const failing = here.db.transaction(async (tx) => {
      await tx.run("UPDATE users SET status = 'rejected'")
      throw new Error('trouble')
    })
    await expect(failing).rejects.toThrow('trouble')
    expect(await announced()).toBe(0)
  })
})

it('nothing of it is announced by what happens all the time: saving, reading, marking, editing, fetching titles', async () => {
  const garner = await Harness.open()
  garner.site.rule = () => 'A title'
  const announced = await openEar('garner_access')
  const { id } = await garner.save('https://example.com/a')
  await garner.ask('PATCH', `/api/bookmarks/${id}/read`, { as: 'bob', body: { is_read: true } })
  await garner.list()
  await (await garner.web.garner.worker.step()).done
  const { version, title } = await garner.link(id)
  expect(title).toBe('A title')
  await garner.ask('PATCH', `/api/bookmarks/${id}`, { body: { version, title: 'By hand' } })
  await garner.ask('DELETE', `/api/bookmarks/${id}`)
  expect(await announced()).toBe(0)
})
