import { systemClock } from '@garner/db'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { RedisServer, redisProgram, until } from '../../testing/redis-server.ts'
import { describeSharedEntries } from '../../testing/shared-entries.suite.ts'
import { createValkeyEntries } from './entries.ts'

if (redisProgram) {
  let server: RedisServer
  let count = 0
  beforeAll(async () => {
    server = await RedisServer.start()
  })
  afterAll(() => server.close())

  describeSharedEntries({
    name: `${redisProgram}, through two connections`,
    async open() {
      const prefix = `conformance-${count++}:`
      const connect = () => createValkeyEntries({ url: server.url, prefix, clock: systemClock() })
      const [entries, second] = [connect(), connect()]
      for (const one of [entries, second]) await until(() => isConnected(one))
      const clock = systemClock()
      return {
        entries,
        second,
        // Ages and leases are counted by the server, so time has to pass there.
        pass: (ms) => clock.sleep(ms),
        settle: () => clock.sleep(60),
        async close() {
          for (const one of [entries, second]) await one.close()
        },
      }
    },
  })
} else {
  describe.skip('shared entries: Valkey', () => {
    test('needs valkey-server or redis-server on the path', () => {})
  })
}

async function isConnected(entries: ReturnType<typeof createValkeyEntries>): Promise<boolean> {
  return entries.release('probe', 'nobody').then(
    () => true,
    () => false,
  )
}
