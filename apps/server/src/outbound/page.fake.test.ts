import { ManualClock } from '@garner/db'
import { describe, expect, test } from 'vitest'
import { FetchAllow, parseFetchAllow } from './fetch-allow.ts'
import { createFixtureSite } from './page.fake.ts'
import type { Page, PageFetcher } from './page.ts'

const never = new AbortController().signal

function site({ allow = '', deadlineMs = 20_000 } = {}) {
  const clock = new ManualClock()
  const real: string[] = []
  const fetcher: PageFetcher = {
    async fetchPage(url): Promise<Page> {
      real.push(url)
      return { title: 'Real', shown: null, finalUrl: url, status: 200, bytes: 1 }
    },
  }
  const parsed = parseFetchAllow(allow)
  const fixture = createFixtureSite({
    clock,
    fetcher,
    deadlineMs,
    allow: parsed.ok ? parsed.allow : new FetchAllow(),
  })
  return { clock, real, ...fixture }
}

describe('the fixture site', () => {
  test.for([
    ['https://archive.org/details/queueing-notes.html', 'Queueing notes · archive.org'],
    ['https://www.example.com/', 'example.com'],
    ['https://example.com/a%20%3Cb%3E', 'A <b> · example.com'],
    ['https://example.com/100%-wool', '100% wool · example.com'],
    ['https://example.com/find?q=tea&n=2', 'Find · example.com (q=tea&n=2)'],
  ] as const)('%s is called %s', async ([url, title]) => {
    const { fetchPage, real } = site()
    expect(await fetchPage(url, never)).toMatchObject({ title, shown: null, status: 200 })
    expect(await fetchPage(url, never)).toEqual(await fetchPage(url, never))
    expect(real).toEqual([])
  })

  test.for([
    ['http://127.0.0.1/', 'blocked_address'],
    ['http://localhost:3000/', 'blocked_address'],
    ['http://example.com:25/', 'blocked_port'],
    ['http://no-such-host.invalid/a', 'dns'],
  ] as const)('%s fails as it would for real: %s', async ([url, code]) => {
    await expect(site().fetchPage(url, never)).rejects.toMatchObject({ code })
  })

  test('a host on the allow list is fetched for real, in every mode', async () => {
    const { fetchPage, real } = site({ allow: '127.0.0.1:8700, wiki.example, 10.0.0.0/8' })
    for (const url of ['http://127.0.0.1:8700/a', 'http://wiki.example/', 'http://10.1.2.3/']) {
      expect(await fetchPage(url, never, { mode: 'timeout' })).toMatchObject({ title: 'Real' })
    }
    expect(real).toHaveLength(3)
  })

  test('a site that never answers takes the deadline, or a second if that is shorter', async () => {
    for (const [deadlineMs, waitMs] of [
      [20_000, 1_000],
      [300, 300],
    ] as const) {
      const { clock, fetchPage } = site({ deadlineMs })
      let code: string | undefined
      const fetched = fetchPage('https://example.com/', never, { mode: 'timeout' }).catch((error) => {
        code = error.code
      })
      clock.advance(waitMs - 1)
      await new Promise((resolve) => setImmediate(resolve))
      expect(code).toBe(undefined)
      clock.advance(1)
      await fetched
      expect(code).toBe('timeout')
    }
  })

  test('the caller’s reason comes back when it gives up', async () => {
    const gone = new AbortController()
    const fetched = site().fetchPage('https://example.com/', gone.signal, { mode: 'timeout' })
    gone.abort(new Error('lease lost'))
    await expect(fetched).rejects.toThrow('lease lost')
  })
})
