import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { migrate } from '@garner/db'
import { describe, expect, onTestFinished, test } from 'vitest'
import { sqlite } from '../../apps/server/src/database/sqlite.ts'
import { httpError, pageError } from '../../apps/server/src/outbound/page-error.ts'
import { Harness, type Process } from '../../apps/server/src/testing/harness.ts'
import { noNetwork } from '../../apps/server/src/testing/site.ts'
import { caseNamed, casesOf, type LinkCase } from './link-cases.ts'

/**
 * Every case of kind `events`: what happens over time, told second by second. Garner's real parts, on a clock that
 * is moved by hand and an internet that answers when the case says so.
 */
interface Check {
  at: number
  by: number | string
  url: string
  title: string | null
  state: string
  attempt: number
  visible: number
  rest: string
}
/** What cases of this kind expect; each names a few of these. */
interface Wanted {
  checks: [Check, Check]
  title: string
  state: string
  fetches: number
  old_job_state: string
  stale_publications: number
  items: number
  errors_logged: number
  retries: number
  requests_for: Record<string, number>
  last_check: string
  requests_after_1001: number
  requests: number
  saves_ok: number
  titles: Record<string, string>
  requests_max: number
  visible: Record<string, number>
  counts: Record<string, number>
  hits: number[]
}
type Steps = { count: number; host: string }[]
const A = 'https://example.com/a'
const LEASE_S = 30

/** Belongs to the import of files, which comes with the import. */
const LEFT = ['i-resume']
const told = new Map<string, (one: LinkCase) => Promise<void>>()

function story(id: string, tell: (expected: Wanted, steps: Steps) => Promise<void>): void {
  told.set(id, ({ expect, input }) => {
    const { steps } = input as unknown as { steps: Steps }
    return tell(expect as unknown as Wanted, steps)
  })
}

story('j-worker-killed', async ({ checks: [check] }) => {
  const garner = await opened()
  const { id } = await garner.save(A)
  const w1 = await worker(garner)
  await garner.at(1)
  expect(garner.site.waiting).toHaveLength(1)
  w1.freeze()
  await garner.at(2)
  await worker(garner)
  garner.site.rule = () => 'Title'
  await garner.at(1 + LEASE_S + 10) // "by lease end + 10 s", and nobody restarted anything
  const { job, title } = await garner.link(id)
  expect([check.by, title]).toEqual(['lease end + 10 s', 'Title'])
  expect([job.state, job.attempts.length]).toEqual([check.state, check.attempt])
})

story('j-user-title-refresh', async (expected) => {
  const garner = await opened()
  const { id } = await garner.save(A)
  await worker(garner)
  await garner.at(2)
  garner.site.asked(A).answer('Site words')
  await garner.at(5)
  await edit(garner, id, { title: 'My own words' })
  await garner.at(9)
  await edit(garner, id, { note: 'x' })
  await garner.at(10)
  await refresh(garner, id)
  await garner.at(12)
  garner.site.asked(A).answer('Newer site words')
  await garner.at(100)
  expect(await garner.link(id)).toMatchObject({ title: expected.title, title_source: 'hand', note: 'x' })
  expect(garner.site.requests).toHaveLength(expected.fetches)
  await edit(garner, id, { title: '' })
  expect(await garner.link(id)).toMatchObject({ title: 'Newer site words', title_source: 'page' })
})

story('j-clear-title', async (expected) => {
  const garner = await opened()
  const { id } = await garner.save(A)
  await worker(garner)
  await garner.at(2)
  garner.site.asked(A).answer('Site words')
  await garner.at(5)
  await edit(garner, id, { title: 'Mine' })
  expect((await garner.link(id)).title).toBe('Mine')
  await garner.at(6)
  await edit(garner, id, { title: '   ' })
  expect(await garner.link(id)).toMatchObject({ title: expected.title, title_source: 'page', title_by: null })
})

story('j-url-changed', async (expected) => {
  const garner = await opened()
  const old = 'https://example.com/old'
  const { id, job } = await garner.save(old)
  await worker(garner)
  await garner.at(1)
  const late = garner.site.asked(old)
  await garner.at(2)
  await edit(garner, id, { url: 'https://example.com/new' })
  await garner.at(3)
  late.answer('Old page')
  const [before, after] = expected.checks
  await garner.at(before.at)
  expect(await garner.link(id)).toMatchObject({ title: before.title, title_status: before.state })
  expect((await garner.web.garner.jobs.get(job.id))!.job.state).toBe(expected.old_job_state)
  // "Refused and counted", under the name that says why.
  expect(await garner.metric('garner_jobs_finished_total{kind="fetch-title",outcome="superseded"}')).toBe(1)
  await garner.at(6)
  garner.site.asked('https://example.com/new').answer('New page')
  await garner.at(after.at)
  expect(await garner.link(id)).toMatchObject({
    title: after.title,
    title_status: 'ready',
    source_version: 2,
  })
})

story('j-late-twin', async (expected) => {
  const garner = await opened()
  const { id, job } = await garner.save(A)
  const w1 = await worker(garner)
  await garner.at(1)
  const first = { job: (await garner.web.garner.jobs.get(job.id))!.job, epoch: 1, claimedAtMs: 0 }
  const late = garner.site.asked(A)
  w1.freeze()
  await garner.at(62)
  await worker(garner)
  await garner.at(64)
  garner.site.waiting.at(-1)!.answer('Second attempt')
  await garner.at(70)
  expect((await garner.link(id)).title).toBe('Second attempt')
  late.answer('First attempt')
  await garner.settle()
  w1.thaw()
  await garner.at(71)
  // The late failure of the same attempt, as a worker would say it.
  const failure = {
    state: 'ready',
    outcome: 'retried',
    runAtMs: garner.clock.nowMs(),
    reason: 'timeout',
  } as const
  expect(await w1.garner.jobs.publish(first, failure)).toBe('stale-epoch')
  await garner.at(200)
  const link = await garner.link(id)
  expect([link.title, link.job.state]).toEqual([expected.title, expected.state])
  expect(await garner.metric('garner_stale_publications_total{kind="fetch-title"}')).toBe(
    expected.stale_publications,
  )
  expect(garner.site.requests).toHaveLength(2)
})

story('j-deleted-meanwhile', async (expected) => {
  const garner = await opened()
  const b = 'https://example.com/b'
  // One pass of a worker that takes the first; the second waits.
  const w1 = await worker(garner, { isRunning: false })
  const a = await garner.save(A)
  await garner.at(1)
  const step = await w1.garner.worker.step()
  const other = await garner.save(b)
  const late = garner.site.asked(A)
  await garner.at(2)
  for (const { id } of [a, other]) {
    expect((await garner.ask('DELETE', `/api/bookmarks/${id}`)).statusCode).toBe(204)
  }
  await garner.at(4)
  late.answer('x')
  expect(await step.done).toEqual(['superseded'])
  expect((await w1.garner.worker.step()).claimed).toBe(0)
  await garner.at(500)
  expect((await garner.list()).items).toHaveLength(expected.items)
  expect([...w1.errors, ...garner.web.errors]).toHaveLength(expected.errors_logged)
  expect(await garner.metric('garner_job_retries_total{kind="fetch-title"}')).toBe(expected.retries)
  const requestsForB = garner.site.requests.filter((one) => one === b).length
  expect({ [b]: requestsForB }).toEqual(expected.requests_for)
  expect(await rows(garner, 'jobs')).toBe(0)
})

story('j-slow-host', async ({ checks: [check] }, steps) => {
  const garner = await opened()
  const { count, host } = steps[0]!
  for (let n = 0; n < count; n++) await garner.save(`https://${host}/${n}`)
  garner.site.rule = (url) => (url.includes(host) ? undefined : 'Quick')
  await worker(garner)
  await garner.at(1)
  const { id } = await garner.save(check.url)
  await garner.at(Number(check.by))
  expect(await garner.link(id)).toMatchObject({ title: 'Quick', job: { state: check.state } })
  expect(garner.site.waiting.map((one) => new URL(one.url).host)).toEqual([host, host])
})

story('j-refresh-keeps-good', async (expected) => {
  const garner = await opened()
  const { id } = await garner.save(A)
  await worker(garner)
  await garner.at(2)
  garner.site.asked(A).answer('Good title')
  await garner.at(100)
  await refresh(garner, id)
  await garner.at(102)
  garner.site.asked(A).fail(pageError('challenge'))
  await garner.settle()
  expect(await garner.link(id)).toMatchObject({ title: 'Good title', title_status: 'ready' })
  garner.site.rule = () => pageError('challenge')
  await garner.at(199)
  expect(await garner.link(id)).toMatchObject({ title: 'Good title', title_error: 'challenge' })
  garner.site.rule = () => undefined
  await garner.at(200)
  await refresh(garner, id)
  await garner.at(202)
  garner.site.asked(A).fail(httpError(404))
  await garner.settle()
  const link = await garner.link(id)
  expect([link.title, link.title_error]).toEqual([expected.title, expected.last_check])
  expect(link.title_checked_at).toBe(new Date(garner.clock.nowMs()).toISOString())
})

story('j-restart-quiet', async (expected, steps) => {
  const path = temporaryFile()
  const garner = await opened({ path, env: { GARNER_MAX_PENDING: '1000' } })
  for (let n = 0; n < steps[0]!.count; n++) await garner.save(`https://site-${n % 100}.example/${n}`)
  garner.site.rule = (url) => `Title of ${url}`
  const before = await worker(garner)
  await garner.at(20)
  expect(await garner.metric('garner_jobs{kind="fetch-title",state="succeeded"}')).toBe(steps[0]!.count)
  before.freeze() // and is killed
  await garner.at(1001)
  const soFar = garner.site.requests.length
  const after = await worker(garner)
  await garner.at(1002)
  expect(await migrate(after.db, sqlite.migrations, garner.clock)).toEqual([])
  await garner.at(1200)
  expect(garner.site.requests.length - soFar).toBe(expected.requests_after_1001)
})

story('j-write-conflict', async (expected) => {
  const path = temporaryFile()
  const garner = await opened({ path })
  const { id } = await garner.save(A)
  const w1 = await worker(garner)
  await garner.at(2)
  const other = new DatabaseSync(path)
  onTestFinished(() => other.close())
  other.exec('BEGIN IMMEDIATE')
  garner.site.asked(A).answer('Written late')
  await garner.at(4.9)
  expect((await garner.link(id)).title).toBeNull()
  await garner.at(5)
  other.exec('ROLLBACK')
  await garner.at(8)
  expect(await garner.link(id)).toMatchObject({ title: expected.title, job: { state: 'succeeded' } })
  await garner.at(100)
  expect(garner.site.requests).toHaveLength(expected.requests)
  expect((await garner.link(id)).job.attempts).toHaveLength(1)
  expect(w1.errors).toEqual([])
})

story('j-offline', async (expected, steps) => {
  const garner = await opened()
  await worker(garner)
  garner.site.rule = noNetwork
  await garner.at(10)
  const { count } = steps[1]!
  const answers = []
  for (let n = 0; n < count; n++) {
    answers.push(await garner.ask('POST', '/api/bookmarks', { body: { url: `https://site-${n}.example/` } }))
  }
  expect(answers.filter((one) => one.statusCode === 201)).toHaveLength(expected.saves_ok)
  const [early, late] = expected.checks
  await garner.at(early.at)
  expect((await garner.list('?limit=200')).items).toHaveLength(early.visible)
  await garner.at(900)
  const { counts } = await garner.list()
  expect(counts.all).toBe(count)
  expect(await garner.metric('garner_jobs{kind="fetch-title",state="ready"}')).toBe(count)
  await garner.at(3600)
  garner.site.rule = () => 'Back again'
  const done = () => garner.metric(`garner_jobs{kind="fetch-title",state="${late.rest}"}`)
  for (let atS = 3600; atS <= Number(late.by) && (await done()) < count; atS += 60) await garner.at(atS)
  expect(await done()).toBe(count)
  const { items } = await garner.list('?limit=200')
  expect(items.filter((one: { title: string }) => one.title === 'Back again')).toHaveLength(count)
})

story('j-shared-fetch', async (expected) => {
  const garner = await opened()
  // Ana is Alice with a list of her own; Ben is Bob in the club that both are in.
  const mine = (await garner.ask('POST', '/api/groups', { body: { name: 'private-ana' } })).json()
  const ana = await garner.save(A, { group: mine.id })
  await garner.at(1)
  const ben = await garner.save(A, { as: 'bob', group: 'study' })
  await worker(garner)
  await garner.at(3)
  while (garner.site.waiting.length > 0) garner.site.asked(A).answer('Site words')
  await garner.at(5)
  await edit(garner, ana.id, { title: 'Present for Ben' })
  const titles = { ana: (await garner.link(ana.id)).title, ben: (await garner.link(ben.id, 'bob')).title }
  expect(titles).toEqual(expected.titles)
  expect(garner.site.requests.length).toBeLessThanOrEqual(expected.requests_max)
})

story('l-everybody-sees', async (expected) => {
  const garner = await opened()
  await garner.save(A)
  await garner.at(1)
  await garner.save('https://example.com/b', { as: 'bob' })
  const lists = { ana: await garner.list(), ben: await garner.list('', 'bob') }
  expect({ ana: lists.ana.items.length, ben: lists.ben.items.length }).toEqual(expected.visible)
  expect({ ana: lists.ana.counts.all, ben: lists.ben.counts.all }).toEqual(expected.counts)
})

story('l-search-shared', async (expected) => {
  const garner = await opened()
  // Garner has no tags of their own; who wants them writes them into the note.
  await garner.save(A, { page_title: 'Sourdough for beginners', note: '#bread' })
  const search = async (as: string, q: string) => {
    const found = await garner.list(`?group=study&q=${encodeURIComponent(q)}`, as)
    return found.items?.length ?? 0
  }
  const hits = [
    await search('bob', 'sourdough'),
    await search('bob', '#bread'),
    await search('carol', 'sourdough'),
  ]
  expect(hits).toEqual(expected.hits)
})

describe('what happens over time', () => {
  test.for([...told.keys()])('%s', { timeout: 60_000 }, (id, { annotate }) => {
    const one = caseNamed(id)
    void annotate(one.what)
    return told.get(id)!(one)
  })

  test('no case is forgotten', () => {
    expect([...told.keys(), ...LEFT].sort()).toEqual(
      casesOf('events')
        .map((one) => one.id)
        .sort(),
    )
  })
})

function opened(options: Parameters<typeof Harness.open>[0] = {}): Promise<Harness> {
  return Harness.open(options)
}

async function worker(garner: Harness, { isRunning = true } = {}): Promise<Process> {
  const process = await garner.process()
  if (isRunning) process.work()
  await garner.settle()
  return process
}

async function edit(garner: Harness, id: string, fields: object): Promise<void> {
  const { version } = await garner.link(id)
  const answer = await garner.ask('PATCH', `/api/bookmarks/${id}`, { body: { version, ...fields } })
  expect(answer.statusCode).toBe(200)
}

async function refresh(garner: Harness, id: string): Promise<void> {
  expect((await garner.ask('POST', `/api/bookmarks/${id}/refresh`)).statusCode).toBe(202)
  await garner.settle()
}

async function rows(garner: Harness, table: 'jobs'): Promise<number> {
  return (await garner.web.db.read.get<{ n: number }>(`SELECT count(*) AS n FROM ${table}`))!.n
}

function temporaryFile(): string {
  const dir = mkdtempSync(join(tmpdir(), 'garner-events-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return join(dir, 'garner.db')
}
