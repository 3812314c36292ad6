import { Redis } from 'ioredis'
import { expect, onTestFinished, test } from 'vitest'
import { RedisServer } from '../../packages/cache/testing/redis-server.ts'
import { type CallOptions, call, metric, save } from './api.ts'
import { type GarnerProcess, startGarner, until } from './garner.ts'

/** Two servers on one database, as behind a load balancer. */
async function two(env: Record<string, string> = {}): Promise<[GarnerProcess, GarnerProcess]> {
  const one = await startGarner({ args: ['serve', '--demo'], env })
  return [one, await startGarner({ args: ['serve', '--demo'], env, dataDir: one.dataDir })]
}

async function sharedCache(): Promise<RedisServer> {
  const server = await RedisServer.start()
  onTestFinished(() => server.close())
  return server
}

const list = (server: GarnerProcess, options: CallOptions = {}) =>
  call(`${server.url}/api/bookmarks?group=study`, options)
/**
 * The next read is right; or, since a share may have to grow first on a machine that is busy, it is a refusal or a copy
 * that is marked as stale, until it is right.
 */
async function sees(server: GarnerProcess, expected: string[], options: CallOptions = {}): Promise<void> {
  const shown = await until(async () => {
    const { status, headers, body } = await list(server, options)
    if (status === 503 || headers.get('cache-status')?.includes('detail=stale')) return null
    return body.items.map((one: { url: string }) => one.url)
  })
  expect(shown).toEqual(expected)
}

const A = 'https://example.com/a'
const B = 'https://example.com/b'

test('what is saved, edited and deleted on one server is on the other by the next read', async () => {
  const cache = await sharedCache()
  const [one, other] = await two({ GARNER_CACHE_URL: cache.url })
  await sees(other, [])
  const { id } = await save(one, { url: A })
  await sees(other, [A], { user: 'bob' })
  const edit = { version: 1, url: B }
  const edited = await call(`${one.url}/api/bookmarks/${id}`, { method: 'PATCH', body: edit })
  await sees(other, [B])
  await call(`${one.url}/api/bookmarks/${id}`, { method: 'DELETE' })
  await sees(other, [])
  // Whoever says what they have seen is never shown less, whatever the machine is busy with.
  const headers = { 'x-garner-min-version': String(Number(edited.headers.get('x-garner-version')) + 2) }
  expect((await list(other, { headers })).status).toBe(503)
})

test('who was taken out is refused by all servers, with warm caches and a poisoned one', async () => {
  const cache = await sharedCache()
  const [one, other] = await two({ GARNER_CACHE_URL: cache.url })
  await save(one, { url: A })
  for (const server of [one, other]) await sees(server, [A], { user: 'bob' })
  // Everything that is there, under every key that is there, as fresh as can be, in the name of the future.
  const redis = new Redis(cache.url)
  onTestFinished(() => redis.disconnect())
  const keys = await redis.keys('*')
  expect(keys).toContainEqual(expect.stringMatching(/^garner:[0-9a-f]{12}:lists1:5:studyoldest 50$/))
  const [now] = await redis.time()
  for (const key of keys) {
    await redis.hset(key, { v: '9007199254740991', r: String(Number(now) * 1000 + 1e6), k: '9e15' })
    await redis.persist(key)
  }
  await call(`${one.url}/api/groups/study/members/bob`, { method: 'DELETE' })
  for (const server of [one, other]) expect((await list(server, { user: 'bob' })).status).toBe(403)
  // Edits and deletes follow the database, not what was put there.
  await save(other, { url: B })
  for (const server of [one, other]) await sees(server, [A, B])
})

test('the shared cache may go, hang and come back: lists are read all the same', async () => {
  const cache = await sharedCache()
  const [one, other] = await two({ GARNER_CACHE_URL: cache.url })
  await save(one, { url: A })
  await cache.kill()
  await save(one, { url: B })
  await sees(other, [A, B])
  await cache.start()
  await until(async () => {
    await save(one, { url: A, force: true })
    await list(one)
    const redis = new Redis(cache.url)
    const count = await redis.dbsize()
    redis.disconnect()
    return count > 0
  })
  await until(async () => (await list(other)).status === 200)
})

test('a budget that is never renewed: 503 within the wait deadline, nothing is read, saving goes on', async () => {
  const server = await startGarner({ args: ['serve', '--demo'], env: { GARNER_FAULT: 'budget.renew:fail' } })
  const answers = await Promise.all(Array.from({ length: 50 }, () => list(server)))
  expect(new Set(answers.map((one) => one.status))).toEqual(new Set([503]))
  expect(answers[0]!.headers.get('retry-after')).toMatch(/^\d+$/)
  expect(answers[0]!.body).toMatchObject({ type: 'busy', status: 503 })
  expect(await metric(server, 'garner_origin_reads_total')).toBe(0)
  expect(await metric(server, 'garner_reads_total{result="rejected"}')).toBe(50)
  expect((await save(server, { url: A })).url).toBe(A)
})

test('a budget that is used up: a copy that is young enough, marked as stale, else 503', async () => {
  const env = { GARNER_ORIGIN_READS_PER_SECOND: '1', GARNER_FRESH_S: '0', GARNER_MAX_STALE_S: '600' }
  const server = await startGarner({ args: ['serve', '--demo'], env })
  await save(server, { url: A })
  await until(async () => (await list(server)).status === 200)
  const answers = await Promise.all(Array.from({ length: 30 }, () => list(server)))
  expect(new Set(answers.map((one) => one.status))).toEqual(new Set([200]))
  const said = answers.map((one) => one.headers.get('cache-status'))
  expect(said.filter((one) => /ttl=-\d+; detail=stale/.test(one!)).length).toBeGreaterThanOrEqual(28)
  const search = await Promise.all(
    Array.from({ length: 10 }, (_, n) => call(`${server.url}/api/bookmarks?q=${n}`)),
  )
  expect(search.filter((one) => one.status === 503).length).toBeGreaterThanOrEqual(8)
})
