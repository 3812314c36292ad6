import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DIALECT } from '../../testing/database.ts'
import { meetingAt } from '../../testing/meeting.ts'
import { type World, world } from './fixture.ts'

const path = 'races'
let here: World
let there: World
afterEach(() => Promise.all([here.close(), there.close()]))
beforeEach(async () => {
  here = await world({ path, isDemo: true })
  there = await world({ path, isDemo: true, idPrefix: 'there' })
})

// In SQLite there is no race: transactions run one after the other.
describe.skipIf(DIALECT !== 'postgres')('two servers at once', () => {
  it('the last two members of a group leave: the second is the last one by then, and stays', async () => {
    const leave = (on: World, who: string) =>
      on.ask('DELETE', `/api/groups/study/members/${who}`, { as: who }).then((one) => one.statusCode)
    const codes = await meetingAt(
      { path, sql: "SELECT 1 FROM memberships WHERE group_id = 'study' FOR UPDATE" },
      [() => leave(here, 'alice'), () => leave(there, 'bob')],
    )
    expect(codes).toEqual([204, 409])
    expect(await here.db.read.all('SELECT user_id, role FROM memberships')).toEqual([
      { user_id: 'bob', role: 'owner' },
    ])
  })

  it('somebody is added to a group that ends with its only member: there is no such group, and no half of one', async () => {
    const { id } = (await here.ask('POST', '/api/groups', { as: 'carol', body: { name: 'Mine' } })).json()
    const codes = await meetingAt({ path, sql: "SELECT 1 FROM users WHERE id = 'carol' FOR UPDATE" }, [
      () => here.ask('DELETE', '/api/me', { as: 'carol', body: { confirm: 'delete' } }),
      () => there.ask('POST', `/api/groups/${id}/members`, { as: 'carol', body: { user: 'bob' } }),
    ])
    expect(codes.map((one) => one.statusCode)).toEqual([204, 403])
    expect(await here.db.read.all('SELECT 1 FROM groups WHERE id = ?', id)).toEqual([])
  })

  it('a 50th and a 51st token: the second is one too many', async () => {
    await here.db.transaction(async (tx) => {
      for (let n = 0; n < 49; n++) {
        await tx.run(
          `INSERT INTO api_tokens (id, user_id, name, start, hash, created_at_ms) VALUES (?, 'bob', 'x', '', ?, 0)`,
          ...[`t${n}`, `h${n}`],
        )
      }
    })
    const make = (on: World) => on.ask('POST', '/api/tokens', { as: 'bob', body: { name: 'x' } })
    const answers = await meetingAt({ path, sql: "SELECT 1 FROM users WHERE id = 'bob' FOR UPDATE" }, [
      () => make(here),
      () => make(there),
    ])
    expect(answers.map((one) => one.statusCode)).toEqual([201, 409])
  })
})
