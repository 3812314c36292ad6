import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { call, save } from './api.ts'
import { startGarner, until } from './garner.ts'
import { hasStandby, type Pair, startPair } from './standby.ts'

const title = `lists read from a standby${hasStandby ? '' : ' (skipped: no initdb and pg_basebackup here)'}`

describe.skipIf(!hasStandby)(title, () => {
  let pair: Pair
  beforeAll(async () => {
    pair = await startPair()
  })
  afterAll(() => pair.close())

  test('10 s behind: whoever has saved sees it at once, from any server; gone, the primary is read', async () => {
    const env = {
      ...{ GARNER_DATABASE_URL: pair.primaryUrl, GARNER_READ_DATABASE_URL: pair.standbyUrl },
      // Every read is one of the origin, so that none is answered by a copy.
      ...{ GARNER_FRESH_S: '0', GARNER_MAX_STALE_S: '0', GARNER_READ_WAIT_MS: '10000' },
    }
    const [first, second] = await Promise.all([
      startGarner({ args: ['serve', '--demo'], env }),
      startGarner({ args: ['serve', '--demo'], env }),
    ])
    const read = async (server: { url: string }, user: string, headers: Record<string, string> = {}) => {
      const answer = await until(async () => {
        const asked = await call(`${server.url}/api/bookmarks?group=study`, { user, headers })
        return asked.status === 200 ? asked : null
      })
      return answer.body.items.map((one: { url: string }) => one.url)
    }
    await save(first, { url: 'https://known.example/' })
    await pair.caughtUp()
    await pair.lag(10_000)
    const saved = await call(`${first.url}/api/bookmarks`, {
      body: { url: 'https://new.example/', group: 'study' },
    })
    const both = ['https://known.example/', 'https://new.example/']
    expect(await read(first, 'alice')).toEqual(both)
    const version = saved.headers.get('x-garner-version')!
    expect(await read(second, 'alice', { 'x-garner-min-version': version })).toEqual(both)
    // That the standby is really asked, and really behind.
    expect(await read(second, 'bob')).toEqual(['https://known.example/'])

    await pair.stopStandby()
    expect(await read(second, 'bob')).toEqual(both)
    expect((await call(`${second.url}/readyz`, { user: null })).status).toBe(200)
  }, 120_000)
})
