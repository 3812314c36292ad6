import { migrate } from '@garner/db'
import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { Harness } from '../../testing/harness.ts'
import { totals } from '../../testing/totals.ts'
import { readingMigrations } from './migrations.ts'

let garner: Harness
beforeEach(async () => {
  garner = await Harness.open()
})

const page = (n: number) => `https://example.com/${n}`
const get = (query = '', { as = 'alice' as string | null, headers = {} } = {}) =>
  garner.ask('GET', `/api/bookmarks${query}`, { as, headers })
const urls = async (query: string, as = 'alice') =>
  (await garner.list(query, as)).items.map((one: { url: string }) => one.url)
const mark = (id: string, as: string, is_read = true) =>
  garner.ask('PATCH', `/api/bookmarks/${id}/read`, { as, body: { is_read } })

/** `count` links, two in each millisecond, so that the order needs their ids too. */
async function saved(count: number): Promise<string[]> {
  const ids: string[] = []
  for (let n = 0; n < count; n++) {
    if (n % 2 === 0) garner.clock.advance(1)
    ids.push((await garner.save(page(n), { as: n % 3 === 0 ? 'bob' : 'alice' })).id)
  }
  return ids
}

describe('a list', () => {
  test('that nobody has saved to is empty, at version 0', async () => {
    const answer = await get()
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({
      ...{ items: [], version: 0, next: null, group: 'study', counts: { all: 0, unread: 0, mine: 0 } },
    })
    expect(answer.headers).toMatchObject({
      ...{
        'x-garner-version': '0',
        'cache-control': 'private, no-cache',
        etag: expect.stringMatching(/^W\/"/),
      },
      ...{ 'cache-status': expect.stringMatching(/^garner;/), vary: expect.stringContaining('cookie') },
    })
  })

  test.each([
    ['oldest first', ''],
    ['newest first', '&sort=-saved_at'],
  ])('%s, page by page, has every link once', async (_name, sort) => {
    await saved(11)
    const expected = Array.from({ length: 11 }, (_, n) => page(n))
    if (sort !== '') expected.reverse()
    const seen: string[] = []
    let after = ''
    for (let pages = 0; pages < 10; pages++) {
      const { items, next } = await garner.list(`?limit=4${sort}${after}`)
      seen.push(...items.map((one: { url: string }) => one.url))
      if (next === null) break
      after = `&after=${next}`
    }
    expect(seen).toEqual(expected)
  })

  test('a full last page has no next; a link saved meanwhile moves no place', async () => {
    await saved(4)
    const { next } = await garner.list('?limit=4')
    expect(next).toBeNull()
    const first = await garner.list('?limit=2&sort=-saved_at')
    garner.clock.advance(10)
    await garner.save(page(99))
    expect(await urls(`?limit=2&sort=-saved_at&after=${first.next}`)).toEqual([page(1), page(0)])
  })

  test('unread and mine are the asking member’s; the counts are of the whole list and agree with the rows', async () => {
    const ids = await saved(6)
    await mark(ids[0]!, 'alice')
    await mark(ids[4]!, 'alice')
    await mark(ids[5]!, 'bob')
    expect(await urls('?unread=true')).toEqual([1, 2, 3, 5].map(page))
    expect(await urls('?mine=true')).toEqual([1, 2, 4, 5].map(page))
    expect(await urls('?mine=true&unread=true')).toEqual([1, 2, 5].map(page))
    expect(await urls('?unread=true', 'bob')).toEqual([0, 1, 2, 3, 4].map(page))
    expect(await urls('?unread=false&mine=false')).toHaveLength(6)
    for (const as of ['alice', 'bob']) {
      const { counts } = await garner.list('?limit=1&q=nothing', as)
      expect(counts).toEqual({
        all: (await urls('', as)).length,
        unread: (await urls('?unread=true', as)).length,
        mine: (await urls('?mine=true', as)).length,
      })
    }
  })

  test('of a group that one is not in, or that there is not: the same 403', async () => {
    const answers = [await get('?group=study', { as: 'carol' }), await get('?group=none')]
    expect(answers.map((one) => one.statusCode)).toEqual([403, 403])
    expect(answers[0]!.body).toBe(answers[1]!.body)
    expect((await get('', { as: 'carol' })).statusCode).toBe(403)
    expect((await get('', { as: null })).statusCode).toBe(401)
  })

  test('is refused to a member from the moment they are out', async () => {
    const { id } = await garner.save(page(1))
    expect((await get('', { as: 'bob' })).statusCode).toBe(200)
    await garner.ask('DELETE', '/api/groups/study/members/bob')
    expect((await get('?group=study', { as: 'bob' })).statusCode).toBe(403)
    expect((await garner.ask('GET', `/api/bookmarks/${id}`, { as: 'bob' })).statusCode).toBe(404)
  })

  test.each([
    ['limit=0', 'limit'],
    ['limit=201', 'limit'],
    ['limit=x', 'limit'],
    ['unread=maybe', 'unread'],
    ['sort=title', 'sort'],
    ['after=nonsense', 'after'],
    ['after=', 'after'],
    ['colour=blue', 'colour'],
    [`q=${'x'.repeat(201)}`, 'q'],
  ])('asked for with %s: 400', async (query, path) => {
    const answer = await get(`?${query}`)
    expect([answer.statusCode, answer.json().errors?.[0].path]).toEqual([400, path])
  })

  test('reads are counted by how they ended, and add up', async () => {
    const offered = async () => [
      await garner.metric('garner_reads_offered_total'),
      await garner.metric('garner_reads_total{result="origin"}'),
      await garner.metric('garner_reads_total{result="rejected"}'),
    ]
    await get()
    await get('?group=none')
    expect(await offered()).toEqual([2, 1, 1])
    expect(await garner.metric('garner_origin_reads_total')).toBe(1)
  })
})

describe('the totals', () => {
  /** A person, what they do, and to which of the links. */
  const command = fc.tuple(
    fc.constantFrom('alice', 'bob', 'admin'),
    fc.constantFrom('save', 'save', 'mark', 'mark', 'unmark', 'delete', 'edit', 'leave', 'join'),
    fc.nat(9),
  )

  test('are what counting the rows gives, whatever members do', async () => {
    await garner.ask('POST', '/api/groups', { as: 'bob', body: { name: 'Two' } })
    const { groups } = (await garner.ask('GET', '/api/groups', { as: 'bob' })).json()
    const lists: string[] = groups.map((one: { id: string }) => one.id)
    for (const group of lists)
      for (const as of ['alice', 'admin'])
        await garner.ask('POST', `/api/groups/${group}/members`, { as: 'bob', body: { user: as } })
    const done = new Set<string>()
    for (const [as, what, n] of fc.sample(command, { numRuns: 150, seed: 42 })) {
      const links = await garner.web.db.read.all<{ id: string; version: number }>(
        'SELECT id, version FROM bookmarks ORDER BY id',
      )
      const { id, version } = links[n % Math.max(1, links.length)] ?? { id: 'none', version: 1 }
      const group = lists[n % lists.length]!
      const answer = await {
        save: () =>
          garner.ask('POST', '/api/bookmarks', { as, body: { url: page(n), group, force: n % 2 === 0 } }),
        mark: () => mark(id, as),
        unmark: () => mark(id, as, false),
        delete: () => garner.ask('DELETE', `/api/bookmarks/${id}`, { as }),
        edit: () => garner.ask('PATCH', `/api/bookmarks/${id}`, { as, body: { version, note: `${n}` } }),
        leave: () => garner.ask('DELETE', `/api/groups/${group}/members/${as}`, { as }),
        join: () => garner.ask('POST', `/api/groups/${group}/members`, { as: 'bob', body: { user: as } }),
      }[what]!()
      if (answer.statusCode < 300) done.add(what)
      const { kept, counted } = await totals(garner.web.db.read)
      expect([as, what, kept]).toEqual([as, what, counted])
    }
    expect(done).toEqual(new Set(['save', 'mark', 'unmark', 'delete', 'edit', 'leave', 'join']))
    for (const as of ['admin', 'bob']) {
      await garner.ask('DELETE', '/api/me', { as, body: { confirm: 'delete' } })
      const { kept, counted } = await totals(garner.web.db.read)
      expect([as, kept]).toEqual([as, counted])
    }
  })

  test('of lists that were there before totals were kept are counted by the migration', async () => {
    const { db } = garner.web
    const ids = await saved(5)
    await mark(ids[0]!, 'bob')
    await mark(ids[3]!, 'alice')
    const { counts } = await garner.list()
    await db.transaction(async (tx) => {
      await tx.run('DROP TABLE list_totals')
      await tx.run("DELETE FROM migrations WHERE name = 'reading/0002_list_totals.sql'")
    })
    await migrate(db, [readingMigrations], garner.clock)
    const { kept, counted } = await totals(db.read)
    expect(kept).toEqual(counted)
    await garner.save(page(9))
    expect((await garner.list()).counts).toEqual({ ...counts, all: 6, unread: 5, mine: counts.mine + 1 })
  })
})

describe('a search', () => {
  beforeEach(async () => {
    await garner.save('https://example.com/bread', {
      note: 'Sourdough for 100% beginners',
      page_title: 'Café Zürich',
    })
    await garner.save('https://example.com/snake_case', { as: 'bob', note: 'Back\\slash' })
  })
  const hits = async (q: string, as = 'alice') => (await urls(`?q=${encodeURIComponent(q)}`, as)).length

  test.each([
    ['one word, of the note', 'sourdough', 1],
    ['several words, in any order and from anywhere', 'zürich BEGINNERS example', 1],
    ['all of them', 'sourdough snake', 0],
    ['a part of a word', 'dough', 1],
    ['the address', 'example.com', 2],
    ['other case, beyond ASCII', 'ZÜRICH', 1],
    ['an accent written as two characters', 'cafe\u0301', 1],
    ['full width', 'ｃａｆé', 1],
    ['a percent sign as itself', '100%', 1],
    ['a percent sign that is not there', 'b%d', 0],
    ['an underscore as itself', 'snake_case', 1],
    ['an underscore that is not there', 'snake-case', 0],
    ['an underscore that would match any letter', 'b_ead', 0],
    ['a backslash', 'back\\slash', 1],
    ['blanks', '   ', 2],
    ['quotes and SQL', "' OR 1=1 --", 0],
  ])('for %s', async (_name, q, count) => expect(await hits(q)).toBe(count))

  test('finds what others saved, and nothing of other groups', async () => {
    expect(await hits('sourdough', 'bob')).toBe(1)
    const { id: group } = (await garner.ask('POST', '/api/groups', { body: { name: 'Own' } })).json()
    await garner.save('https://example.com/secret', { group, note: 'sourdough' })
    expect(await hits('sourdough', 'bob')).toBe(1)
  })

  test('finds a title from when it is there, and a typed one', async () => {
    garner.site.rule = () => 'Rye and spelt'
    await (await garner.web.garner.worker.step()).done
    expect(await hits('rye')).toBe(2)
    const { items } = await garner.list()
    await garner.ask('PATCH', `/api/bookmarks/${items[0].id}`, { body: { version: 1, title: 'Emmer' } })
    expect(await hits('emmer')).toBe(1)
  })
})

describe('ETag and versions', () => {
  const etag = async (as = 'alice') => String((await get('', { as })).headers.etag)
  const isSame = async (tag: string) =>
    (await get('', { headers: { 'if-none-match': tag } })).statusCode === 304

  test('304 while nothing has changed, without a body', async () => {
    await garner.save(page(1))
    const answer = await get('', { headers: { 'if-none-match': await etag() } })
    expect([answer.statusCode, answer.body, answer.headers['x-garner-version']]).toEqual([304, '', '1'])
  })

  test.each([
    ['a save', () => garner.save(page(2)).then(() => {})],
    [
      'an edit',
      async (id: string) =>
        void (await garner.ask('PATCH', `/api/bookmarks/${id}`, { body: { version: 1 } })),
    ],
    ['one’s own mark', async (id: string) => void (await mark(id, 'alice'))],
    ['the mark of a member who shows it', async (id: string) => void (await mark(id, 'bob'))],
    ['a delete', async (id: string) => void (await garner.ask('DELETE', `/api/bookmarks/${id}`))],
    [
      'a title',
      async () => {
        garner.site.rule = () => 'Title'
        await (await garner.web.garner.worker.step()).done
      },
    ],
  ])('%s changes it', async (_name, change) => {
    const { id } = await garner.save(page(1))
    const before = await etag()
    expect(await isSame(before)).toBe(true)
    await change(id)
    expect(await isSame(before)).toBe(false)
  })

  test('a member who does not want to be shown any more changes it, and so does one who leaves', async () => {
    const { id } = await garner.save(page(1))
    await mark(id, 'bob')
    const shown = await etag()
    await garner.ask('PATCH', '/api/groups/study', { as: 'bob', body: { show_reads: false } })
    expect(await isSame(shown)).toBe(false)
    await garner.ask('PATCH', '/api/groups/study', { as: 'bob', body: { show_reads: true } })
    const again = await etag()
    expect(await isSame(again)).toBe(true)
    await garner.ask('DELETE', '/api/groups/study/members/bob')
    expect(await isSame(again)).toBe(false)
  })

  test('the version grows with every change that anyone can see', async () => {
    const versions = [(await garner.list()).version]
    const { id } = await garner.save(page(1))
    versions.push((await garner.list()).version)
    await garner.ask('PATCH', `/api/bookmarks/${id}`, { body: { version: 1, note: 'x' } })
    versions.push((await garner.list()).version)
    await garner.ask('POST', `/api/bookmarks/${id}/refresh`)
    versions.push((await garner.list()).version)
    await garner.ask('DELETE', `/api/bookmarks/${id}`)
    versions.push((await garner.list()).version)
    expect(versions).toEqual([0, 1, 2, 3, 4])
  })

  test('C5: never less than X-Garner-Min-Version; a version that is not there yet is 503', async () => {
    const saved = await garner.ask('POST', '/api/bookmarks', { body: { url: page(1) } })
    const version = String(saved.headers['x-garner-version'])
    const enough = await get('', { headers: { 'x-garner-min-version': version } })
    expect([enough.statusCode, enough.json().items.length]).toEqual([200, 1])
    const early = await get('', { headers: { 'x-garner-min-version': '2' } })
    expect([early.statusCode, early.headers['retry-after']]).toEqual([503, '1'])
    for (const bad of ['-1', 'x', '1.5', '']) {
      expect((await get('', { headers: { 'x-garner-min-version': bad } })).statusCode).toBe(400)
    }
  })
})

describe('one link', () => {
  test('with its job, attempts with times, and the next try', async () => {
    const { id, job } = await garner.save(page(1))
    await garner.web.garner.worker.step()
    await garner.settle()
    expect((await garner.link(id)).job).toEqual({
      ...{ id: job.id, state: 'running', generation: 1, attempts_max: 4, next_try_at: null },
      attempts: [
        {
          attempt: 1,
          started_at: new Date(garner.clock.nowMs()).toISOString(),
          ended_at: null,
          outcome: null,
          error: null,
        },
      ],
    })
  })

  test('missing or of another group: the same 404', async () => {
    const { id } = await garner.save(page(1))
    const foreign = await garner.ask('GET', `/api/bookmarks/${id}`, { as: 'carol' })
    const missing = await garner.ask('GET', '/api/bookmarks/nothing')
    expect([foreign.statusCode, foreign.body]).toEqual([404, missing.body])
  })

  test('with the database away: 503, for the list too', async () => {
    const { id } = await garner.save(page(1))
    garner.web.db.isAway = true
    expect((await garner.ask('GET', `/api/bookmarks/${id}`)).statusCode).toBe(503)
    expect((await get()).statusCode).toBe(503)
  })
})
