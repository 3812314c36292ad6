import { beforeEach, describe, expect, test } from 'vitest'
import { httpError, pageError } from '../../outbound/page-error.ts'
import { stepUntilDone } from '../../step.ts'
import { Harness } from '../../testing/harness.ts'
import { noNetwork } from '../../testing/site.ts'

let garner: Harness
let id: string
let jobId: string
beforeEach(async () => {
  garner = await Harness.open({ env: { GARNER_MAX_PENDING: '3' } })
  const item = await garner.save(A)
  id = item.id
  jobId = item.job.id
})

const A = 'https://example.com/a'
const B = 'https://example.com/b'
const patch = (body: object, as = 'alice') => garner.ask('PATCH', `/api/bookmarks/${id}`, { as, body })
const refresh = (as = 'alice', headers = {}) =>
  garner.ask('POST', `/api/bookmarks/${id}/refresh`, { as, headers })
const jobs = () => garner.web.garner.jobs

/** Runs one pass of the worker, answering everything with a title or an error. */
async function worked(answer: string | Error): Promise<void> {
  garner.site.rule = () => answer
  const step = await garner.web.garner.worker.step()
  await step.done
  garner.site.rule = () => undefined
}

/** One pass of the worker whose requests wait for their answers. */
async function started() {
  const step = await garner.web.garner.worker.step()
  await garner.settle()
  return step
}

describe('an edit', () => {
  test('changes what it names, by the owner alone, and counts one version up', async () => {
    garner.clock.advance(5_000)
    const answer = await patch({ version: 1, note: ' mine ', title: 'My  title' })
    expect([answer.statusCode, answer.headers['x-garner-version']]).toEqual([200, '2'])
    expect(answer.json()).toMatchObject({
      ...{ note: 'mine', title: 'My title', title_source: 'hand', title_by: { id: 'alice', name: 'Alice' } },
      ...{ version: 2, source_version: 1, url: A, title_status: 'pending' },
      ...{
        edited_at: new Date(garner.clock.nowMs()).toISOString(),
        edited_by: { id: 'alice', name: 'Alice' },
      },
    })
    expect((await garner.link(id)).job.attempts).toEqual([])
  })

  test('of an old version: 409 with the link as it is now, and nothing is changed', async () => {
    await patch({ version: 1, note: 'first' })
    const answer = await patch({ version: 1, note: 'second', url: B })
    expect([answer.statusCode, answer.json().type]).toEqual([409, 'version-conflict'])
    expect(answer.json().current).toMatchObject({ id, note: 'first', version: 2, url: A })
    expect(await garner.link(id)).toMatchObject({ note: 'first', url: A, source_version: 1 })
    expect((await patch({ version: answer.json().current.version, note: 'second' })).statusCode).toBe(200)
  })

  test('edits that race: one wins, the others are told', async () => {
    const answers = await Promise.all(['a', 'b', 'c'].map((note) => patch({ version: 1, note })))
    expect(answers.map((one) => one.statusCode).sort()).toEqual([200, 409, 409])
  })

  test.each([
    ['of another member', 'bob', 403],
    ['of somebody outside', 'carol', 404],
  ])('%s is refused', async (_name, as, status) => {
    expect((await patch({ version: 1, note: 'x' }, as)).statusCode).toBe(status)
    expect((await garner.ask('DELETE', `/api/bookmarks/${id}`, { as })).statusCode).toBe(status)
    expect(await garner.link(id)).toMatchObject({ note: '', version: 1 })
  })

  test.each([
    ['without a version', { note: 'x' }, 'version'],
    ['with a version that is no number', { version: '1' }, 'version'],
    ['with version 0', { version: 0 }, 'version'],
    ['with half a version', { version: 1.5 }, 'version'],
    ['with a title that is no text', { version: 1, title: null }, 'title'],
    ['with an overlong note', { version: 1, note: 'x'.repeat(2001) }, 'note'],
    ['with an overlong title', { version: 1, title: 'x'.repeat(2001) }, 'title'],
    ['with a bad address', { version: 1, url: 'file:///etc/passwd' }, 'url'],
    ['with a forged owner', { version: 1, owner: 'bob' }, 'owner'],
  ])('%s: 400', async (_name, body, path) => {
    const answer = await patch(body)
    expect([answer.statusCode, answer.json().errors[0].path]).toEqual([400, path])
    expect((await garner.link(id)).version).toBe(1)
  })
})

describe('a title', () => {
  test('that is typed is never replaced by a fetch, and cleared shows the fetched one', async () => {
    await patch({ version: 1, title: 'Mine' })
    await worked('The page’s')
    expect(await garner.link(id)).toMatchObject({
      title: 'Mine',
      title_source: 'hand',
      title_status: 'ready',
    })
    expect((await patch({ version: 2, title: ' \u200b ' })).json()).toMatchObject({
      ...{ title: 'The page’s', title_source: 'page', title_by: null, version: 3 },
    })
  })

  test('that the browser gave is shown until somebody asks for the page’s own', async () => {
    const { id: other } = await garner.save(B, { page_title: 'In the tab' })
    await worked('On the page')
    expect(await garner.link(other)).toMatchObject({ title: 'In the tab', title_source: 'browser' })
    await garner.ask('POST', `/api/bookmarks/${other}/refresh`)
    await worked('On the page now')
    expect(await garner.link(other)).toMatchObject({ title: 'On the page now', title_source: 'page' })
  })

  test.each([
    ['timeout', pageError('timeout'), 'pending', 1],
    ['http_404', httpError(404), 'failed', 1],
    ['blocked_address', pageError('blocked_address'), 'refused', 1],
  ])('%s is told on its row', async (error, thrown, status, tries) => {
    await worked(thrown)
    const link = await garner.link(id)
    expect(link).toMatchObject({ title: null, title_status: status, title_error: error, title_tries: tries })
    expect(link.job.attempts).toEqual([expect.objectContaining({ attempt: 1, error })])
    expect([link.title_next_try_at, link.job.next_try_at].map((one) => one !== null)).toEqual(
      status === 'pending' ? [true, true] : [false, false],
    )
  })

  test('timed out four times ends as a timeout that anybody can ask about again', async () => {
    for (let n = 0; n < 4; n++) {
      await worked(pageError('timeout'))
      garner.clock.advance(3_600_000)
    }
    expect(await garner.link(id)).toMatchObject({
      ...{ title_status: 'timeout', title_tries: 4, title_next_try_at: null },
      job: { state: 'degraded', attempts_max: 4, attempts: { length: 4 } },
    })
    expect((await refresh('bob')).statusCode).toBe(202)
    await worked('Here at last')
    expect(await garner.link(id)).toMatchObject({
      title: 'Here at last',
      title_status: 'ready',
      title_error: null,
    })
  })

  test('without a network is not asked for again at once, even if retries need no pause', async () => {
    const offline = await Harness.open({ env: { GARNER_RETRY_BASE_S: '0' } })
    offline.site.rule = noNetwork
    await offline.save(A)
    const { worker } = offline.web.garner
    expect((await stepUntilDone(worker)).retried).toBe(1)
    offline.clock.advance(4_999)
    expect((await worker.step()).claimed).toBe(0)
    offline.clock.advance(1)
    expect((await stepUntilDone(worker)).retried).toBe(1)
  })

  test('on which a fault of ours has given up does not stay pending', async () => {
    for (let n = 0; n < 4; n++) {
      await worked(new TypeError('a bug'))
      garner.clock.advance(3_600_000)
    }
    expect(await garner.link(id)).toMatchObject({
      ...{ title_status: 'failed', title_error: 'internal_error', job: { state: 'dead' } },
    })
    expect(garner.web.errors.filter((one) => one === 'worker fault')).toHaveLength(4)
  })

  test('that a page does not have: done, and the file’s name is shown', async () => {
    const step = await started()
    garner.site.asked(A).answer(null, { shown: 'report.pdf' })
    await step.done
    expect(await garner.link(id)).toMatchObject({ title: null, title_status: 'none', shown: 'report.pdf' })
  })

  test('of a page that leads elsewhere says which other link that is', async () => {
    const { id: second } = await garner.save(B)
    const step = await started()
    garner.site.asked(A).answer('The same')
    garner.site.asked(B).answer('The same', { finalUrl: `${A}?utm_source=x` })
    await step.done
    expect((await garner.link(second)).also_saved_as).toBe(id)
    expect((await garner.link(id)).also_saved_as).toBeNull()
    await garner.ask('DELETE', `/api/bookmarks/${id}`)
    expect((await garner.link(second)).also_saved_as).toBeNull()
  })
})

describe('a new address', () => {
  test('is a new source: the old title goes, the old job is superseded, a new one is there', async () => {
    await worked('Old words')
    garner.clock.advance(1_000)
    const item = (await patch({ version: 1, url: B })).json()
    expect(item).toMatchObject({
      ...{
        url: B,
        title: null,
        title_status: 'pending',
        title_checked_at: null,
        version: 2,
        source_version: 2,
      },
    })
    const link = await garner.link(id)
    expect(link.job).toMatchObject({ state: 'ready', generation: 1, attempts: [] })
    expect(link.job.id).not.toBe(jobId)
    await worked('New words')
    expect(await garner.link(id)).toMatchObject({ title: 'New words' })
    expect(garner.site.requests).toEqual([A, B])
  })

  test('while the old one is being fetched: its result is refused, and the old job is superseded', async () => {
    const step = await started()
    await patch({ version: 1, url: B })
    garner.site.asked(A).answer('Old page')
    expect(await step.done).toEqual(['superseded'])
    expect(await garner.link(id)).toMatchObject({ title: null, title_status: 'pending', source_version: 2 })
    expect((await jobs().get(jobId))!.job.state).toBe('superseded')
  })

  test('also when nothing told the old job so: the link’s source version refuses the title itself', async () => {
    const step = await started()
    await garner.web.db.transaction((tx) =>
      tx.run('UPDATE bookmarks SET source_version = 2, url = ? WHERE id = ?', B, id),
    )
    garner.site.asked(A).answer('Old page')
    expect(await step.done).toEqual(['superseded'])
    expect(await garner.link(id)).toMatchObject({ title: null, url: B })
  })

  test('keeps a title typed by hand, and the same address again is no new source', async () => {
    await patch({ version: 1, title: 'Mine', url: B })
    expect(await garner.link(id)).toMatchObject({ title: 'Mine', source_version: 2 })
    await patch({ version: 2, url: B })
    expect(await garner.link(id)).toMatchObject({ version: 3, source_version: 2 })
  })

  test('takes the remembered answer to the save with it', async () => {
    const headers = { 'idempotency-key': 'k' }
    const { id: other } = (await garner.ask('POST', '/api/bookmarks', { body: { url: B }, headers })).json()
    await garner.ask('PATCH', `/api/bookmarks/${other}`, { body: { version: 1, url: `${B}2` } })
    expect(await garner.web.db.read.all('SELECT 1 FROM idempotency')).toEqual([])
  })

  test('is bound like a save: 429, and the link is as it was', async () => {
    await worked('Old words')
    for (const n of [1, 2, 3]) await garner.save(`${B}${n}`)
    const answer = await patch({ version: 1, url: B, note: 'x' })
    expect([answer.statusCode, answer.headers['retry-after']]).toEqual([429, '10'])
    expect(await garner.link(id)).toMatchObject({ url: A, note: '', title: 'Old words', version: 1 })
  })
})

describe('a read mark', () => {
  const mark = (is_read: unknown, as = 'alice') =>
    garner.ask('PATCH', `/api/bookmarks/${id}/read`, { as, body: { is_read } })

  test('is each member’s own', async () => {
    expect((await mark(true, 'bob')).json()).toMatchObject({ is_read: true, version: 1 })
    expect((await garner.link(id, 'bob')).is_read).toBe(true)
    expect((await garner.link(id)).is_read).toBe(false)
    expect((await mark(false, 'bob')).json().is_read).toBe(false)
  })

  test('is shown to others only by members who agreed', async () => {
    await mark(true, 'bob')
    expect((await garner.link(id)).read_by).toEqual([{ id: 'bob', name: 'Bob' }])
    await garner.ask('PATCH', '/api/groups/study', { as: 'bob', body: { show_reads: false } })
    expect((await garner.link(id)).read_by).toEqual([])
    expect((await garner.link(id, 'bob')).is_read).toBe(true)
  })

  test('twice is once', async () => {
    await mark(true)
    await mark(true)
    expect(await garner.web.db.read.all('SELECT 1 FROM read_marks')).toHaveLength(1)
    expect((await garner.list()).counts).toEqual({ all: 1, unread: 0, mine: 1 })
  })

  test.each([[{}], [{ is_read: 1 }], [{ is_read: 'true' }], [{ is_read: true, user: 'bob' }], [[]]])(
    'given as %j: 400',
    async (body) => {
      const answer = await garner.ask('PATCH', `/api/bookmarks/${id}/read`, { body })
      expect(answer.statusCode).toBe(400)
    },
  )

  test('on another group’s link or none: the same 404', async () => {
    const foreign = await mark(true, 'carol')
    const missing = await garner.ask('PATCH', '/api/bookmarks/nothing/read', { body: { is_read: true } })
    expect([foreign.statusCode, foreign.body]).toEqual([404, missing.body])
  })
})

describe('a refresh', () => {
  test('is a new generation of the link’s job, for any member; the title stays meanwhile', async () => {
    await worked('Good title')
    const answer = await refresh('bob')
    expect(answer.statusCode).toBe(202)
    expect(answer.json()).toMatchObject({ id, title: 'Good title', job: { id: jobId, state: 'ready' } })
    expect((await garner.link(id)).job).toMatchObject({ id: jobId, generation: 2 })
    await worked('Better title')
    expect(await garner.link(id)).toMatchObject({ title: 'Better title', job: { attempts: { length: 2 } } })
  })

  test('that fails takes no title away, and says when and how it failed', async () => {
    await worked('Good title')
    await refresh()
    garner.clock.advance(60_000)
    await worked(httpError(404))
    expect(await garner.link(id)).toMatchObject({
      ...{ title: 'Good title', title_status: 'ready', title_error: 'http_404' },
      title_checked_at: new Date(garner.clock.nowMs()).toISOString(),
    })
  })

  test('that finds no title takes none away', async () => {
    await worked('Good title')
    await refresh()
    const step = await started()
    garner.site.asked(A).answer(null)
    await step.done
    expect(await garner.link(id)).toMatchObject({ title: 'Good title', title_status: 'ready' })
  })

  test('of a job that waits makes it due now, and of one that runs changes nothing', async () => {
    await worked(pageError('timeout'))
    expect((await garner.web.garner.worker.step()).claimed).toBe(0)
    await refresh()
    expect((await garner.web.garner.worker.step()).claimed).toBe(1)
    await refresh()
    expect((await garner.link(id)).job).toMatchObject({ state: 'running', generation: 1 })
    expect(garner.site.waiting).toHaveLength(1)
  })

  test('is bound like a save: 429, and nothing is changed', async () => {
    await worked('Good title')
    for (const n of [1, 2, 3]) await garner.save(`${B}${n}`)
    expect((await refresh()).statusCode).toBe(429)
    expect((await garner.link(id)).job).toMatchObject({ state: 'succeeded', generation: 1 })
  })

  test('twice under one key is one generation', async () => {
    await worked('Good title')
    const first = await refresh('alice', { 'idempotency-key': 'k' })
    const again = await refresh('alice', { 'idempotency-key': 'k' })
    expect([again.body, again.headers['idempotency-replayed']]).toEqual([first.body, 'true'])
    expect((await garner.link(id)).job.generation).toBe(2)
  })

  test('of another group’s link or none: 404; with a body: 400', async () => {
    expect((await refresh('carol')).statusCode).toBe(404)
    expect((await garner.ask('POST', '/api/bookmarks/nothing/refresh')).statusCode).toBe(404)
    expect(
      (await garner.ask('POST', `/api/bookmarks/${id}/refresh`, { body: { force: true } })).statusCode,
    ).toBe(400)
  })
})

describe('a delete', () => {
  const left = async () => {
    const found: string[] = []
    for (const table of [
      'bookmarks',
      'read_marks',
      'jobs',
      'job_attempts',
      'idempotency',
      'job_operations',
    ]) {
      if ((await garner.web.db.read.all(`SELECT 1 FROM ${table}`)).length > 0) found.push(table)
    }
    return found
  }

  test('leaves nothing: no job, no attempt, no mark, no remembered answer of anyone', async () => {
    await worked('A title')
    const headers = { 'idempotency-key': 'k' }
    await garner.ask('POST', '/api/bookmarks', { as: 'bob', body: { url: A }, headers })
    await refresh('bob', { 'idempotency-key': 'k2' })
    await garner.ask('PATCH', `/api/bookmarks/${id}/read`, { as: 'bob', body: { is_read: true } })
    expect(await left()).toEqual(['bookmarks', 'read_marks', 'jobs', 'job_attempts', 'idempotency'])
    const answer = await garner.ask('DELETE', `/api/bookmarks/${id}`)
    expect([answer.statusCode, answer.body, Number(answer.headers['x-garner-version'])]).toEqual([204, '', 4])
    expect(await left()).toEqual([])
    expect((await garner.ask('GET', `/api/bookmarks/${id}`)).statusCode).toBe(404)
    expect((await garner.ask('DELETE', `/api/bookmarks/${id}`)).statusCode).toBe(404)
    expect(await garner.list()).toMatchObject({ items: [], counts: { all: 0, unread: 0, mine: 0 } })
  })

  test('while the page is fetched: nothing comes back, and the place in the queue is free', async () => {
    const step = await started()
    await garner.ask('DELETE', `/api/bookmarks/${id}`)
    garner.site.asked(A).answer('Too late')
    expect(await step.done).toEqual(['superseded'])
    expect(await left()).toEqual([])
    for (const n of [1, 2, 3]) await garner.save(`${B}${n}`)
  })

  test('of an account takes its links, its jobs and everyone’s remembered answers about them', async () => {
    const headers = { 'idempotency-key': 'k' }
    await garner.ask('POST', '/api/bookmarks', { as: 'bob', body: { url: A }, headers })
    await garner.ask('PATCH', `/api/bookmarks/${id}/read`, { as: 'bob', body: { is_read: true } })
    const answer = await garner.ask('DELETE', '/api/me', { body: { confirm: 'delete' } })
    expect(answer.statusCode).toBeLessThan(300)
    expect(await left()).toEqual([])
    expect((await garner.list('?group=study', 'bob')).counts).toEqual({ all: 0, unread: 0, mine: 0 })
  })
})

describe('J9: the owner’s account', () => {
  const reject = () =>
    garner.web.db.transaction((tx) => tx.run("UPDATE users SET status = 'rejected' WHERE id = 'alice'"))

  test('rejected before the fetch: the job is discarded, and nothing is fetched', async () => {
    await reject()
    const step = await started()
    expect(await step.done).toEqual(['discarded'])
    expect(garner.site.requests).toEqual([])
  })

  test('rejected during the fetch: the job is discarded, and no title is stored', async () => {
    const step = await started()
    await reject()
    garner.site.asked(A).answer('Too late')
    expect(await step.done).toEqual(['discarded'])
    expect(await garner.link(id, 'bob')).toMatchObject({ title: null, job: { state: 'cancelled' } })
  })
})
