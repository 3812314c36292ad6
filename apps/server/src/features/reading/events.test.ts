import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Harness, type Listening } from '../../testing/harness.ts'

/** Both the stream and what it tells: on a file, where another process is another connection. */
let garner: Harness
let dir: string
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'garner-events-'))
  garner = await Harness.open({ path: join(dir, 'garner.db') })
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const A = 'https://example.com/a'

/** What is told within a look's time. */
async function told(by: Listening) {
  await garner.pass(300)
  return by.take()
}

describe('the stream', () => {
  test('begins at once, is never stored, and says from time to time that it is there', async () => {
    const alice = await garner.listen('alice')
    expect([alice.statusCode, alice.headers]).toEqual([
      200,
      expect.objectContaining({
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      }),
    ])
    await garner.settle()
    expect(alice.raw()).toMatch(/^retry: 2000\n\n: listening\n\n$/)
    alice.take()
    await garner.pass(30_000)
    expect(alice.raw()).toBe(': still here\n\n: still here\n\n')
  })

  test('is not for strangers', async () => {
    expect((await garner.listen(null)).statusCode).toBe(401)
  })

  test('with the database away: 503', async () => {
    garner.web.db.isAway = true
    expect((await garner.listen('alice')).statusCode).toBe(503)
    garner.web.db.isAway = false
  })

  test('ends when the program does', async () => {
    const { app, close } = await (await garner.process()).garner.web()
    const alice = await garner.listen('alice', app)
    await close()
    await garner.settle()
    expect(alice.hasEnded()).toBe(true)
  })
})

describe('members are told', () => {
  test('of a save: the link and the list, with their versions and no contents', async () => {
    const alice = await garner.listen('alice')
    const { id } = await garner.save(A, { as: 'bob', note: 'secret words' })
    await garner.pass(20) // sooner than the next look: the commit is a hint
    const events = alice.take()
    expect(events).toEqual([
      { event: 'bookmark', group: 'study', id, version: 1 },
      { event: 'list', group: 'study', version: 1 },
    ])
    expect(JSON.stringify(events)).not.toMatch(/secret|example/)
  })

  test('of a title that a worker in another process has stored', async () => {
    const { id } = await garner.save(A)
    const alice = await garner.listen('alice')
    const other = await garner.process()
    garner.site.rule = () => 'A title'
    await (await other.garner.worker.step()).done
    expect(await told(alice)).toEqual([
      { event: 'bookmark', group: 'study', id, version: 1 },
      { event: 'list', group: 'study', version: 2 },
    ])
    expect(await told(alice)).toEqual([])
  })

  test('of marks and of deletes: the list', async () => {
    const { id } = await garner.save(A)
    const alice = await garner.listen('alice')
    await garner.ask('PATCH', `/api/bookmarks/${id}/read`, { as: 'bob', body: { is_read: true } })
    expect(await told(alice)).toEqual([{ event: 'list', group: 'study', version: 1 }])
    await garner.ask('DELETE', `/api/bookmarks/${id}`)
    expect(await told(alice)).toEqual([{ event: 'list', group: 'study', version: 2 }])
  })

  test('of a member who does not want to be shown any more: the list', async () => {
    await garner.save(A)
    const alice = await garner.listen('alice')
    await garner.ask('PATCH', '/api/groups/study', { as: 'bob', body: { show_reads: false } })
    expect(await told(alice)).toEqual([{ event: 'list', group: 'study', version: 1 }])
  })

  test('of many changes at once: the list alone', async () => {
    const alice = await garner.listen('alice')
    for (let n = 0; n < 21; n++) await garner.save(`${A}${n}`)
    const events = await told(alice)
    expect(events.at(-1)).toEqual({ event: 'list', group: 'study', version: 21 })
    const burst = await garner.process()
    const { app } = await burst.garner.web()
    const saves = Array.from({ length: 25 }, (_, n) =>
      app.inject({
        method: 'POST',
        url: '/bookmarks',
        headers: { 'x-demo-user': 'bob' },
        payload: { url: `${A}/${n}` },
      }),
    )
    await Promise.all(saves)
    expect(await told(alice)).toEqual([{ event: 'list', group: 'study', version: 46 }])
  })

  test('of a group that they come into or are out of, and of nothing in it after that', async () => {
    const bob = await garner.listen('bob')
    await garner.ask('DELETE', '/api/groups/study/members/bob')
    expect(await told(bob)).toEqual([{ event: 'group', group: 'study' }])
    await garner.save(A)
    expect(await told(bob)).toEqual([])
  })

  test('of their own account: let in, turned away, gone', async () => {
    const bob = await garner.listen('bob')
    const set = (status: string) =>
      garner.web.db.transaction((tx) => tx.run("UPDATE users SET status = ? WHERE id = 'bob'", status))
    await set('rejected')
    expect(await told(bob)).toEqual([
      { event: 'account', status: 'rejected' },
      { event: 'group', group: 'study' },
    ])
    await set('approved')
    expect((await told(bob)).slice(0, 2)).toEqual([
      { event: 'account', status: 'approved' },
      { event: 'group', group: 'study' },
    ])
    await garner.web.db.transaction((tx) => tx.run("DELETE FROM users WHERE id = 'bob'"))
    expect((await told(bob))[0]).toEqual({ event: 'account', status: 'gone' })
  })

  test('and nobody else is', async () => {
    const carol = await garner.listen('carol')
    await garner.save(A)
    expect(await told(carol)).toEqual([])
  })

  test('again once the database is back', async () => {
    const alice = await garner.listen('alice')
    garner.web.db.isAway = true
    await garner.pass(2_000)
    garner.web.db.isAway = false
    await garner.save(A)
    expect((await told(alice)).map((one) => one.event)).toEqual(['bookmark', 'list'])
  })

  test('until their connection is closed; while nobody listens, nobody looks', async () => {
    const address = await garner.app.listen({ host: '127.0.0.1', port: 0 })
    const leave = new AbortController()
    const headers = { 'x-demo-user': 'alice' }
    const { body } = await fetch(`${address}/api/events`, { headers, signal: leave.signal })
    await body!.getReader().read()
    await garner.settle()
    expect(garner.clock.nextWakeInMs).toBe(250)
    leave.abort()
    // What is left is the share of the origin budget, which is looked after once a second.
    await vi.waitFor(() => expect(garner.clock.nextWakeInMs).toBe(1_000))
  })
})
