import { ManualClock } from '@garner/db'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { RedisServer, redisProgram, until } from '../../testing/redis-server.ts'
import { createValkeyEntries } from './entries.ts'

const AN_HOUR = 3_600_000

/** A copy that is there and fresh is read without a script. These are the ways in which that could be wrong. */
describe.skipIf(!redisProgram)('reading a copy without a script', () => {
  let server: RedisServer
  let redis: Redis
  let count = 0
  let clock: ManualClock
  beforeAll(async () => {
    server = await RedisServer.start()
    redis = new Redis(server.url)
    redis.on('error', () => {})
  })
  afterAll(async () => {
    redis.disconnect()
    await server.close()
  })
  beforeEach(() => {
    clock = new ManualClock()
  })

  async function open() {
    const prefix = `peek-${count++}:`
    const entries = createValkeyEntries({ url: server.url, prefix, clock })
    onTestFinished(() => entries.close())
    const isUp = () =>
      entries.release('probe', 'nobody').then(
        () => true,
        () => false,
      )
    await until(isUp)
    const look = (request = {}) =>
      entries.look('key', {
        ...{ minVersion: 0, floor: 0, freshMs: 10_000, token: 'me', leaseMs: 1_000 },
        ...request,
      })
    const fill = async (version = 1) => {
      await look({ floor: version, minVersion: version })
      const bytes = Buffer.from('a copy')
      await entries.store('key', { token: 'me', version, ageMs: 0, keepMs: 60_000, bytes })
      // The server's clock goes on by itself, this one does not. A copy that seems to come from the future is doubted.
      clock.advance(50)
    }
    return { entries, look, fill, key: `${prefix}key`, isUp }
  }

  /** Moves when a copy was read, or until when it may be kept, as if the server's clock had shown something else then. */
  async function move(key: string, { r = 0, k = 0 }: { r?: number; k?: number }): Promise<void> {
    const [v, readAt, keptUntil, f] = (await redis.hget(key, 'p'))!.split(' ')
    const moved = [Number(readAt) + r, Number(keptUntil) + k]
    await redis.hset(key, { r: moved[0], k: moved[1], p: [v, ...moved, f].join(' ') })
  }

  /** How many scripts the server runs meanwhile. */
  async function scriptsDuring(work: () => Promise<unknown>): Promise<number> {
    const ran = async () => {
      const counts = [...(await redis.info('commandstats')).matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)]
      return counts.reduce((sum, [, calls]) => sum + Number(calls), 0)
    }
    const before = await ran()
    await work()
    return (await ran()) - before
  }

  test('a second look finds it, and runs none', async () => {
    const { look, fill } = await open()
    await fill()
    expect(await scriptsDuring(look)).toBe(0)
    expect(await look()).toMatchObject({ copy: { version: 1 }, fill: 'unneeded' })
  })

  test('whatever this host’s clocks show, it is as old as the server says, at least', async () => {
    clock.jump(AN_HOUR)
    const { look, fill, key } = await open()
    await fill()
    await move(key, { r: -4_000 })
    clock.advance(900)
    const { copy } = await look()
    // 900 ms have passed here and next to none there: it may seem older than it is, never younger.
    expect(copy?.ageMs).toBeGreaterThanOrEqual(4_900)
    expect(copy?.ageMs).toBeLessThan(10_000)
  })

  test('after a second the server’s clock is read again', async () => {
    const { look, fill } = await open()
    await fill()
    clock.advance(1_001)
    expect(await scriptsDuring(look)).toBe(1)
    expect(await scriptsDuring(look)).toBe(0)
  })

  test('one that is not fresh, too old a version, or known to be outdated, is for the script to answer', async () => {
    const { entries, look, fill } = await open()
    await fill()
    expect(await look({ freshMs: 0 })).toMatchObject({ copy: { version: 1 }, fill: 'yours' })
    await entries.release('key', 'me')
    expect(await look({ minVersion: 2, floor: 2 })).toMatchObject({ copy: null, fill: 'yours' })
    await entries.release('key', 'me')
    await entries.invalidate('key', { version: 2, keepMs: 60_000 })
    expect(await look()).toMatchObject({ copy: { version: 1 }, floor: 2, fill: 'yours' })
  })

  test('one beyond its end is no copy, though the key is still there', async () => {
    const { look, fill, key } = await open()
    await fill()
    await move(key, { k: -60_000 })
    expect(await look()).toMatchObject({ copy: null, fill: 'yours' })
  })

  test.each([
    { path: 'read', passMs: 0 },
    { path: 'script', passMs: 1_001 },
  ])('the server’s clock was set back since it was kept: no copy, by $path', async ({ passMs }) => {
    const { look, fill, key } = await open()
    await fill()
    await move(key, { r: AN_HOUR })
    clock.advance(passMs)
    expect(await look()).toMatchObject({ copy: null, fill: 'yours' })
  })

  test('behind a new connection there may be another server, with another clock', async () => {
    const { look, fill, key, isUp } = await open()
    await fill()
    const copy = await redis.hgetallBuffer(key)
    await server.kill()
    await server.start()
    await until(isUp)
    await redis.hset(key, copy)
    expect(await scriptsDuring(look)).toBe(1)
    expect(await scriptsDuring(look)).toBe(0)
  })
})
