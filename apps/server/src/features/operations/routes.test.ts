import { beforeEach, describe, expect, test } from 'vitest'
import { httpError } from '../../outbound/page-error.ts'
import { Harness } from '../../testing/harness.ts'

let garner: Harness
let id: string
let jobId: string
beforeEach(async () => {
  garner = await Harness.open({ env: { GARNER_MAX_PENDING: '2' } })
  const item = await garner.save(A)
  id = item.id
  jobId = item.job.id
})

const A = 'https://example.com/a'
const get = (path: string, as: string | null = 'admin') => garner.ask('GET', path, { as })
const post = (path: string, { as = 'admin' as string | null, body = undefined as unknown } = {}) =>
  garner.ask('POST', path, { as, ...(body !== undefined && { body }) })

/** Every waiting job dies of a fault of ours, after its four tries. */
async function died(): Promise<void> {
  for (let n = 0; n < 4; n++) {
    garner.site.rule = () => new TypeError('a bug')
    await (await garner.web.garner.worker.step()).done
    garner.clock.advance(3_600_000)
  }
  garner.site.rule = () => 'Repaired'
}

describe('who may look', () => {
  test.each([
    ['GET', '/api/admin/jobs'],
    ['GET', '/api/admin/jobs/x'],
    ['POST', '/api/admin/jobs/x/repair'],
    ['POST', '/api/admin/jobs/x/discard'],
    ['POST', '/api/admin/jobs/repair'],
    ['GET', '/api/admin/overview'],
    ['POST', '/api/admin/kinds/fetch-title/pause'],
    ['POST', '/api/admin/kinds/fetch-title/resume'],
  ] as const)('%s %s: the operator alone', async (method, path) => {
    const bodies = [
      ['jobs/repair', { kind: 'fetch-title' }, 202],
      ['/pause', { reason: 'the site asked for it' }, 200],
      ['/resume', undefined, 200],
      ['/overview', undefined, 200],
      ['/jobs', undefined, 200],
    ] as const
    const [, body, status] = bodies.find(([end]) => path.endsWith(end)) ?? ['', undefined, 404]
    const ask = (as: string | null) => garner.ask(method, path, { as, ...(body && { body }) })
    expect((await ask(null)).statusCode).toBe(401)
    expect((await ask('alice')).statusCode).toBe(403)
    expect((await ask('admin')).statusCode).toBe(status)
  })

  test('the operator sees jobs and not whose links they are about: no address, no note, no title', async () => {
    await garner.save('https://example.com/private', { note: 'my secret' })
    for (const path of ['/api/admin/jobs', `/api/admin/jobs/${jobId}`, '/api/admin/overview']) {
      expect((await get(path)).body).not.toMatch(/private|secret|example\.com/)
    }
  })
})

describe('jobs', () => {
  test('newest first, a page at a time, by state and kind', async () => {
    garner.clock.advance(1)
    const second = (await garner.save(`${A}2`)).job.id
    const { jobs, next } = (await get('/api/admin/jobs?limit=1')).json()
    expect([jobs[0].id, next]).toEqual([second, second])
    const rest = (await get(`/api/admin/jobs?limit=1&after=${next}`)).json()
    expect([rest.jobs[0].id, rest.next]).toEqual([jobId, null])
    expect(rest.jobs[0]).toEqual({
      ...{ id: jobId, kind: 'fetch-title', tenant: 'alice', subject: `bookmark:${id}`, state: 'ready' },
      ...{ attempt: 0, epoch: 0, generation: 1, error: null, finished_at: null, lease_until: null },
      submitted_at: expect.stringMatching(/Z$/),
      next_try_at: expect.stringMatching(/Z$/),
    })
    expect((await get('/api/admin/jobs?state=dead')).json().jobs).toEqual([])
    expect((await get('/api/admin/jobs?kind=other')).json().jobs).toEqual([])
    expect((await get('/api/admin/jobs?state=ready&kind=fetch-title')).json().jobs).toHaveLength(2)
  })

  test.each(['state=gone', 'limit=0', 'limit=201', 'colour=blue'])(
    'asked for with %s: 400',
    async (query) => {
      expect((await get(`/api/admin/jobs?${query}`)).statusCode).toBe(400)
    },
  )

  test('one with every attempt', async () => {
    garner.site.rule = () => httpError(503)
    await (await garner.web.garner.worker.step()).done
    const job = (await get(`/api/admin/jobs/${jobId}`)).json()
    expect(job).toMatchObject({ state: 'ready', attempt: 1, epoch: 1, error: 'http_503' })
    expect(job.attempts).toEqual([
      expect.objectContaining({
        generation: 1,
        epoch: 1,
        worker: 'process-1',
        outcome: 'retried',
        error: 'http_503',
      }),
    ])
  })
})

describe('a kind that is paused', () => {
  const overview = async () => (await get('/api/admin/overview')).json().jobs
  const step = async () => (await garner.web.garner.worker.step()).claimed

  test('waits, and the overview says why; resumed, it goes on', async () => {
    await post('/api/admin/kinds/fetch-title/pause', { body: { reason: 'the network is down' } })
    expect(await step()).toBe(0)
    expect((await overview()).kinds).toMatchObject([
      { kind: 'fetch-title', jobs: { ready: 1 }, paused: { reason: 'the network is down', until: null } },
    ])
    expect((await post('/api/admin/kinds/fetch-title/resume')).json()).toEqual({ paused: [] })
    expect(await step()).toBe(1)
  })

  test('for a time goes on by itself', async () => {
    await post('/api/admin/kinds/fetch-title/pause', { body: { reason: 'quota', for_s: 60 } })
    garner.clock.advance(59_999)
    expect(await step()).toBe(0)
    garner.clock.advance(1)
    expect(await step()).toBe(1)
  })

  test('needs a reason', async () => {
    expect((await post('/api/admin/kinds/fetch-title/pause', { body: {} })).statusCode).toBe(400)
  })
})

describe('a dead job', () => {
  beforeEach(died)

  test('is in the overview, with the kind of its last error', async () => {
    const { jobs } = (await get('/api/admin/overview')).json()
    expect(jobs.dead).toMatchObject([{ id: jobId, error: 'internal_error', attempt: 4 }])
    expect(jobs.kinds).toMatchObject([{ jobs: { dead: 1 }, finished: { dead: 1 }, retries: 3 }])
  })

  test('is repaired with one action: a new generation, and the link has its title', async () => {
    expect((await get('/api/admin/jobs?state=dead')).json().jobs).toHaveLength(1)
    const answer = await post(`/api/admin/jobs/${jobId}/repair`)
    expect(answer.statusCode).toBe(202)
    expect(answer.json()).toMatchObject({ state: 'ready', generation: 2, attempt: 0, epoch: 4 })
    await (await garner.web.garner.worker.step()).done
    expect(await garner.link(id)).toMatchObject({
      title: 'Repaired',
      title_status: 'ready',
      title_error: null,
    })
  })

  test('is discarded with one action, and can be repaired even then', async () => {
    expect((await post(`/api/admin/jobs/${jobId}/discard`)).json()).toMatchObject({ state: 'cancelled' })
    expect((await post(`/api/admin/jobs/${jobId}/discard`)).statusCode).toBe(409)
    expect((await post(`/api/admin/jobs/${jobId}/repair`)).statusCode).toBe(202)
  })

  test('that is discarded while it waits leaves no link "on its way"', async () => {
    await post(`/api/admin/jobs/${jobId}/repair`)
    expect((await post(`/api/admin/jobs/${jobId}/discard`)).json()).toMatchObject({ state: 'cancelled' })
    expect(await garner.link(id)).toMatchObject({ title_status: 'failed', title_error: 'discarded' })
  })

  test('of many is repaired in bulk: those of the kind, and of the reason if there is one', async () => {
    const repair = async (body: object) => (await post('/api/admin/jobs/repair', { body })).json()
    expect(await repair({ kind: 'fetch-title', reason: 'timeout' })).toEqual({ repaired: 0 })
    expect(await repair({ kind: 'other' })).toEqual({ repaired: 0 })
    expect(await repair({ kind: 'fetch-title', reason: 'internal_error' })).toEqual({ repaired: 1 })
    expect(await repair({ kind: 'fetch-title' })).toEqual({ repaired: 0 })
  })
})

test('hundreds of dead jobs are repaired in bulk, over several pages, bounds or not', async () => {
  const { jobs } = garner.web.garner
  await garner.save(`${A}bob`, { as: 'bob' })
  await garner.web.db.transaction(async (tx) => {
    for (let n = 0; n < 1_100; n++) {
      await tx.run(
        `INSERT INTO jobs (id, kind, tenant, payload, state, hold, priority, rank, run_at_ms, attempt, epoch,
           generation, submitted_at_ms, deadline_ms, deadline_at_ms, finished_at_ms, last_error)
         VALUES (?, 'fetch-title', 'bob', '{}', 'dead', 0, 0, 1, 0, 4, 4, 1, 0, 1000, 1000, 5, 'internal_error')`,
        `dead-${n}`,
      )
    }
  })
  expect((await post('/api/admin/jobs/repair', { body: { kind: 'fetch-title' } })).json()).toEqual({
    repaired: 1_100,
  })
  const ready = (await jobs.counts()).find((one) => one.state === 'ready')
  expect(ready?.count).toBe(1_102)
})

test('what cannot be done is said: no such job, a superseded one, a running one', async () => {
  expect((await post('/api/admin/jobs/nothing/repair')).statusCode).toBe(404)
  expect((await post('/api/admin/jobs/nothing/discard')).statusCode).toBe(404)
  await garner.web.garner.worker.step()
  expect((await post(`/api/admin/jobs/${jobId}/discard`)).json()).toMatchObject({
    type: 'wrong-state',
    status: 409,
  })
  await garner.ask('PATCH', `/api/bookmarks/${id}`, { body: { version: 1, url: `${A}2` } })
  expect((await post(`/api/admin/jobs/${jobId}/repair`)).json()).toMatchObject({
    type: 'wrong-state',
    status: 409,
  })
})

describe('/healthz and /readyz', () => {
  test('alive, and ready', async () => {
    expect((await get('/healthz', null)).json()).toEqual({ status: 'alive' })
    expect((await get('/readyz', null)).json()).toEqual({ status: 'ready' })
  })

  test('alive, and not ready: with migrations to do, and without the database', async () => {
    const rename = (from: string, to: string) =>
      garner.web.db.transaction((tx) => tx.run('UPDATE migrations SET name = ? WHERE name = ?', to, from))
    await rename('reading/0001_reading.sql', 'away')
    const answer = await get('/readyz', null)
    expect([answer.statusCode, answer.headers['retry-after']]).toEqual([503, '1'])
    expect(answer.json().detail).toContain('reading/0001')
    garner.web.db.isAway = true
    expect((await get('/readyz', null)).statusCode).toBe(503)
    expect((await get('/healthz', null)).statusCode).toBe(200)
    garner.web.db.isAway = false
    await rename('away', 'reading/0001_reading.sql')
    expect((await get('/readyz', null)).statusCode).toBe(200)
  })
})

describe('/metrics', () => {
  test('has the names of the contract that exist in this version', async () => {
    garner.site.rule = () => httpError(503)
    await (await garner.web.garner.worker.step()).done
    await garner.save(`${A}2`)
    await garner.ask('POST', '/api/bookmarks', { body: { url: `${A}3` } })
    await garner.list()
    const { body, headers } = await get('/metrics', null)
    expect(headers['content-type']).toMatch(/^text\/plain; version=/)
    for (const line of [
      'garner_reads_offered_total 1',
      'garner_reads_total{result="origin"} 1',
      'garner_origin_reads_total 1',
      'garner_jobs{kind="fetch-title",state="ready"} 2',
      'garner_job_oldest_ready_seconds{kind="fetch-title"} 0',
      'garner_job_retries_total{kind="fetch-title"} 1',
      'garner_outbound_requests_total{kind="page",outcome="http_503"} 1',
      'garner_queue_rejections_total{reason="bound"} 1',
      'garner_attempts_total{kind="fetch-title",end="retried"} 1',
    ]) {
      expect(body.split('\n')).toContain(line)
    }
    for (const name of ['garner_jobs_finished_total', 'garner_stale_publications_total']) {
      expect(body).toContain(`# TYPE ${name} counter`)
    }
    expect(body).toMatch(
      /garner_http_request_duration_seconds_count\{route="\/api\/bookmarks",status="201"\} 2/,
    )
    expect(body).not.toMatch(/example\.com/)
  })

  test('a gauge over nothing is absent, and finished jobs are counted by how they ended', async () => {
    garner.site.rule = () => 'Title'
    await (await garner.web.garner.worker.step()).done
    const { body } = await get('/metrics', null)
    expect(body).not.toMatch(/^garner_job_oldest_ready_seconds\{/m)
    expect(await garner.metric('garner_jobs_finished_total{kind="fetch-title",outcome="succeeded"}')).toBe(1)
  })

  test('is for this machine, or the operator; not for what a proxy on it passes on', async () => {
    const remote = (headers: Record<string, string>, remoteAddress = '10.0.0.9') =>
      garner.app.inject({ method: 'GET', url: '/metrics', remoteAddress, headers })
    expect((await remote({})).statusCode).toBe(401)
    expect((await remote({ 'x-demo-user': 'alice' })).statusCode).toBe(403)
    expect((await remote({ 'x-demo-user': 'admin' })).statusCode).toBe(200)
    expect((await remote({ 'x-forwarded-for': '8.8.8.8' }, '127.0.0.1')).statusCode).toBe(401)
    for (const local of ['127.0.0.1', '::1', '::ffff:127.0.0.1']) {
      expect((await remote({}, local)).statusCode).toBe(200)
    }
  })

  test('without the database: 503, not numbers that are not known', async () => {
    garner.web.db.isAway = true
    expect((await get('/metrics', null)).statusCode).toBe(503)
    garner.web.db.isAway = false
  })
})
