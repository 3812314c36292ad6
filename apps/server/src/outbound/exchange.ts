import type { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { Client, type Dispatcher } from 'undici'
import type { FetchAllow } from './fetch-allow.ts'
import { type Dial, guardedConnector, type Lookup } from './guard.ts'
import { asPageError, type PageError } from './page-error.ts'

/**
 * One GET over one connection of its own. One connection, so that the address that was checked is the one that
 * answers, and so that whatever a broken server does to it ends with it.
 *
 * The caller's signal is the only clock: on abort the connection is destroyed, in whatever phase it is.
 */

/** 128 KiB: shops and photo sites send 20 to 60 KiB of Link and cookie headers; the usual 16 KiB loses them. */
const HEADERS_MAX = 128 * 1024

/** Honest about being a program; the "Mozilla/5.0 (compatible; …)" form is what sites expect of such. */
const USER_AGENT = 'Mozilla/5.0 (compatible; Garner/0.1; +title fetcher)'

export interface Answer {
  status: number
  /** The value of a header, the first one if it was sent twice; bytes as Latin-1. */
  header(name: string): string | undefined
  setCookie: readonly string[]
  /** The body as sent, still compressed. Ends without an error even when it was cut; see `cut`. */
  body: AsyncIterable<Buffer>
  /** Why the body ended early; undefined when it came whole. Known once `body` has ended. */
  cut(): PageError | undefined
}

export interface Network {
  lookup: Lookup
  dial: Dial
  allow: FetchAllow
}

/**
 * Asks for `url` and hands the answer to `use`; the connection is gone when this returns.
 * Errors: PageError, from lookup to headers; what `use` throws. After an abort: the signal's reason.
 */
export async function exchange<T>(
  url: URL,
  { cookie, network, signal }: { cookie: string | undefined; network: Network; signal: AbortSignal },
  use: (answer: Answer) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted()
  let socketError: Error | undefined
  const onSocket = (socket: Socket) => {
    // A reset while a body without Content-Length is read ends it like any close; only the socket knows.
    // (What undici says to the socket when it is done with it has no system call in it.)
    socket.on('error', (error) => {
      if ('syscall' in error) socketError ??= error
    })
  }
  const client = new Client(url.origin, {
    connect: guardedConnector({ ...network, signal, onSocket }),
    maxHeaderSize: HEADERS_MAX,
    headersTimeout: 0,
    bodyTimeout: 0,
    pipelining: 1,
  })
  // undici reports what goes wrong inside its own callbacks here; unheard, it would end the process.
  const emitter: EventEmitter = client
  emitter.on('error', () => {})
  const destroy = (reason: unknown) => client.destroy(asPageError(reason)).catch(() => {})
  const onAbort = () => void destroy(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    const answer = await client
      .request({
        method: 'GET',
        path: `${url.pathname}${url.search}`,
        headers: requestHeaders(cookie),
        reset: true,
        signal,
      })
      .catch((error) => {
        throw signal.aborted ? signal.reason : asPageError(error)
      })
    answer.body.on('error', () => {})
    return await use(readable(answer, () => socketError))
  } finally {
    signal.removeEventListener('abort', onAbort)
    void destroy(undefined)
  }
}

function requestHeaders(cookie: string | undefined): Record<string, string> {
  return {
    'user-agent': USER_AGENT,
    accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
    'accept-language': '*',
    'accept-encoding': 'gzip, deflate, br',
    ...(cookie === undefined ? {} : { cookie }),
  }
}

function readable(answer: Dispatcher.ResponseData, socketError: () => Error | undefined): Answer {
  const all = (name: string) => {
    const value = answer.headers[name]
    return value === undefined ? [] : Array.isArray(value) ? value : [value]
  }
  let cut: PageError | undefined
  return {
    status: answer.statusCode,
    header: (name) => all(name)[0],
    setCookie: all('set-cookie'),
    body: (async function* () {
      try {
        for await (const chunk of answer.body) yield chunk as Buffer
        const error = socketError()
        if (error) cut = asPageError(error)
      } catch (error) {
        cut = asPageError(error)
      }
    })(),
    cut: () => cut,
  }
}
