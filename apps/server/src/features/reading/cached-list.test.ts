import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMemoryEntries } from '@garner/cache/memory'
import { ManualClock, StoreUnavailable } from '@garner/db'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { App } from '../../http.ts'
import { cutListeners, DIALECT, openStandstill } from '../../testing/database.ts'
import { Harness, type HarnessOptions, type Process } from '../../testing/harness.ts'

let garner: Harness
const open = async (options: HarnessOptions = {}) => {
  garner = await Harness.open(options)
}

const page = (n: number) => `https://example.com/${n}`
const read = (query = '', { as = 'alice', headers = {}, app = garner.app } = {}) =>
  app.inject({ method: 'GET', url: `/api/bookmarks${query}`, headers: { 'x-demo-user': as, ...headers } })
const mark = (id: string, as: string, is_read = true) =>
  garner.ask('PATCH', `/api/bookmarks/${id}/read`, { as, body: { is_read } })
const origin = () => garner.metric('garner_origin_reads_total')
const result = (name: string) => garner.metric(`garner_reads_total{result="${name}"}`)

async function sums(): Promise<number[]> {
  const ends = await Promise.all(['hit', 'coalesced', 'origin', 'stale', 'rejected'].map(result))
  const inFlight = await garner.metric('garner_reads_in_flight')
  return [await garner.metric('garner_reads_offered_total'), ends.reduce((a, b) => a + b) + inFlight]
}

/** A second server on the same file, with connections of its own. */
async function second(): Promise<App> {
  return (await secondProcess()).app
}

async function secondProcess(): Promise<Process & { app: App }> {
  const process = await garner.process()
  const { app, close } = await process.garner.web()
  onTestFinished(close)
  return { ...process, app }
}

function file(): string {
  const dir = mkdtempSync(join(tmpdir(), 'garner-lists-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return join(dir, 'garner.db')
}

/** A test of what only this database does: on the other there is nothing to skip. */
const testOn = (dialect: typeof DIALECT) => (name: string, work: () => Promise<void>) => {
  if (DIALECT === dialect) test(name, work)
}

describe('a list that is looked at again', () => {
  test('is read once for all members and limits, and says how old it is', async () => {
    await open()
    const ids: string[] = []
    for (let n = 0; n < 4; n++) ids.push((await garner.save(page(n))).id)
    await mark(ids[1]!, 'alice')
    await mark(ids[2]!, 'bob')
    const before = await origin()
    const first = await read()
    expect(first.headers['cache-status']).toBe('garner; fwd=miss; stored')
    garner.clock.advance(1_200)
    const again = await read('?limit=3', { as: 'bob' })
    expect([again.headers['cache-status'], again.headers.age]).toEqual(['garner; hit; ttl=0', '1'])
    expect((await origin()) - before).toBe(1)
    const isRead = ({ items }: { items: { is_read: boolean }[] }) => items.map((one) => one.is_read)
    expect([isRead(first.json()), isRead(again.json())]).toEqual([
      [false, true, false, false],
      [false, false, true],
    ])
    expect([first.json().counts, again.json().counts]).toEqual([
      { all: 4, unread: 3, mine: 4 },
      { all: 4, unread: 3, mine: 0 },
    ])
    expect(again.json().next).not.toBeNull()
  })

  test('is word for word what the same list without a cache is', async () => {
    await open({ env: { GARNER_MAX_STALE_S: '0', GARNER_FRESH_S: '0' } })
    for (let n = 0; n < 60; n++) {
      garner.clock.advance(1)
      const { id } = await garner.save(page(n), { as: n % 3 ? 'alice' : 'bob', note: 'Ünïcode 食' })
      if (n % 2) await mark(id, n % 4 ? 'alice' : 'bob')
    }
    for (const query of ['?limit=200', '?limit=7', '?sort=-saved_at', '']) {
      const shared = (await read(query)).json()
      // A search for what is in every link is read for the one who asks.
      const own = (await read(`${query}${query ? '&' : '?'}q=example`)).json()
      expect(shared).toEqual(own)
    }
  })

  test.each([
    ['q=x', 'fwd=bypass'],
    ['unread=true', 'fwd=bypass'],
    ['mine=true', 'fwd=bypass'],
  ])('with %s is read each time', async (query, status) => {
    await open()
    await garner.save(page(1))
    await read(`?${query}`)
    expect((await read(`?${query}`)).headers).toMatchObject({ 'cache-status': `garner; ${status}` })
    expect(await origin()).toBe(2)
  })

  test('is stale after GARNER_FRESH_S, with a negative ttl and its age; the next one is new', async () => {
    await open({ isToldOnly: true })
    await garner.save(page(1))
    const { etag } = (await read('', { as: 'bob' })).headers
    const again = () => read('', { as: 'bob', headers: { 'if-none-match': String(etag) } })
    garner.clock.advance(7_500)
    // Sent whole, though the reader has it: the age is what they need to know.
    const stale = await again()
    expect([stale.statusCode, stale.headers['cache-status'], stale.headers.age]).toEqual([
      ...[200, 'garner; hit; ttl=-6; detail=stale', '7'],
    ])
    await garner.settle()
    const fresh = await again()
    expect([fresh.statusCode, fresh.headers['cache-status']]).toEqual([304, 'garner; hit; ttl=2'])
  })
})

describe('what is changed', () => {
  test('here is seen by everybody’s next read', async () => {
    await open()
    const { id } = await garner.save(page(1))
    const titles = async () =>
      (await read('', { as: 'bob' })).json().items.map((one: { title: string }) => one.title)
    expect(await titles()).toEqual([null])
    await garner.ask('PATCH', `/api/bookmarks/${id}`, { body: { version: 1, title: 'By hand' } })
    expect(await titles()).toEqual(['By hand'])
    await garner.ask('DELETE', `/api/bookmarks/${id}`)
    expect(await titles()).toEqual([])
  })

  // PostgreSQL is not asked by every read whether anything has changed: what happens there is in the tests below.
  testOn('sqlite')('by another process on the same file is seen by the next read', async () => {
    await open({ path: file() })
    const other = await second()
    expect((await read('', { app: other, as: 'bob' })).json().items).toEqual([])
    const { id } = await garner.save(page(1))
    expect((await read('', { app: other, as: 'bob' })).json().items).toHaveLength(1)
    await mark(id, 'bob')
    expect((await read('', { app: other, as: 'bob' })).json().items[0].is_read).toBe(true)
    await garner.ask('DELETE', `/api/bookmarks/${id}`)
    expect((await read('', { app: other, as: 'bob' })).json().items).toEqual([])
  })

  test('by oneself is never answered with less, where nobody can be asked', async () => {
    await open({ isToldOnly: true })
    await read()
    const { id } = await garner.save(page(1))
    expect((await read()).json().items).toHaveLength(1)
    await mark(id, 'alice')
    expect((await read()).json().items[0].is_read).toBe(true)
    await garner.ask('DELETE', `/api/bookmarks/${id}`)
    expect((await read()).json().items).toHaveLength(0)
  })

  test('elsewhere is seen with X-Garner-Min-Version, or once the copy is not fresh any more', async () => {
    await open({ isToldOnly: true })
    const other = await second()
    await read('', { app: other })
    const saved = await garner.ask('POST', '/api/bookmarks', { body: { url: page(1) } })
    const items = async (headers = {}, as = 'alice') =>
      (await read('', { app: other, as, headers })).json().items.length
    expect(await items()).toBe(0)
    const headers = { 'x-garner-min-version': String(saved.headers['x-garner-version']) }
    expect(await items(headers)).toBe(1)
    expect(await items({}, 'bob')).toBe(1)
    const early = await read('', { app: other, headers: { 'x-garner-min-version': '9' } })
    expect([early.statusCode, early.headers['retry-after']]).toEqual([503, '1'])
  })

  test('is read from a replica, and from the primary by those for whom the replica is too far behind', async () => {
    const path = file()
    await open({ path, isToldOnly: true })
    await garner.save(page(1))
    garner.replica = await openStandstill(path)
    const saved = await garner.ask('POST', '/api/bookmarks', { body: { url: page(2) } })
    const other = await second()
    const items = async (headers = {}) => (await read('', { app: other, headers })).json().items.length
    expect(await items()).toBe(1)
    const headers = { 'x-garner-min-version': String(saved.headers['x-garner-version']) }
    expect(await items(headers)).toBe(2)
    expect(await items()).toBe(2)
  })

  test('elsewhere is heard of through the shared cache', async () => {
    await open({ isToldOnly: true, shared: createMemoryEntries({ clock: new ManualClock() }) })
    const other = await second()
    await read('', { app: other, as: 'bob' })
    const { id } = await garner.save(page(1))
    await garner.settle()
    expect((await read('', { app: other, as: 'bob' })).json().items).toHaveLength(1)
    await garner.ask('DELETE', `/api/bookmarks/${id}`)
    await garner.settle()
    expect((await read('', { app: other, as: 'bob' })).json().items).toHaveLength(0)
  })
})

describe('a shared cache that fails', () => {
  test('is as good as none, and counted', async () => {
    const shared = createMemoryEntries({ clock: new ManualClock() })
    shared.look = () => Promise.reject(new Error('connection lost'))
    await open({ shared })
    await garner.save(page(1))
    expect((await read()).json().items).toHaveLength(1)
    expect(await garner.metric('garner_shared_cache_failures_total')).toBeGreaterThan(0)
  })
})

describe('who may read', () => {
  const statusOf = async (app: App) => (await read('?group=study', { app, as: 'bob' })).statusCode

  test('is asked of the database the moment it changes, also by another process: asked first, or told', async () => {
    await open({ path: file(), hasNews: true })
    const { app, db } = await secondProcess()
    await db.hearing()
    await garner.save(page(1))
    for (const one of [garner.app, app]) expect(await statusOf(one)).toBe(200)
    const gone = db.heard()
    await garner.ask('DELETE', '/api/groups/study/members/bob')
    await gone
    for (const one of [garner.app, app]) expect(await statusOf(one)).toBe(403)
    const back = db.heard()
    await garner.ask('POST', '/api/groups/study/members', { body: { user: 'bob' } })
    await back
    for (const one of [garner.app, app]) expect(await statusOf(one)).toBe(200)
  })

  // On SQLite nobody is told, so nothing can be lost.
  testOn('postgres')('is asked again once a lost connection for news is there again', async () => {
    await open({ path: file(), hasNews: true })
    const { app, db } = await secondProcess()
    await db.hearing()
    expect(await statusOf(app)).toBe(200)
    await garner.web.db.transaction(async (tx) => {
      // Without its triggers: nobody is told.
      await tx.run('SET LOCAL session_replication_role = replica')
      await tx.run("DELETE FROM memberships WHERE user_id = 'bob'")
    })
    expect(await statusOf(app)).toBe(200)
    const again = db.heard()
    expect(await cutListeners()).toBe(2)
    await again
    expect(await statusOf(app)).toBe(403)
  })

  test('is known for GARNER_ACCESS_MAX_AGE_S at most where it cannot be asked each time, used or not', async () => {
    await open({ isToldOnly: true })
    const other = await second()
    await garner.save(page(1))
    const status = async (app: App) => (await read('?group=study', { app, as: 'bob' })).statusCode
    expect([await status(garner.app), await status(other)]).toEqual([200, 200])
    await garner.ask('DELETE', '/api/groups/study/members/bob')
    expect(await status(garner.app)).toBe(403)
    for (let n = 0; n < 5; n++) {
      await status(other)
      garner.clock.advance(1_000)
    }
    expect(await status(other)).toBe(200)
    garner.clock.advance(1)
    expect(await status(other)).toBe(403)
  })

  test('with 0 is asked each time', async () => {
    await open({ isToldOnly: true, env: { GARNER_ACCESS_MAX_AGE_S: '0' } })
    const other = await second()
    expect((await read('?group=study', { app: other, as: 'bob' })).statusCode).toBe(200)
    await garner.ask('DELETE', '/api/groups/study/members/bob')
    expect((await read('?group=study', { app: other, as: 'bob' })).statusCode).toBe(403)
  })

  test('that cannot be known is 503, warm copy or not', async () => {
    await open({ isToldOnly: true })
    await garner.save(page(1))
    expect((await read()).statusCode).toBe(200)
    garner.web.db.isAway = true
    expect((await read()).statusCode).toBe(200)
    garner.clock.advance(5_001)
    const late = await read()
    garner.web.db.isAway = false
    expect([late.statusCode, late.headers['retry-after'], late.body]).toEqual([
      ...[503, '2', expect.not.stringContaining('example.com')],
    ])
  })

  test('is not decided by what is in the shared cache, and what is put there by hand is not shown', async () => {
    const entries = createMemoryEntries({ clock: new ManualClock() })
    await open({ isToldOnly: true, shared: entries })
    await garner.save(page(1))
    const { id: mine } = (await garner.ask('POST', '/api/groups', { body: { name: 'Own' } })).json()
    await garner.save(page(2), { group: mine })
    await read(`?group=${mine}`)
    await garner.settle()
    // Alice's own list in the place of the shared one, as ours as ever it was; then something that never was.
    const look = { minVersion: 0, floor: 0, freshMs: 1e9, token: 'x', leaseMs: 60_000 }
    const { copy } = await entries.look(address(mine), look)
    for (const bytes of [copy!.bytes, Buffer.from('{"items":[]}')]) {
      const request = { ...look, floor: 1e15 }
      expect((await entries.look(address('study'), request)).fill).toBe('yours')
      await entries.forget(address('study'), { version: 0, keepMs: 1 })
      await entries.look(address('study'), look)
      await entries.store(address('study'), {
        token: 'x',
        version: copy!.version,
        ageMs: 0,
        keepMs: 60_000,
        bytes,
      })
      const other = await second()
      const shown = await read('?group=study', { app: other, as: 'bob' })
      expect(shown.json().items.map((one: { url: string }) => one.url)).toEqual([page(1)])
      expect((await read('?group=study', { app: other, as: 'carol' })).statusCode).toBe(403)
    }
  })
})

const address = (group: string) => `${group.length}:${group}oldest 50`

describe('the budget', () => {
  test('that cannot be renewed ends: a copy while it is young enough, then 503, and nothing is read', async () => {
    const env = { GARNER_FAULT: Array.from({ length: 40 }, (_, n) => `budget.renew:fail@${n + 2}`).join() }
    await open({ hasBudget: true, isToldOnly: true, env })
    expect((await read()).statusCode).toBe(200)
    const before = await origin()
    await garner.pass(5_000)
    const stale = await read()
    expect([stale.statusCode, stale.headers['cache-status']]).toEqual([
      ...[200, expect.stringMatching(/ttl=-\d+; detail=stale$/)],
    ])
    const search = await read('?q=x')
    expect([search.statusCode, search.json().type, search.headers['retry-after']]).toEqual([503, 'busy', '1'])
    garner.clock.advance(60_000)
    expect((await read()).statusCode).toBe(503)
    expect(await origin()).toBe(before)
    expect(await garner.metric('garner_origin_share')).toBe(0)
    expect(await garner.metric('garner_origin_renewal_failures_total')).toBeGreaterThan(0)
    const [offered, ended] = await sums()
    expect(offered).toBe(ended)
  })

  test('that is spent leaves others a copy from before a save, and whoever saved a refusal', async () => {
    const GARNER_FAULT = Array.from({ length: 40 }, (_, n) => `budget.renew:fail@${n + 2}`).join()
    await open({ hasBudget: true, isToldOnly: true, env: { GARNER_FAULT, GARNER_FRESH_S: '30' } })
    expect((await read()).json().items).toHaveLength(0)
    await garner.pass(5_000)
    await garner.save(page(1))
    expect((await read()).statusCode).toBe(503)
    const other = await read('', { as: 'bob' })
    expect([other.statusCode, other.json().items]).toEqual([200, []])
    // Young enough to be fresh, and known not to be.
    expect(other.headers['cache-status']).toBe('garner; hit; ttl=-1; detail=stale')
  })

  test('that was never given allows nothing', async () => {
    await open({ hasBudget: true, env: { GARNER_FAULT: 'budget.renew:fail' } })
    expect((await read()).statusCode).toBe(503)
    expect(await origin()).toBe(0)
  })

  test('a read that hangs is refused after GARNER_READ_WAIT_MS, and holds nobody else up for longer', async () => {
    await open({ env: { GARNER_FAULT: 'origin.read:hang', GARNER_READ_WAIT_MS: '100' } })
    const waiting = Array.from({ length: 20 }, () => read())
    await garner.settle()
    expect(await garner.metric('garner_reads_in_flight')).toBe(20)
    await garner.pass(100)
    for (const { statusCode, headers } of await Promise.all(waiting))
      expect([statusCode, headers['retry-after']]).toEqual([503, '1'])
    const [offered, ended] = await sums()
    expect(offered).toBe(ended)
  })

  test('what a read was given up for ends at the database, too: all of it has one deadline', async () => {
    await open()
    await garner.save(page(1))
    await read()
    await read('?q=x')
    const whole = { maxMs: 2_000, signal: expect.any(AbortSignal) }
    expect(garner.web.db.bounds).toEqual([whole, whole])
    // A replica that is slow, and then no use, has spent a part of it.
    const seen: number[] = []
    garner.replica = {
      readWithin: async ({ maxMs }) => {
        seen.push(maxMs)
        garner.clock.advance(800)
        throw new StoreUnavailable('busy', 'reading')
      },
    }
    const { app, db } = await secondProcess()
    const before = db.bounds.length
    await read('', { app })
    expect([seen, db.bounds.slice(before)]).toEqual([[2_000], [{ ...whole, maxMs: 1_200 }]])
  })

  test('200 at once are one read', async () => {
    await open()
    await garner.save(page(1))
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, n) => read('', { as: n % 2 ? 'alice' : 'bob' })),
    )
    expect(new Set(answers.map((one) => one.statusCode))).toEqual(new Set([200]))
    expect(await origin()).toBe(1)
    expect([await result('origin'), (await result('coalesced')) + (await result('hit'))]).toEqual([1, 199])
  })

  test('more than a process can answer in time are turned away before anything else, and counted', async () => {
    await open({ env: { GARNER_FAULT: 'origin.read:hang' } })
    const waiting = Array.from({ length: 1_000 }, () => read())
    await garner.settle()
    const more = await read()
    expect([more.statusCode, more.json().type, more.headers['retry-after']]).toEqual([503, 'busy', '1'])
    expect(await result('rejected')).toBe(1)
    await garner.pass(250)
    await Promise.all(waiting)
    expect(await sums()).toEqual([1_001, 1_001])
  })

  test('is on the operations page, with who holds it', async () => {
    await open({ hasBudget: true })
    await read()
    const { reads } = (await garner.ask('GET', '/api/admin/overview', { as: 'admin' })).json()
    expect(reads).toMatchObject({
      ...{ offered: 1, origin: 1, rejected: 0, in_flight: 0, origin_reads: 1 },
      share: { rate: expect.any(Number), renewals: expect.any(Number), renewal_failures: 0 },
      budget: { rate: 100, concurrency: 20, holders: [{ holder: 'process-1' }] },
    })
    expect(reads.share.rate).toBeGreaterThan(0)
  })
})
