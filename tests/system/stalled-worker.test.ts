import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { beforeAll, describe, expect, test } from 'vitest'
import { call, list, look, metric, save } from './api.ts'
import { type GarnerProcess, runGarner, startGarner, until } from './garner.ts'
import { attempts, pendingCount, rows } from './rows.ts'
import { startSite } from './site.ts'

const ENV = { GARNER_FETCH_ALLOW: '127.0.0.1', GARNER_LEASE_S: '1', GARNER_RETRY_BASE_S: '0.1' }
const STALE = 'garner_stale_publications_total{kind="fetch-title"}'

describe('a worker that was stopped while it held a job', () => {
  let server: GarnerProcess
  beforeAll(async () => {
    server = await startGarner({ args: ['serve', '--demo'], env: ENV, lifetime: 'file' })
  })
  const work = (env: Record<string, string> = {}) =>
    startGarner({ args: ['work', '--demo'], env: { ...ENV, ...env }, dataDir: server.dataDir })

  test.each([
    { where: 'with the page asked for and not answered', fault: '' },
    { where: 'with the page in its hands', fault: 'fetch.after-response:delay=1000' },
    { where: 'with the page in its hands for a long time yet', fault: 'fetch.after-response:delay=60000' },
  ])('$where: the second worker’s title stays, and one stale publication is counted', async ({ fault }) => {
    const site = await startSite()
    const first = await work({ GARNER_FAULT: fault })
    const before = await metric(server, STALE)
    if (fault === '') site.hold('/page')
    else site.release('/page', 'First title')
    const { id } = await save(server, { url: `${site.url}/page` })
    await until(() => site.hits.get('/page') === 1, { what: () => 'the first fetch' })
    if (fault !== '') await site.answered('/page')
    await stopBetweenCommits(first)
    if (fault === '') site.release('/page', 'First title')
    await site.answered('/page')

    site.release('/page', 'Second title')
    await work()
    await until(async () => (await look(server, id)).body.title_status === 'ready', { timeoutMs: 20_000 })
    expect((await look(server, id)).body.title).toBe('Second title')
    expect(await metric(server, STALE)).toBe(before)

    first.signal('SIGCONT')
    await until(async () => (await metric(server, STALE)) > before, {
      timeoutMs: 20_000,
      what: () => first.log,
    })
    await first.stop()
    expect(await metric(server, STALE)).toBe(before + 1)
    expect((await look(server, id)).body).toMatchObject({ title: 'Second title', title_status: 'ready' })
    expect(outcomes(server.dataDir, `${site.url}/page`)).toEqual(['lease_expired', 'succeeded'])
    expect(site.hits.get('/page')).toBe(2)
  })

  test('killed instead: its lease runs out, and another one finishes the job as attempt 2', async () => {
    const site = await startSite()
    site.hold('/page')
    const first = await work()
    const { id } = await save(server, { url: `${site.url}/page` })
    await site.waiting('/page')
    const before = await metric(server, STALE)
    await first.kill()
    site.release('/page', 'A title')
    await work()
    const item = await until(
      async () => {
        const { body } = await look(server, id)
        return body.title_status === 'ready' && body
      },
      { timeoutMs: 20_000 },
    )
    expect(item).toMatchObject({ title: 'A title', title_tries: 2, job: { state: 'succeeded' } })
    expect(attempts(server.dataDir, `${site.url}/page`).map((one) => [one.attempt, one.outcome])).toEqual([
      [1, 'lease_expired'],
      [2, 'succeeded'],
    ])
    expect(await metric(server, STALE)).toBe(before)
  })

  test('titles queued by someone who is then turned away are discarded without a fetch', async () => {
    const site = await startSite()
    for (const n of [1, 2, 3]) await save(server, { url: `${site.url}/${n}` })
    await save(server, { url: `${site.url}/bob` }, { user: 'bob' })
    await call(`${server.url}/api/admin/users/alice/reject`, { user: 'admin', method: 'POST' })
    const step = await runGarner(['step', '--demo'], { ...ENV, GARNER_DATA: server.dataDir })
    expect(JSON.parse(step.stdout)).toMatchObject({ claimed: 4, published: 1, discarded: 3 })
    expect([...site.hits.keys()]).toEqual(['/bob'])
  })
})

describe('while a fetch hangs', () => {
  let server: GarnerProcess
  beforeAll(async () => {
    server = await startGarner({ args: ['all', '--demo'], env: ENV, lifetime: 'file' })
  })
  /** A link whose page has been asked for and does not answer; `ended` waits for so many attempts more to be over. */
  async function hang() {
    const site = await startSite()
    site.hold('/old')
    const before = attemptsEnded(await metrics(server))
    const item = await save(server, { url: `${site.url}/old` })
    await site.waiting('/old')
    const ended = (count: number) =>
      until(async () => attemptsEnded(await metrics(server)) === before + count, { timeoutMs: 20_000 })
    return { site, item, ended }
  }

  test('the address is changed: the old page’s title never appears, and its job is superseded', async () => {
    const { site, item, ended } = await hang()
    const oldJob = (await look(server, item.id)).body.job.id
    const seen = new Set<string | null>()
    const watch = async () => {
      const { body } = await look(server, item.id)
      seen.add(body.title)
      return body
    }
    const changed = await call(`${server.url}/api/bookmarks/${item.id}`, {
      method: 'PATCH',
      body: { version: item.version, url: `${site.url}/new` },
    })
    expect(changed.body).toMatchObject({ title: null, title_status: 'pending', source_version: 2 })
    await until(async () => (await watch()).title_status === 'ready')
    site.release('/old', 'Old title')
    await site.answered('/old')
    await ended(2)
    expect((await watch()).title).toBe('Title of /new')
    expect([...seen]).not.toContain('Old title')
    expect(rows(server.dataDir, 'SELECT state FROM jobs WHERE id = ?', oldJob)).toEqual([
      { state: 'superseded' },
    ])
    expect(await metric(server, STALE)).toBe(0)
  })

  test('the link is deleted: nothing comes back, and nothing of it is in the queue', async () => {
    const { site, item, ended } = await hang()
    const gone = await call(`${server.url}/api/bookmarks/${item.id}`, { method: 'DELETE' })
    expect(gone.status).toBe(204)
    site.release('/old', 'Old title')
    await ended(1)
    expect((await look(server, item.id)).status).toBe(404)
    expect((await list(server)).map((one) => one.url)).not.toContain(item.url)
    expect(rows(server.dataDir, 'SELECT 1 FROM jobs WHERE subject = ?', `bookmark:${item.id}`)).toEqual([])
    expect(
      rows(server.dataDir, 'SELECT 1 FROM job_attempts WHERE job_id NOT IN (SELECT id FROM jobs)'),
    ).toEqual([])
    expect(pendingCount(server.dataDir)).toBe(0)
    expect(await metric(server, STALE)).toBe(0)
  })

  test('its owner is turned away: what comes is discarded, and so is what was queued', async () => {
    const { site, item, ended } = await hang()
    const rejected = await call(`${server.url}/api/admin/users/alice/reject`, {
      user: 'admin',
      method: 'POST',
    })
    expect(rejected.status).toBe(200)
    site.release('/old', 'Old title')
    await ended(1)
    expect(
      rows(
        server.dataDir,
        'SELECT state, last_error FROM jobs WHERE tenant = ? AND subject = ?',
        'alice',
        `bookmark:${item.id}`,
      ),
    ).toEqual([{ state: 'cancelled', last_error: 'discarded' }])
    const seenByBob = await call(`${server.url}/api/bookmarks/${item.id}`, { user: 'bob' })
    expect(seenByBob.body).toMatchObject({ title: null, title_status: 'failed', title_error: 'discarded' })
    expect((await look(server, item.id)).status).toBe(403)
  })
})

/**
 * SIGSTOP, and not in the middle of a commit: a process that is stopped there keeps SQLite's write lock, and nobody
 * writes until it goes on or ends. That is so for every user of the file, and not what these tests are about.
 */
async function stopBetweenCommits(worker: GarnerProcess): Promise<void> {
  await until(
    async () => {
      worker.signal('SIGSTOP')
      const db = new DatabaseSync(join(worker.dataDir, 'garner.db'))
      try {
        // Longer than a commit takes to end that began before the signal arrived.
        db.exec('PRAGMA busy_timeout = 1000; BEGIN IMMEDIATE; ROLLBACK')
        return true
      } catch {
        worker.signal('SIGCONT')
        return false
      } finally {
        db.close()
      }
    },
    { timeoutMs: 20_000, what: () => 'the worker stopped outside a transaction' },
  )
}

function outcomes(dataDir: string, url: string) {
  return attempts(dataDir, url).map((one) => one.outcome)
}

async function metrics(server: { url: string }): Promise<string> {
  return (await call(`${server.url}/metrics`, { user: null })).text
}

/** How many attempts of this process have ended, in whichever way. */
function attemptsEnded(text: string): number {
  const counts = [...text.matchAll(/^garner_attempts_total\{.*\} (\d+)$/gm)]
  return counts.reduce((sum, [, count]) => sum + Number(count), 0)
}
