import { join } from 'node:path'
import pg from 'pg'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { describeOnPostgres, temporaryPostgres } from '../../packages/db/testing/postgres.ts'
import { type SwitchableProxy, switchableProxy } from '../../packages/db/testing/switchable-proxy.ts'
import { type Answer, call, list, look, save } from './api.ts'
import { runGarner, startGarner, tempDir, until } from './garner.ts'
import { startSite } from './site.ts'

/** Short leases, so that nobody waits for a killed worker; long patience, so that a busy machine refuses no read. */
const ENV = {
  ...{ GARNER_FETCH_ALLOW: '127.0.0.1', GARNER_LEASE_S: '1', GARNER_RETRY_BASE_S: '0.1' },
  GARNER_READ_WAIT_MS: '10000',
}
/** A server that has just started may have no share of the budget yet, and on a busy machine for longer than it waits. */
const links = (server: { url: string }) => until(() => list(server), { timeoutMs: 30_000 })
const KEY = { 'idempotency-key': 'the-same-save' }

describeOnPostgres('Garner on PostgreSQL', () => {
  let url: string
  let env: Record<string, string>
  /** One for the whole file; a test saves to its own links. */
  beforeAll(async () => {
    url = await temporaryPostgres()
    env = { ...ENV, GARNER_DATABASE_URL: url }
  })

  async function rows<R>(sql: string, ...params: unknown[]): Promise<R[]> {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    try {
      return (await client.query(sql, params)).rows
    } finally {
      await client.end()
    }
  }

  test('four processes that start together on an empty database make its tables once and work together; killed and started again, all is there', async () => {
    const dataDir = tempDir()
    const site = await startSite()
    const start = (role: string, fault = '') =>
      startGarner({ args: [role, '--demo'], env: { ...env, GARNER_FAULT: fault }, dataDir })
    // Both workers kill themselves when they have written their first title, before it is committed.
    const [first, second, ...workers] = await Promise.all([
      start('serve'),
      start('serve'),
      start('work', 'publish.before-commit:kill@1'),
      start('work', 'publish.before-commit:kill@1'),
    ])
    const saved = await save(first, { url: `${site.url}/a` }, { headers: KEY })
    const other = await save(second, { url: `${site.url}/b` })
    // One key, one answer, whichever server is asked.
    const again = await call(`${second.url}/api/bookmarks`, {
      body: { url: `${site.url}/a`, group: 'study' },
      headers: KEY,
    })
    expect([again.status, again.headers.get('idempotency-replayed'), again.body.id]).toEqual([
      201,
      'true',
      saved.id,
    ])
    expect(await links(second)).toHaveLength(2)
    for (const worker of workers) {
      expect(await worker.exited).toEqual({ code: null, signal: 'SIGKILL' })
    }
    expect((await links(first)).map((one) => one.title_status)).toEqual(['pending', 'pending'])
    await start('work')
    await until(async () => (await links(second)).every((one) => one.title_status === 'ready'), {
      timeoutMs: 30_000,
    })
    const { job } = (await look(first, saved.id)).body
    expect(job.attempts.length).toBeGreaterThan(1)

    await Promise.all([first.kill(), second.kill()])
    const restarted = await startGarner({ args: ['all', '--demo'], env, dataDir })
    expect((await links(restarted)).map((one) => one.id)).toEqual([saved.id, other.id])
    expect(await rows('SELECT count(*)::int AS n FROM lists')).toEqual([{ n: 1 }])
    expect(await restarted.stop()).toEqual({ code: 0, signal: null })
  })

  test('who is taken out on one server is refused by the other at once, though it may remember for an hour', async () => {
    const options = {
      ...{ args: ['serve', '--demo'], dataDir: tempDir() },
      env: { ...env, GARNER_ACCESS_MAX_AGE_S: '3600' },
    }
    const start = () => startGarner(options)
    const [one, other] = await Promise.all([start(), start()])
    const asBob = async () => (await call(`${other.url}/api/bookmarks?group=study`, { user: 'bob' })).status
    await until(async () => (await asBob()) === 200)
    await call(`${one.url}/api/groups/study/members/bob`, { method: 'DELETE' })
    // Not in the same moment: the news has a way to go.
    await until(async () => (await asBob()) === 403)
    const back = { body: { user: 'bob' } }
    await call(`${one.url}/api/groups/study/members`, back)
    await until(async () => (await asBob()) === 200)
    for (const server of [one, other]) expect(await server.stop()).toEqual({ code: 0, signal: null })
  })

  test('step, check, backup and restore; a password is shown nowhere', async () => {
    const dataDir = tempDir()
    const GARNER_DATA = dataDir
    const hidden = new URL(url)
    hidden.password = 'not-to-be-seen'
    const here = { ...env, GARNER_DATA, GARNER_DATABASE_URL: hidden.href }
    const garner = (...args: string[]) => runGarner(args, here)
    const server = await startGarner({ args: ['serve', '--demo'], env: here, dataDir })
    const kept = await save(server, { url: 'https://kept.example/' })
    const stepped = await garner('step', '--demo')
    expect(JSON.parse(stepped.stdout)).toMatchObject({ published: 1, retried: 0, dead: 0 })
    const check = await garner('check', '--demo')
    expect(check).toMatchObject({ code: 0, stderr: '' })
    expect(check.stdout).toContain('postgres://(hidden)@')
    expect(await garner('migrate')).toMatchObject({ code: 0, stdout: 'The database is up to date.\n' })

    const file = join(dataDir, 'copies', 'garner.dump')
    expect(await garner('backup', file)).toMatchObject({ code: 0, stdout: `Backed up to ${file}.\n` })
    expect((await garner('backup', file)).code).toBe(2)
    await save(server, { url: 'https://later.example/' })
    await server.stop()
    expect(await garner('restore', `${file}.not-there`)).toMatchObject({ code: 2, stdout: '' })
    expect(await garner('restore', 'package.json')).toMatchObject({ code: 2, stdout: '' })
    const restored = await garner('restore', file)
    expect([restored.code, restored.stdout]).toEqual([0, expect.stringContaining(`Restored from ${file}.`)])
    const back = await startGarner({ args: ['serve', '--demo'], env: here, dataDir })
    const urls = (await links(back)).map((one) => one.url)
    expect(urls).toContain(kept.url)
    expect(urls).not.toContain('https://later.example/')
    const aside = /kept as (\S+)\.$/m.exec(restored.stdout)![1]!
    await back.stop()
    expect((await garner('restore', aside)).code).toBe(0)
    expect(await rows('SELECT 1 FROM bookmarks WHERE url = $1', 'https://later.example/')).toHaveLength(1)
    for (const one of [stepped, check, restored])
      expect(one.stdout + one.stderr).not.toContain('not-to-be-seen')
    // It starts Garner a dozen times.
  }, 180_000)

  let proxy: SwitchableProxy | undefined
  afterEach(async () => {
    await proxy?.close()
    proxy = undefined
  })

  /** 503 with a time to come back, and no word of success. */
  function expectAway(answer: Answer) {
    expect([answer.status, answer.body?.type]).toEqual([503, 'unavailable'])
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
  }

  test('a database that goes away: 503 for whoever asks; back again, it goes on by itself, worker too', async () => {
    proxy = await switchableProxy(url)
    const server = await startGarner({
      args: ['all', '--demo'],
      env: { ...env, GARNER_DATABASE_URL: proxy.url },
    })
    const first = await save(server, { url: 'https://before.example/' })
    await until(async () => (await look(server, first.id)).body.title_status === 'ready')
    await proxy.off()
    const body = { url: 'https://away.example/', group: 'study' }
    const answers = () =>
      Promise.all([
        call(`${server.url}/api/bookmarks`, { body, headers: { 'idempotency-key': 'away' } }),
        call(`${server.url}/api/bookmarks/${first.id}`),
        call(`${server.url}/readyz`, { user: null }),
        call(`${server.url}/api/me`),
      ])
    for (const answer of await answers()) expectAway(answer)
    for (const answer of await answers()) expectAway(answer)
    expect((await call(`${server.url}/healthz`, { user: null })).status).toBe(200)

    await proxy.on()
    await until(async () => (await call(`${server.url}/readyz`, { user: null })).status === 200)
    const late = await save(server, body, { headers: { 'idempotency-key': 'away' } })
    await until(async () => (await look(server, late.id)).body.title_status === 'ready', {
      timeoutMs: 20_000,
    })
    expect(await server.stop()).toEqual({ code: 0, signal: null })
  })

  test('a database that is not there, or does not let one in: it does not start, and says why without the password', async () => {
    for (const address of ['postgres://garner:hush@127.0.0.1:9/garner', `${url}_not_there`]) {
      const { code, stderr } = await runGarner(['serve', '--port', '0'], { GARNER_DATABASE_URL: address })
      expect([code, stderr]).toEqual([2, expect.stringContaining('Garner cannot start:')])
      expect(stderr).toContain('The database is postgres://')
      expect(stderr).not.toContain('hush')
    }
  })
})
