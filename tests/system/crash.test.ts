import { randomInt } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { seeded } from '../../packages/db/testing/seeded.ts'
import { call, type Item, list, look, save } from './api.ts'
import { type GarnerProcess, runGarner, startGarner, tempDir, until } from './garner.ts'
import { attempts, pendingCount, rows } from './rows.ts'
import { type Site, startSite } from './site.ts'

/** Every port of this machine may be fetched; leases are short, so that nobody waits for a killed worker. */
const ENV = {
  GARNER_FETCH_ALLOW: '127.0.0.1',
  GARNER_LEASE_S: '1',
  GARNER_RETRY_BASE_S: '0.1',
  GARNER_MAX_PENDING: '1000',
}
const step = (dataDir: string, args: string[] = [], fault = '') =>
  runGarner(['step', '--demo', ...args], { ...ENV, GARNER_DATA: dataDir, GARNER_FAULT: fault })
/** Far enough ahead for every lease to be over. */
const LATER = ['--advance', '120']

interface Sent {
  url: string
  key: string | null
  /** The id in the 201; null when no answer ever came (only without a key: with one it is asked again). */
  id: string | null
}

describe('killed at random', () => {
  test('200 saves under kill -9 of server and worker: every 201 is in the list and ends visibly, nothing twice', async () => {
    const seed = Number(process.env.SEED ?? randomInt(2 ** 31))
    console.log(`SEED=${seed}`)
    const random = seeded(seed)
    const between = (least: number, most: number) => least + Math.floor(random() * (most - least))
    const dataDir = tempDir()
    const sites = await Promise.all(Array.from({ length: 25 }, () => startSite()))
    const hitsOf = (url: string) =>
      sites.find((one) => url.startsWith(`${one.url}/`))?.hits.get(new URL(url).pathname) ?? 0
    const fetched = () => sites.reduce((sum, one) => sum + one.hits.size, 0)

    let server = startGarner({ args: ['serve', '--demo'], env: ENV, dataDir })
    await server
    let worker = startGarner({ args: ['work', '--demo'], env: ENV, dataDir })
    const sent: Sent[] = []
    let isOver = false
    const kills = { server: 0, worker: 0 }

    async function client(n: number): Promise<void> {
      for (let i = 0; i < 25; i++) {
        const url = `${sites[(n * 25 + i) % sites.length]?.url}/${n}-${i}`
        const key = i % 4 === 3 ? null : `client-${n}-${i}`
        sent.push({ url, key, id: await saveOnce(url, key) })
      }
    }
    /** `force`, so that nothing but the key stands between a repeat and a second link. */
    async function saveOnce(url: string, key: string | null): Promise<string | null> {
      for (;;) {
        const { url: at } = await server
        try {
          const body = { url, group: 'study', force: true }
          const headers: Record<string, string> = key === null ? {} : { 'idempotency-key': key }
          const answer = await call(`${at}/api/bookmarks`, { body, headers })
          expect(answer.status, answer.text).toBe(201)
          return answer.body.id
        } catch (error) {
          if (!(error instanceof TypeError)) throw error
          if (key === null) return null // perhaps there, perhaps not: nobody was told
        }
      }
    }
    async function killServers(): Promise<void> {
      for (let at = between(5, 25); ; at += between(25, 60)) {
        await until(() => isOver || sent.length >= at, { timeoutMs: 60_000, everyMs: 1 })
        if (isOver) return
        kills.server++
        server = again(await server, 'serve')
        await server
      }
    }
    async function killWorkers(): Promise<void> {
      for (let at = between(5, 25); kills.worker < 4; at += between(15, 45)) {
        await until(() => fetched() >= at, { timeoutMs: 60_000, everyMs: 1 })
        kills.worker++
        worker = again(await worker, 'work')
        await worker
      }
    }
    async function again(old: GarnerProcess, role: string): Promise<GarnerProcess> {
      await old.kill()
      return startGarner({ args: [role, '--demo'], env: ENV, dataDir })
    }

    const clients = Promise.all(Array.from({ length: 8 }, (_, n) => client(n))).finally(() => {
      isOver = true
    })
    await Promise.all([clients, killServers(), killWorkers()])
    await (await worker).kill()
    expect(kills.server).toBeGreaterThan(2)
    expect(kills.worker).toBeGreaterThan(2)
    expect(sent).toHaveLength(200)

    await until(
      async () => (JSON.parse((await step(dataDir, LATER)).stdout) as { claimed: number }).claimed === 0,
      { timeoutMs: 60_000, what: () => 'nothing left to do' },
    )

    const items = await list(await server)
    const byId = new Map(items.map((one) => [one.id, one]))
    const accepted = sent.filter((one) => one.id !== null)
    expect(accepted.filter((one) => byId.get(one.id ?? '')?.url !== one.url)).toEqual([])
    expect(items.filter((one) => one.title_status === 'pending')).toEqual([])
    const states = rows<{ state: string }>(dataDir, 'SELECT DISTINCT state FROM jobs')
    expect(states.map((one) => one.state)).not.toContain('ready')
    expect(states.map((one) => one.state)).not.toContain('running')

    const wrongTitle = (one: Item) =>
      one.title !== null && one.title !== `Title of ${new URL(one.url).pathname}`
    expect(items.filter(wrongTitle)).toEqual([])
    // A site that answers gives a title, unless each of four tries was cut off.
    const untitled = items.filter((one) => one.title === null)
    expect(untitled.filter((one) => one.title_error !== 'lease_expired')).toEqual([])

    const times = Map.groupBy(items, (one) => one.url)
    const keyed = sent.filter((one) => one.key !== null)
    expect(keyed.filter((one) => times.get(one.url)?.length !== 1)).toEqual([])
    expect(sent.filter((one) => (times.get(one.url)?.length ?? 0) > 1)).toEqual([])

    const overFetched = items.filter((one) => hitsOf(one.url) > attempts(dataDir, one.url).length)
    expect(overFetched).toEqual([])
    expect(pendingCount(dataDir)).toBe(0)
    const lines = rows(dataDir, "SELECT value FROM job_counters WHERE name = 'line'")
    expect(lines.filter(({ value }) => value !== 0)).toEqual([])
    expect(rows(dataDir, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }])
    expect(rows(dataDir, 'PRAGMA foreign_key_check')).toEqual([])
  }, 120_000)
})

describe('killed at a named seam', () => {
  let server: GarnerProcess
  let site: Site
  let count = 0
  beforeAll(async () => {
    server = await startGarner({ args: ['serve', '--demo'], env: ENV, lifetime: 'file' })
  })
  const fresh = async () => {
    site = await startSite()
    return `${site.url}/${count++}`
  }
  /** As the database has them now: the other servers' saves included, whatever copy this one has. */
  const linksTo = async (url: string) => {
    const [standing] = rows<{ version: number }>(server.dataDir, 'SELECT version FROM lists')
    return (await list(server, standing?.version)).filter((one) => one.url === url)
  }
  const hits = (url: string) => site.hits.get(new URL(url).pathname) ?? 0

  /** A save through a second server over the same data, which has this fault. */
  async function saveThrough(fault: string, url: string, key: string) {
    const faulty = await startGarner({
      args: ['serve', '--demo'],
      env: { ...ENV, GARNER_FAULT: fault },
      dataDir: server.dataDir,
    })
    const answer = call(`${faulty.url}/api/bookmarks`, {
      body: { url, group: 'study', force: true },
      headers: { 'idempotency-key': key },
    })
    return { faulty, answer }
  }
  const repeat = (url: string, key: string) =>
    call(`${server.url}/api/bookmarks`, {
      body: { url, group: 'study', force: true },
      headers: { 'idempotency-key': key },
    })

  test('submit.before-commit: no answer and nothing there; the repeat makes the one link', async () => {
    const url = await fresh()
    const { faulty, answer } = await saveThrough('submit.before-commit:kill', url, 'before')
    await expect(answer).rejects.toThrow()
    expect(await faulty.exited).toEqual({ code: null, signal: 'SIGKILL' })
    expect(await linksTo(url)).toEqual([])
    const answered = await repeat(url, 'before')
    expect([answered.status, answered.headers.get('idempotency-replayed')]).toEqual([201, null])
    expect(await linksTo(url)).toHaveLength(1)
  })

  test('submit.after-commit: no answer, and yet it is there; the repeat is told so and makes no second one', async () => {
    const url = await fresh()
    const { faulty, answer } = await saveThrough('submit.after-commit:kill', url, 'after')
    await expect(answer).rejects.toThrow()
    expect(await faulty.exited).toEqual({ code: null, signal: 'SIGKILL' })
    const [link] = await linksTo(url)
    const answered = await repeat(url, 'after')
    expect([answered.status, answered.headers.get('idempotency-replayed')]).toEqual([201, 'true'])
    expect(answered.body.id).toBe(link?.id)
    expect(await linksTo(url)).toHaveLength(1)
  })

  test('claim.after-commit: the lease brings the job back, and the page is fetched once, by the second try', async () => {
    const url = await fresh()
    const { id } = await save(server, { url })
    expect((await step(server.dataDir, [], 'claim.after-commit:kill')).signal).toBe('SIGKILL')
    expect(hits(url)).toBe(0)
    expect(JSON.parse((await step(server.dataDir, LATER)).stdout)).toMatchObject({ published: 1 })
    expect((await look(server, id)).body.title_status).toBe('ready')
    expect(outcomes(url)).toEqual(['lease_expired', 'succeeded'])
    expect(hits(url)).toBe(1)
  })

  test.each(['fetch.after-response', 'publish.before-commit'])(
    '%s: nothing of the page is stored; the second try fetches it once more',
    async (point) => {
      const url = await fresh()
      const { id } = await save(server, { url })
      expect((await step(server.dataDir, [], `${point}:kill`)).signal).toBe('SIGKILL')
      expect((await look(server, id)).body).toMatchObject({ title: null, title_status: 'pending' })
      expect(JSON.parse((await step(server.dataDir, LATER)).stdout)).toMatchObject({ published: 1 })
      expect((await look(server, id)).body.title_status).toBe('ready')
      expect(outcomes(url)).toEqual(['lease_expired', 'succeeded'])
      expect(hits(url)).toBe(2)
    },
  )

  test('publish.after-commit: all of it is there; redelivery makes no fetch and no write', async () => {
    const url = await fresh()
    const { id } = await save(server, { url })
    expect((await step(server.dataDir, [], 'publish.after-commit:kill')).signal).toBe('SIGKILL')
    const { body: published } = await look(server, id)
    expect(published).toMatchObject({ title: `Title of ${new URL(url).pathname}`, title_status: 'ready' })
    const before = everything()
    expect(JSON.parse((await step(server.dataDir, LATER)).stdout)).toMatchObject({ claimed: 0 })
    expect(everything()).toEqual(before)
    expect(hits(url)).toBe(1)
  })

  test.each(['publish.after-commit:fail@1', 'publish.after-commit:land-then-fail@1'])(
    'an acknowledgement lost after the commit (%s): said again, recognised, no fetch and no second write',
    async (fault) => {
      const url = await fresh()
      await save(server, { url })
      const [before] = rows<{ version: number }>(server.dataDir, 'SELECT version FROM lists')
      const report = JSON.parse((await step(server.dataDir, [], fault)).stdout)
      expect(report).toMatchObject({ claimed: 1, published: 1, stale: 0 })
      expect(outcomes(url)).toEqual(['succeeded'])
      const [after] = rows<{ version: number }>(server.dataDir, 'SELECT version FROM lists')
      expect(after?.version).toBe((before?.version ?? 0) + 1)
      expect(hits(url)).toBe(1)
    },
  )

  test.each([
    { how: 'fail', there: 0, replayed: null },
    { how: 'land-then-fail', there: 1, replayed: 'true' },
  ])('commit.sync:$how answers 503; the repeat under the same key gives one link', async (one) => {
    // The first commits are those of the start; one of these saves meets the fault.
    const { faulty } = await saveThrough(`commit.sync:${one.how}@9`, await fresh(), `start-${one.how}`)
    let refused = { url: '', key: '', answer: await repeat(await fresh(), `none-${one.how}`) }
    for (let n = 0; refused.answer.status !== 503 && n < 9; n++) {
      const url = await fresh()
      const key = `sync-${one.how}-${n}`
      const body = { url, group: 'study', force: true }
      const answer = await call(`${faulty.url}/api/bookmarks`, { body, headers: { 'idempotency-key': key } })
      refused = { url, key, answer }
    }
    expect(refused.answer.status).toBe(503)
    expect(Number(refused.answer.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(refused.answer.body).toMatchObject({ status: 503, type: 'unavailable' })
    expect(await linksTo(refused.url)).toHaveLength(one.there)
    const answered = await call(`${faulty.url}/api/bookmarks`, {
      body: { url: refused.url, group: 'study', force: true },
      headers: { 'idempotency-key': refused.key },
    })
    expect([answered.status, answered.headers.get('idempotency-replayed')]).toEqual([201, one.replayed])
    expect(await linksTo(refused.url)).toHaveLength(1)
  })

  function outcomes(url: string) {
    return attempts(server.dataDir, url).map((one) => one.outcome)
  }
  /** Every row that a worker could have written. */
  function everything() {
    return ['bookmarks', 'jobs', 'job_attempts', 'job_counters', 'lists'].map((table) =>
      rows(server.dataDir, `SELECT * FROM ${table}`),
    )
  }
})
