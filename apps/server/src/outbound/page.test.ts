import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer, type Server, Socket } from 'node:net'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { ManualClock, systemClock } from '@garner/db'
import { afterEach, describe, expect, test } from 'vitest'
import { parseFetchAllow } from './fetch-allow.ts'
import { HostGate } from './host-gate.ts'
import { createPageFetcher, type PageFetcher } from './page.ts'
import { asPageError, PageError } from './page-error.ts'
import { parseRetryAfter, RETRY_AFTER_MAX_MS } from './retry-after.ts'
import { selfSigned } from './self-signed.fake.ts'

/** Odd answers of our own; the cases of tests/cases come on top of these. */
const clock = systemClock()
const never = new AbortController().signal

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

interface Request {
  target: string
  headers: string
}

/** A server that answers each request with raw bytes, or does something worse to the socket. */
async function serving(answer: (request: Request, socket: Socket) => string | Buffer | undefined): Promise<{
  base: string
  port: number
  requests: Request[]
}> {
  const requests: Request[] = []
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', (data) => {
      const [first = '', ...lines] = data.toString('latin1').split('\r\n')
      const request = { target: first.split(' ')[1] ?? '', headers: lines.join('\n').toLowerCase() }
      requests.push(request)
      const bytes = answer(request, socket)
      if (bytes !== undefined) socket.end(bytes)
    })
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { base: `http://127.0.0.1:${port}`, port, requests }
}

const fetcherFor = (...ports: number[]) => fetcherWith(ports)

function fetcherWith(ports: number[], deadlineMs = 10_000): PageFetcher {
  const parsed = parseFetchAllow(ports.map((port) => `127.0.0.1:${port}`).join(','))
  if (!parsed.ok) throw new Error(parsed.message)
  return createPageFetcher({
    ...{ clock, deadlineMs, allow: parsed.allow },
    gate: new HostGate(clock, { gapMs: 0 }),
  })
}

const html = (body: string, headers = '') =>
  `HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n${headers}Connection: close\r\n\r\n${body}`
const redirect = (to: string, headers = '') =>
  `HTTP/1.1 302 Found\r\nLocation: ${to}\r\n${headers}Content-Length: 0\r\n\r\n`

async function titleOf(answer: Parameters<typeof serving>[0], path = '/'): Promise<string | null> {
  const { base, port } = await serving(answer)
  return (await fetcherFor(port).fetchPage(`${base}${path}`, never)).title
}

async function errorOf(fetched: Promise<unknown>): Promise<PageError> {
  const error = await fetched.then(
    () => undefined,
    (reason) => reason,
  )
  expect(error).toBeInstanceOf(PageError)
  return error
}

const errorFor = async (answer: Parameters<typeof serving>[0], deadlineMs?: number) => {
  const { base, port } = await serving(answer)
  return errorOf(fetcherWith([port], deadlineMs).fetchPage(`${base}/`, never))
}

describe('redirects', () => {
  test('a site that sets a cookie and redirects to itself is answered with the cookie', async () => {
    const title = await titleOf(({ headers }) =>
      headers.includes('cookie: seen=yes')
        ? html('<title>Behind the cookie</title>')
        : redirect('/', 'Set-Cookie: seen=yes; Path=/\r\n'),
    )
    expect(title).toBe('Behind the cookie')
  })

  test('a site that never takes the cookie is a loop, and noticed at once', async () => {
    const { base, port, requests } = await serving(() => redirect('/', 'Set-Cookie: seen=no\r\n'))
    expect(await errorOf(fetcherFor(port).fetchPage(`${base}/`, never))).toMatchObject({
      code: 'redirect_loop',
    })
    expect(requests.length).toBeLessThanOrEqual(2)
  })

  test('cookies stay with the origin that set them, credentials are left behind', async () => {
    const other = await serving(() => html('<title>Other</title>'))
    const first = await serving(() =>
      redirect(`http://user:secret@127.0.0.1:${other.port}/`, 'Set-Cookie: id=42\r\n'),
    )
    const { finalUrl } = await fetcherFor(first.port, other.port).fetchPage(`${first.base}/`, never)
    expect(finalUrl).toBe(`${other.base}/`)
    expect(other.requests[0]!.headers).not.toMatch(/cookie|authorization|secret/)
  })

  test('an allowed host is no way into another port of this machine', async () => {
    const trap = await serving(() => html('<title>Private</title>'))
    const open = await serving(() => redirect(`${trap.base}/`))
    const error = await errorOf(fetcherFor(open.port).fetchPage(`${open.base}/`, never))
    expect(error).toMatchObject({ code: 'blocked_address', retry: 'never' })
    expect(trap.requests).toEqual([])
  })

  test('a refresh into this machine is refused like any redirect', async () => {
    const trap = await serving(() => html('<title>Private</title>'))
    const open = await serving(() => html(`<meta http-equiv=refresh content="0;url=${trap.base}/">`))
    const error = await errorOf(fetcherFor(open.port).fetchPage(`${open.base}/`, never))
    expect(error.code).toBe('blocked_address')
    expect(trap.requests).toEqual([])
  })

  test('without a Location there is nowhere to go', async () => {
    const error = await errorFor(() => 'HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n')
    expect(error).toMatchObject({ code: 'bad_redirect', retry: 'never' })
  })

  test('a Refresh header is a redirect too, on a page without content', async () => {
    const title = await titleOf(({ target }) =>
      target === '/' ? html('<p>Moved.</p>', 'Refresh: 0; url=/new\r\n') : html('<title>New place</title>'),
    )
    expect(title).toBe('New place')
  })

  test('a script-free fallback of an app with a title is not followed', async () => {
    const page =
      '<title>The app</title><noscript><meta http-equiv=refresh content="0;url=/nojs"></noscript><div id=root></div>'
    expect(
      await titleOf(({ target }) => html(target === '/' ? page : '<title>Switch on JavaScript</title>')),
    ).toBe('The app')
  })
})

describe('answers that are cut, silent or broken', () => {
  test('a reset before the title is a cut, also without Content-Length', async () => {
    const error = await errorFor((_, socket) => {
      socket.write(html('<!doctype html><html><he'), () => setImmediate(() => socket.resetAndDestroy()))
      return undefined
    })
    expect(error).toMatchObject({ code: 'connection', retry: 'backoff' })
  })

  test('a title cut in its middle is no title', async () => {
    const error = await errorFor(() => html('<title>Half of a ti', 'Content-Length: 500\r\n'))
    expect(error.code).toBe('connection')
  })

  test('a title, then silence: what is there is used, long before the deadline', async () => {
    const started = performance.now()
    const title = await titleOf((_, socket) => {
      socket.write(html('<html><head><title>Said enough</title>'))
      return undefined
    })
    expect(title).toBe('Said enough')
    expect(performance.now() - started).toBeLessThan(6_000)
  })

  test('silence inside a compressed answer ends by the deadline', async () => {
    const started = performance.now()
    const error = await errorFor((_, socket) => {
      const zipped = gzipSync('<html><head>'.repeat(50))
      socket.write(html('', 'Content-Encoding: gzip\r\n'))
      socket.write(zipped.subarray(0, 15))
      return undefined
    }, 700)
    expect(error).toMatchObject({ code: 'timeout', retry: 'backoff' })
    expect(performance.now() - started).toBeLessThan(5_000)
  })

  test('the deadline is over all hops together', async () => {
    const started = performance.now()
    let hop = 0
    const error = await errorFor((_, socket) => {
      setTimeout(() => socket.end(redirect(`/${++hop}`)), 300)
      return undefined
    }, 1_000)
    expect(error.code).toBe('timeout')
    expect(performance.now() - started).toBeLessThan(5_000)
    expect(hop).toBeLessThan(6)
  })

  test('gzip that is no gzip: markup is read as it is, anything else is a decode error', async () => {
    expect(await titleOf(() => html('<title>Not zipped</title>', 'Content-Encoding: gzip\r\n'))).toBe(
      'Not zipped',
    )
    const error = await errorFor(() => html('\x01\x02garbage', 'Content-Encoding: gzip\r\n'))
    expect(error).toMatchObject({ code: 'decode', retry: 'never' })
  })

  test('zstd, unasked', async () => {
    const head = Buffer.from(html('', 'Content-Encoding: zstd\r\n'))
    expect(await titleOf(() => Buffer.concat([head, zstdCompressSync('<title>New coding</title>')]))).toBe(
      'New coding',
    )
  })

  test('zipped twice', async () => {
    const twice = gzipSync(gzipSync('<title>Two layers</title>'))
    const head = Buffer.from(html('', 'Content-Encoding: gzip, gzip\r\n'))
    expect(await titleOf(() => Buffer.concat([head, twice]))).toBe('Two layers')
  })

  test('a file that calls itself text/html gives its name', async () => {
    const { base, port } = await serving(() => html('%PDF-1.7 <title>not this</title>'))
    const page = await fetcherFor(port).fetchPage(`${base}/a/Bericht%20%C3%BCber%20100%25.pdf`, never)
    expect(page).toMatchObject({ title: null, shown: 'Bericht über 100%.pdf', status: 200 })
  })

  test('plain HTTP on a port that was asked for TLS', async () => {
    const { port } = await serving(() => 'HTTP/1.1 400 Bad Request\r\n\r\n')
    const error = await errorOf(fetcherFor(port).fetchPage(`https://127.0.0.1:${port}/`, never))
    expect(error).toMatchObject({ code: 'tls', retry: 'backoff' })
  })

  test('a certificate that nobody vouches for', async () => {
    const requests: unknown[] = []
    const server = createTlsServer(selfSigned('127.0.0.1'), (_, response) => {
      requests.push(1)
      response.setHeader('content-type', 'text/html').end('<title>Not to be trusted</title>')
    })
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const error = await errorOf(fetcherFor(port).fetchPage(`https://127.0.0.1:${port}/`, never))
    expect(error).toMatchObject({ code: 'tls', retry: 'backoff' })
    expect((error.cause as { code?: string }).code).toMatch(/SELF_SIGNED/)
    expect(requests).toEqual([])
  })

  test('a refused connection', async () => {
    const { base, port } = await serving(() => undefined)
    await new Promise((resolve) => servers.pop()!.close(resolve))
    expect(await errorOf(fetcherFor(port).fetchPage(`${base}/`, never))).toMatchObject({ code: 'connection' })
  })

  test.for([
    ['an empty answer', ''],
    ['no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n'],
    [
      'a broken chunk',
      'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n',
    ],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
    [
      'a switch of protocols',
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
    ],
    ['a status of nothing', 'HTTP/1.1 000 \r\n\r\n'],
  ])('%s is a clean failure, and the next fetch works', async ([, bytes]) => {
    const { base, port } = await serving(({ target }) =>
      target === '/' ? bytes! : html('<title>Alive</title>'),
    )
    const fetcher = fetcherFor(port)
    const error = await errorOf(fetcher.fetchPage(`${base}/`, never))
    expect(['protocol', 'connection']).toContain(error.code)
    expect((await fetcher.fetchPage(`${base}/next`, never)).title).toBe('Alive')
  })
})

describe('statuses', () => {
  test.for([
    [404, 'never'],
    [410, 'never'],
    [401, 'never'],
    [408, 'backoff'],
    [429, 'backoff'],
    [500, 'backoff'],
    [503, 'backoff'],
    [304, 'never'],
  ] as const)('%s: %s', async ([status, retry]) => {
    const error = await errorFor(
      () => `HTTP/1.1 ${status} X\r\nRetry-After: 120\r\nContent-Length: 0\r\n\r\n`,
    )
    expect(error).toMatchObject({ code: `http_${status}`, retry, retryAfterMs: 120_000 })
  })

  test.for([
    ['HTTP/1.1 403 Forbidden', ''],
    ['HTTP/1.1 503 Busy', ''],
    ['HTTP/1.1 200 OK', ''],
    ['HTTP/1.1 202 Accepted', 'x-amzn-waf-action: challenge\r\n'],
  ] as const)('%s with a bot wall is a challenge', async ([line, header]) => {
    const page = '<title>Just a moment...</title>'
    const error = await errorFor(
      () => `${line}\r\nContent-Type: text/html\r\n${header}Connection: close\r\n\r\n${page}`,
    )
    expect(error).toMatchObject({ code: 'challenge', retry: 'backoff' })
  })

  test('Retry-After: seconds, dates, nonsense, and the cap', () => {
    const nowMs = Date.UTC(2026, 0, 1, 12)
    expect(parseRetryAfter('90', nowMs)).toBe(90_000)
    expect(parseRetryAfter('Thu, 01 Jan 2026 12:05:00 GMT', nowMs)).toBe(300_000)
    expect(parseRetryAfter('Thu, 01 Jan 2026 11:05:00 GMT', nowMs)).toBe(0)
    expect(parseRetryAfter('99999999999', nowMs)).toBe(RETRY_AFTER_MAX_MS)
    for (const nonsense of ['', 'soon', '-5', '1e3', undefined])
      expect(parseRetryAfter(nonsense, nowMs)).toBe(undefined)
  })
})

describe('giving up from outside', () => {
  test('the caller’s reason comes back, and the connection is gone', async () => {
    const closed = Promise.withResolvers<void>()
    const { base, port } = await serving((_, socket) => {
      socket.once('close', () => closed.resolve())
      caller.abort(new Error('lease lost'))
      return undefined
    })
    const caller = new AbortController()
    await expect(fetcherFor(port).fetchPage(`${base}/`, caller.signal)).rejects.toThrow('lease lost')
    await closed.promise
  })

  test('a name lookup that never answers ends by the deadline', async () => {
    const manual = new ManualClock()
    const asked = Promise.withResolvers<void>()
    const fetcher = createPageFetcher({
      ...{ clock: manual, deadlineMs: 20_000 },
      lookup: () => {
        asked.resolve()
        return new Promise(() => {})
      },
    })
    const error = errorOf(fetcher.fetchPage('http://slow.example/', never))
    await asked.promise
    manual.advance(20_000)
    expect((await error).code).toBe('timeout')
  })

  test('an answer of the resolver that comes too late opens nothing', async () => {
    const manual = new ManualClock()
    const asked = Promise.withResolvers<void>()
    const late = Promise.withResolvers<{ address: string; family: number }[]>()
    const dialled: string[] = []
    const fetcher = createPageFetcher({
      ...{ clock: manual, deadlineMs: 20_000 },
      lookup: () => {
        asked.resolve()
        return late.promise
      },
      dial: (options) => {
        dialled.push(options.hostname)
        return new Socket()
      },
    })
    const error = errorOf(fetcher.fetchPage('http://slow.example/', never))
    await asked.promise
    manual.advance(20_000)
    expect((await error).code).toBe('timeout')
    late.resolve([{ address: '93.184.216.34', family: 4 }])
    await new Promise((resolve) => setImmediate(resolve))
    expect(dialled).toEqual([])
  })

  test('waiting for a turn at the host is not part of the deadline', async () => {
    const manual = new ManualClock()
    const gate = new HostGate(manual)
    const leave = await gate.enter('slow.example:80', never)
    await gate.enter('other.example:80', never)
    manual.advance(250)
    await gate.enter('slow.example:80', never)
    const asked = Promise.withResolvers<void>()
    const fetcher = createPageFetcher({
      ...{ clock: manual, deadlineMs: 20_000, gate },
      lookup: async () => {
        asked.resolve()
        throw Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' })
      },
    })
    const error = errorOf(fetcher.fetchPage('http://slow.example/', never))
    manual.advance(600_000)
    leave()
    await asked.promise
    expect((await error).code).toBe('dns')
  })
})

describe('what the network says', () => {
  const coded = (code: string) => Object.assign(new Error(code), { code })

  test('no such name, no network, and the difference', () => {
    expect(asPageError(coded('ENOTFOUND')).code).toBe('dns')
    expect(asPageError(coded('EAI_AGAIN')).code).toBe('offline')
    expect(asPageError(coded('ENETUNREACH')).code).toBe('offline')
    expect(asPageError(coded('CERT_HAS_EXPIRED')).code).toBe('tls')
    expect(asPageError(coded('ERR_TLS_CERT_ALTNAME_INVALID')).code).toBe('tls')
    expect(asPageError(coded('HPE_INVALID_CONSTANT')).code).toBe('protocol')
    expect(asPageError(undefined).code).toBe('protocol')
  })

  test('a machine without IPv6 is not offline because one family is unreachable', () => {
    expect(asPageError(new AggregateError([coded('ENETUNREACH'), coded('ECONNREFUSED')])).code).toBe(
      'connection',
    )
    expect(asPageError(new AggregateError([coded('ENETUNREACH'), coded('ENETUNREACH')])).code).toBe('offline')
  })

  test('no message tells one address from another', () => {
    const error = asPageError(
      Object.assign(new Error('connect ECONNREFUSED 10.0.0.1:80'), { code: 'ECONNREFUSED' }),
    )
    expect(error.message).not.toMatch(/\d/)
  })
})
