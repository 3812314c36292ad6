import { beforeEach, describe, expect, test, vi } from 'vitest'
import { DIALECT, refuseInserts } from '../../testing/database.ts'
import { type Answer, Harness } from '../../testing/harness.ts'

let garner: Harness
beforeEach(async () => {
  garner = await Harness.open({ env: { GARNER_MAX_PENDING: '3' } })
})

const A = 'https://example.com/a'
const save = (body: unknown, ask: { as?: string | null; headers?: Record<string, string> } = {}) =>
  garner.ask('POST', '/api/bookmarks', { body, ...ask })

/** Rows in every table that a save writes to. */
async function stored(): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const table of ['bookmarks', 'jobs', 'lists', 'idempotency']) {
    const { n } = (await garner.web.db.read.get<{ n: number }>(`SELECT count(*) AS n FROM ${table}`))!
    counts[table] = n
  }
  return counts
}
const NOTHING = { bookmarks: 0, jobs: 0, lists: 0, idempotency: 0 }

describe('a save', () => {
  test('is answered at once with the link and its job, whatever the site does', async () => {
    const answer = await save({ url: `  ${A}?q=%7E#x `, note: ' read\tthis \r\n later ' })
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([
      201,
      'application/json; charset=utf-8',
    ])
    const saved_at = new Date(garner.clock.nowMs()).toISOString()
    const item = answer.json()
    expect(item).toEqual({
      ...{
        id: expect.any(String),
        url: `${A}?q=%7E#x`,
        note: 'read\tthis \n later',
        group: 'study',
        saved_at,
      },
      ...{ title: null, title_status: 'pending', title_source: null, title_by: null, title_error: null },
      ...{
        title_checked_at: null,
        title_tries: 0,
        title_next_try_at: null,
        shown: null,
        also_saved_as: null,
      },
      ...{
        owner: { id: 'alice', name: 'Alice' },
        edited_at: null,
        edited_by: null,
        version: 1,
        source_version: 1,
      },
      ...{ is_read: false, read_by: [], job: { id: expect.any(String), state: 'ready' } },
    })
    expect(answer.headers['x-garner-version']).toBe('1')
    expect(garner.site.requests).toEqual([])
    const [listed] = (await garner.list()).items
    expect(listed).toEqual({ ...item, job: null })
  })

  test('and its job are one transaction: under either name of the route, with the owner from the session', async () => {
    const { id, job } = (await garner.ask('POST', '/bookmarks', { as: 'bob', body: { url: A } })).json()
    const found = (await garner.web.garner.jobs.get(job.id))!.job
    expect(found).toMatchObject({
      tenant: 'bob',
      subject: `bookmark:${id}`,
      subjectVersion: 1,
      key: 'example.com',
    })
    expect((await garner.ask('GET', `/bookmarks/${id}`)).json().owner.id).toBe('bob')
  })

  test('whose job cannot be stored stores nothing', async () => {
    await refuseInserts(garner.web.db, 'jobs')
    expect((await save({ url: A })).statusCode).toBe(500)
    expect(await stored()).toEqual(NOTHING)
  })

  test('whose link cannot be stored leaves no job behind', async () => {
    await refuseInserts(garner.web.db, 'bookmarks')
    expect((await save({ url: A })).statusCode).toBe(500)
    expect(await stored()).toEqual(NOTHING)
  })

  test('with a title from the saving browser shows that at once, and says where it is from', async () => {
    const item = await garner.save(A, { page_title: '  As seen\n in a\u0000 tab ' })
    expect(item).toMatchObject({
      title: 'As seen in a tab',
      title_source: 'browser',
      title_status: 'pending',
    })
    const blank = await garner.save(`${A}2`, { page_title: '\u200b ' })
    expect(blank).toMatchObject({ title: null, title_source: null })
  })
})

describe('a save that is not valid', () => {
  test.each([
    ['no address', {}, 'url'],
    ['an empty one', { url: '' }, 'url'],
    ['no web address', { url: 'ftp://example.com/' }, 'url'],
    ['a script', { url: 'javascript:alert(1)' }, 'url'],
    ['no host', { url: 'https://' }, 'url'],
    ['a password in it', { url: 'https://a:b@example.com/' }, 'url'],
    ['more than 2048 characters', { url: `https://example.com/${'x'.repeat(2048)}` }, 'url'],
    ['a number for an address', { url: 7 }, 'url'],
    ['null for an address', { url: null }, 'url'],
    ['a list for an address', { url: [A] }, 'url'],
    ['a note that is no text', { url: A, note: 1 }, 'note'],
    ['a note of more than 2000 characters', { url: A, note: 'x'.repeat(2001) }, 'note'],
    ['a group that is no text', { url: A, group: {} }, 'group'],
    ['a title that is no text', { url: A, page_title: true }, 'page_title'],
    ['force that is a word', { url: A, force: 'true' }, 'force'],
    ['a mode that there is not', { url: A, title_mode: 'slow' }, 'title_mode'],
    ['a forged owner', { url: A, owner: 'bob' }, 'owner'],
    ['an unknown field', { url: A, tags: [] }, 'tags'],
  ])('%s: 400, naming the field, and nothing is stored', async (_name, body, path) => {
    const answer = await save(body)
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([
      400,
      expect.stringContaining('application/problem+json'),
    ])
    const problem = answer.json()
    expect(problem).toMatchObject({
      type: 'invalid-request',
      status: 400,
      detail: expect.stringMatching(/\.$/),
    })
    expect(problem.errors.map((one: { path: string }) => one.path)).toContain(path)
    expect(await stored()).toEqual(NOTHING)
  })

  test.each([
    ['half of a body', '{"url":', 400],
    ['a list', '[]', 400],
    ['a text', '"https://example.com/"', 400],
    ['nothing', '', 400],
    ['a body of 16 KiB and one byte', JSON.stringify({ url: A, note: '' }).padEnd(16 * 1024 + 1), 413],
    ['prototype pollution', `{"url":"${A}","__proto__":{"x":1}}`, 400],
  ])('%s: %s', async (_name, payload, status) => {
    const headers = { 'content-type': 'application/json', 'x-demo-user': 'alice' }
    const answer = await garner.app.inject({ method: 'POST', url: '/api/bookmarks', headers, payload })
    expect([answer.statusCode, answer.json().status]).toEqual([status, status])
    expect(await stored()).toEqual(NOTHING)
  })

  test('a body of exactly 16 KiB is read', async () => {
    const payload = JSON.stringify({ url: A }).padEnd(16 * 1024)
    const headers = { 'content-type': 'application/json', 'x-demo-user': 'alice' }
    const answer = await garner.app.inject({ method: 'POST', url: '/api/bookmarks', headers, payload })
    expect(answer.statusCode).toBe(201)
  })

  test('another media type: 415', async () => {
    const headers = { 'content-type': 'application/xml', 'x-demo-user': 'alice' }
    const answer = await garner.app.inject({ method: 'POST', url: '/api/bookmarks', headers, payload: A })
    expect(answer.statusCode).toBe(415)
  })

  test.each([null, 'mallory', ''])('by nobody who is known (%j): 401', async (as) => {
    const answer = await save({ url: A }, { as })
    expect([answer.statusCode, answer.headers['www-authenticate']]).toEqual([401, expect.any(String)])
    expect(await stored()).toEqual(NOTHING)
  })

  test.each([
    ['a group that one is not in', 'carol', 'study'],
    ['a group that there is not', 'alice', 'no-such-group'],
    ['no group at all', 'carol', undefined],
  ])('to %s: 403', async (_name, as, group) => {
    const answer = await save({ url: A, ...(group !== undefined && { group }) }, { as })
    expect([answer.statusCode, answer.json().type]).toEqual([403, 'not-a-member'])
    expect(await stored()).toEqual(NOTHING)
  })
})

describe('the same page twice in a group', () => {
  test.each([
    ['byte for byte', A],
    ['by another spelling', 'HTTP://EXAMPLE.COM:80/%61/?utm_source=mail#top'],
  ])('%s: 200 with the first one, whoever saved it, and no second job', async (_name, again) => {
    const first = await garner.save(A)
    const answer = await save({ url: again, note: 'mine' }, { as: 'bob' })
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({ ...first, job: null, duplicate: true })
    expect(await stored()).toMatchObject({ bookmarks: 1, jobs: 1 })
  })

  test('is answered as duplicate also when the queue is full', async () => {
    for (let n = 0; n < 3; n++) await garner.save(`${A}${n}`)
    expect((await save({ url: `${A}0` })).statusCode).toBe(200)
  })

  test('with force: another link of its own', async () => {
    const first = await garner.save(A)
    const second = await garner.save(A, { force: true })
    expect(second.id).not.toBe(first.id)
    expect(second.duplicate).toBeUndefined()
  })

  test('in two groups: two links', async () => {
    const { id: group } = (await garner.ask('POST', '/api/groups', { body: { name: 'Family' } })).json()
    await garner.save(A)
    expect((await save({ url: A, group })).statusCode).toBe(201)
  })
})

describe('the queue’s bound', () => {
  test('429 with Retry-After, counted, with nothing stored; others go on', async () => {
    for (let n = 0; n < 3; n++) await garner.save(`${A}${n}`)
    const before = await stored()
    const answer = await save({ url: `${A}3` }, { headers: { 'idempotency-key': 'k' } })
    expect([answer.statusCode, answer.json().type]).toEqual([429, 'queue-full'])
    expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1)
    expect(answer.headers['x-garner-version']).toBeUndefined()
    expect(await stored()).toEqual(before)
    expect(await garner.metric('garner_queue_rejections_total{reason="bound"}')).toBe(1)
    expect((await garner.list()).items).toHaveLength(3)
    await garner.save(`${A}3`, { as: 'bob' })
  })

  test('room again, the same key saves: a refusal is not remembered', async () => {
    const { id } = await garner.save(`${A}0`)
    for (let n = 1; n < 3; n++) await garner.save(`${A}${n}`)
    const headers = { 'idempotency-key': 'k' }
    expect((await save({ url: `${A}3` }, { headers })).statusCode).toBe(429)
    await garner.ask('DELETE', `/api/bookmarks/${id}`)
    expect((await save({ url: `${A}3` }, { headers })).statusCode).toBe(201)
  })

  test('saves that race for the last places: exactly as many are accepted as there are', async () => {
    const answers = await Promise.all(Array.from({ length: 30 }, (_, n) => save({ url: `${A}${n}` })))
    const codes = answers.map((one) => one.statusCode)
    expect(codes.filter((one) => one === 201)).toHaveLength(3)
    expect(codes.filter((one) => one === 429)).toHaveLength(27)
    expect(await stored()).toMatchObject({ bookmarks: 3, jobs: 3 })
  })
})

describe('Idempotency-Key', () => {
  const headers = { 'idempotency-key': 'key-1' }

  test('a repeat is answered the same, marked, and makes nothing', async () => {
    const first = await save({ url: A, note: 'x' }, { headers })
    const again = await save({ note: 'x', url: A }, { headers })
    expect([again.statusCode, again.headers['idempotency-replayed'], again.body]).toEqual([
      201,
      'true',
      first.body,
    ])
    expect(first.headers['idempotency-replayed']).toBeUndefined()
    expect(await stored()).toMatchObject({ bookmarks: 1, jobs: 1, idempotency: 1 })
  })

  test('with another payload: 409, and nothing is saved', async () => {
    await save({ url: A }, { headers })
    const other = await save({ url: `${A}2` }, { headers })
    expect([other.statusCode, other.json().type]).toEqual([409, 'operation-conflict'])
    expect(await stored()).toMatchObject({ bookmarks: 1 })
  })

  test('racing repeats: one link, one job, one answer', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => save({ url: A }, { headers })))
    expect(new Set(answers.map((one) => one.body)).size).toBe(1)
    expect(answers.filter((one) => one.headers['idempotency-replayed'] === undefined)).toHaveLength(1)
    expect(await stored()).toMatchObject({ bookmarks: 1, jobs: 1 })
  })

  test('a duplicate’s answer is repeated as well; another person’s key is another request', async () => {
    await garner.save(A)
    const first = await save({ url: A }, { headers })
    const again = await save({ url: A }, { headers })
    expect([again.statusCode, again.body]).toEqual([200, first.body])
    expect((await save({ url: `${A}2` }, { headers, as: 'bob' })).statusCode).toBe(201)
  })
})

describe('a database that is away', () => {
  test('503 with Retry-After, no success claimed, and no version named', async () => {
    garner.web.db.isAway = true
    const answer = await save({ url: A })
    expect([answer.statusCode, answer.headers['x-garner-version']]).toEqual([503, undefined])
    expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1)
    garner.web.db.isAway = false
    expect(await stored()).toEqual(NOTHING)
  })

  test('a commit that fails after all was written: the same', async () => {
    garner.web.db.failCommits = true
    const answer = await save({ url: A })
    expect([answer.statusCode, answer.headers['x-garner-version']]).toEqual([503, undefined])
    garner.web.db.failCommits = false
    expect(await stored()).toEqual(NOTHING)
  })
})

describe('saves that come together', () => {
  const together = (...bodies: object[]) => Promise.all(bodies.map((body) => save(body)))
  const codes = (answers: Answer[]) => answers.map((one) => one.statusCode)
  const [good, other] = [`${A}/good`, `${A}/other`]
  /** How many transactions `work` takes: one for all in SQLite, one for each where they run side by side. */
  async function transactions(work: () => Promise<unknown>): Promise<number> {
    const { db } = garner.web
    const begun = vi.spyOn(db, 'transaction')
    await work()
    return begun.mock.calls.length
  }

  test('are each a change of the list, with a version of its own', async () => {
    const answers = await together({ url: A }, { url: good }, { url: other })
    expect(codes(answers)).toEqual([201, 201, 201])
    expect(answers.map((one) => Number(one.headers['x-garner-version'])).sort()).toEqual([1, 2, 3])
    expect(await garner.list()).toMatchObject({ version: 3, counts: { all: 3, unread: 3, mine: 3 } })
    expect(await stored()).toMatchObject({ bookmarks: 3, jobs: 3 })
  })

  test('the same page by several: one link, which all of them are told', async () => {
    const answers = await together({ url: A }, { url: `${A}#top` }, { url: A, note: 'mine' })
    expect(codes(answers).sort()).toEqual([200, 200, 201])
    expect(new Set(answers.map((one) => one.json().id)).size).toBe(1)
    expect(await stored()).toMatchObject({ bookmarks: 1, jobs: 1 })
  })

  test('one that is refused takes nothing of the others', async () => {
    const first = await save({ url: A, force: true }, { headers: { 'idempotency-key': 'k' } })
    let answers: Answer[] = []
    const made = await transactions(async () => {
      answers = await Promise.all([
        save({ url: good }),
        save({ url: other, group: 'none' }),
        save({ url: other }, { as: 'carol' }),
        save({ url: other }, { headers: { 'idempotency-key': 'k' } }),
        save({ url: A, force: true }, { headers: { 'idempotency-key': 'k' } }),
        save({ url: other }, { as: 'bob' }),
      ])
    })
    expect(made).toBe(DIALECT === 'sqlite' ? 1 : 6)
    expect(codes(answers)).toEqual([201, 403, 403, 409, 201, 201])
    expect(answers[4]!.body).toBe(first.body)
    expect(await stored()).toMatchObject({ bookmarks: 3, jobs: 3, idempotency: 1 })
  })

  test('one person’s full queue is nobody else’s', async () => {
    let answers: Answer[] = []
    const made = await transactions(async () => {
      answers = await Promise.all([
        ...Array.from({ length: 5 }, (_, n) => save({ url: `${A}${n}` })),
        save({ url: good }, { as: 'bob' }),
      ])
    })
    expect(made).toBe(DIALECT === 'sqlite' ? 1 : 6)
    expect(codes(answers).sort()).toEqual([201, 201, 201, 201, 429, 429])
    expect(answers[5]!.statusCode).toBe(201)
    expect(await stored()).toMatchObject({ bookmarks: 4, jobs: 4 })
    expect(await garner.list()).toMatchObject({ version: 4, counts: { all: 4 } })
  })

  test('one that cannot be stored takes nothing of the others', async () => {
    await refuseInserts(garner.web.db, 'idempotency')
    const headers = { 'idempotency-key': 'k' }
    const answers = await Promise.all([
      save({ url: good }),
      save({ url: A }, { headers }),
      save({ url: other }),
    ])
    expect(codes(answers)).toEqual([201, 500, 201])
    expect(await stored()).toMatchObject({ bookmarks: 2, jobs: 2, idempotency: 0 })
  })

  test('with a database that cannot commit: all of them 503, and nothing is stored', async () => {
    garner.web.db.failCommits = true
    expect(codes(await together({ url: A }, { url: good }))).toEqual([503, 503])
    garner.web.db.failCommits = false
    expect(await stored()).toEqual(NOTHING)
  })
})

describe('whoever has lost the right to save', () => {
  const sql = (text: string) => garner.web.db.transaction((tx) => tx.run(text))

  test.each([
    ['turned away', "UPDATE users SET status = 'rejected' WHERE id = 'bob'", 403, 'account-rejected'],
    ['taken out of the group', "DELETE FROM memberships WHERE user_id = 'bob'", 403, 'not-a-member'],
    ['deleted', "DELETE FROM users WHERE id = 'bob'", 401, 'not-signed-in'],
  ])('%s by another process: refused at the very next save', async (_name, change, status, type) => {
    await garner.save(A, { as: 'bob' })
    await sql(change)
    const answer = await save({ url: `${A}2`, group: 'study' }, { as: 'bob' })
    expect([answer.statusCode, answer.json().type]).toEqual([status, type])
    const mine = await garner.web.db.read.all("SELECT 1 FROM bookmarks WHERE url = 'https://example.com/a2'")
    expect(mine).toEqual([])
  })

  test('and has it again: saves again', async () => {
    await garner.save(A, { as: 'bob' })
    await sql("UPDATE users SET status = 'pending' WHERE id = 'bob'")
    for (const _ of [1, 2]) expect((await save({ url: `${A}2` }, { as: 'bob' })).statusCode).toBe(403)
    await sql("UPDATE users SET status = 'approved' WHERE id = 'bob'")
    expect((await save({ url: `${A}2` }, { as: 'bob' })).statusCode).toBe(201)
  })
})
