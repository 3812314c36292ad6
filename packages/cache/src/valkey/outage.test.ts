import { systemClock } from '@garner/db'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { RedisServer, redisProgram, until } from '../../testing/redis-server.ts'
import { OriginBudget } from '../budget.ts'
import { Cache } from '../cache.ts'
import { bytesCodec } from '../codec.ts'
import { createMemoryLedger } from '../memory/ledger.ts'
import { createValkeyEntries } from './entries.ts'

/** A real server that is killed, hangs and comes back. What is looked at is what was answered, not how fast. */
describe.skipIf(!redisProgram)('with a real server', () => {
  const clock = systemClock()
  const ledger = createMemoryLedger({ clock })
  let server: RedisServer
  let lives = 0
  let loads = 0

  beforeAll(async () => {
    server = await RedisServer.start()
  })
  afterAll(() => server.close())

  async function instance(prefix: string) {
    const life = `life-${lives++}`
    const common = { clock, random: Math.random, incarnation: life }
    const stop = new AbortController()
    const budget = new OriginBudget({
      ...{ ...common, ledger, budget: prefix, holder: life },
      capacity: { rate: 1_000, concurrency: 100, loadMaxMs: 2_500 },
    })
    const running = budget.run(stop.signal)
    const entries = createValkeyEntries({ url: server.url, prefix, clock })
    const cache = new Cache({
      ...{ ...common, budget, codec: bytesCodec, shared: entries },
      ...{ freshMs: 60_000, maxAgeMs: 120_000, memoryMaxBytes: 0, waitMs: 3_000 },
    })
    onTestFinished(async () => {
      await cache.close()
      await entries.close()
      stop.abort()
      await running
    })
    const get = async (key: string) => {
      const answer = await cache.get(key, {
        scope: 'group',
        load: async () => ({ body: new TextEncoder().encode(`load ${++loads}`), version: loads }),
      })
      return new TextDecoder().decode(answer.body)
    }
    await until(() => budget.counters().rate > 0)
    return { cache, get, shared: () => cache.counters().shared! }
  }

  /** Until two instances share what one of them has loaded. */
  const isShared = async (a: { get: (key: string) => Promise<string> }, b: typeof a, key: string) =>
    (await a.get(key)) === (await b.get(key))

  test('what one instance has loaded another takes, and what one forgets is gone for all', async () => {
    const [a, b] = [await instance('plain:'), await instance('plain:')]
    await until(() => isShared(a, b, 'warm'))
    const first = await a.get('list')
    expect(await b.get('list')).toBe(first)
    expect(await b.cache.forget('list', { scope: 'group' })).toBe(true)
    expect(await a.get('list')).not.toBe(first)
  })

  test('killed, reads go on from the origin; started again and empty, it is used again', async () => {
    const [a, b] = [await instance('killed:'), await instance('killed:')]
    await until(() => isShared(a, b, 'list'))
    await server.kill()
    for (let n = 0; n < 8; n++) expect(await a.get('list')).toMatch(/^load/)
    expect(a.shared().failures).toBeGreaterThan(0)
    await server.start()
    await until(() => isShared(a, b, 'list'), 15_000)
  }, 30_000)

  test('hanging, a reader waits one short timeout at most, then nobody does; going on, it is used again', async () => {
    const [a, b] = [await instance('hung:'), await instance('hung:')]
    await until(() => isShared(a, b, 'list'))
    server.signal('SIGSTOP')
    try {
      for (let n = 0; n < 8; n++) expect(await a.get('list')).toMatch(/^load/)
      // The breaker opens at five; a call that was under way then may fail as well.
      expect(a.shared().failures).toBeGreaterThanOrEqual(5)
      expect(a.shared().failures).toBeLessThan(8)
      expect(a.shared().skipped).toBeGreaterThan(0)
    } finally {
      server.signal('SIGCONT')
    }
    await until(() => isShared(a, b, 'list'), 15_000)
  }, 30_000)
})
