import type { Readable } from 'node:stream'
import type { Clock } from '@garner/db'
import { Agent, type Dispatcher, request } from 'undici'
import { assembled } from './event-stream.ts'

/**
 * One HTTP exchange with the provider, in the shape that the `openai` client wants (`fetch`), and a record of how far
 * it got: whether a failure can have been billed depends on that and on nothing else.
 *
 * Cut while connecting or sending: the provider never had the whole request, so it cannot have billed it. Cut after:
 * it may have, unless the connection was reset at once (`RESET_AT_ONCE_MS`). Redirects are not followed: the key and
 * the photo go to the address that the operator named, and nowhere else.
 */
export class Exchange {
  phase: 'connecting' | 'sending' | 'sent' = 'connecting'
  /** Of an answer whose headers came. */
  status: number | null = null
  /** The whole answer came. */
  isWhole = false
  /** What was wrong with an answer that came. */
  fault: 'too_large' | 'not_a_provider' | null = null
  readonly #clock: Clock
  readonly #dispatcher: Dispatcher
  #sentAtMs = 0

  constructor(clock: Clock, dispatcher: Dispatcher) {
    this.#clock = clock
    this.#dispatcher = dispatcher
  }

  readonly fetch = async (
    input: string | URL | Request,
    init: {
      method?: string
      headers?: unknown
      body?: unknown
      signal?: AbortSignal | null
    } = {},
  ): Promise<Response> => {
    const body = typeof init.body === 'string' ? Buffer.from(init.body) : null
    const headers = Object.fromEntries(new Headers(init.headers as Record<string, string>))
    if (body) headers['content-length'] = String(body.byteLength)
    const answer = await request(String(input), {
      method: (init.method ?? 'GET') as Dispatcher.HttpMethod,
      headers,
      // undici takes any async iterable and pulls it once connected; its types name only some.
      body: body ? (this.#sending(body) as unknown as Readable) : null,
      signal: init.signal ?? null,
      dispatcher: this.#dispatcher,
    })
    this.status = answer.statusCode
    const text = await this.#read(answer.body)
    this.isWhole = true
    return this.#response(text, answer)
  }

  /** Whether the provider may have billed this, its connection having failed with `error`. */
  mayBeBilled(error: unknown): boolean {
    if (this.phase !== 'sent') return false
    if (this.status !== null && (this.status < 200 || this.status > 299)) return false
    const isAtOnce = this.#clock.monotonicMs() - this.#sentAtMs <= RESET_AT_ONCE_MS
    return !(this.status === null && isAtOnce && isReset(error))
  }

  /** In pieces, so that it is known when the last one was taken. */
  async *#sending(body: Buffer): AsyncGenerator<Buffer> {
    this.phase = 'sending'
    for (let at = 0; at < body.byteLength; at += PIECE) yield body.subarray(at, at + PIECE)
    this.phase = 'sent'
    this.#sentAtMs = this.#clock.monotonicMs()
  }

  async #read(body: AsyncIterable<Uint8Array>): Promise<string> {
    const pieces: Uint8Array[] = []
    let bytes = 0
    for await (const piece of body) {
      bytes += piece.byteLength
      if (bytes > ANSWER_MAX) {
        this.fault = 'too_large'
        throw new Error('The answer is larger than a megabyte.')
      }
      pieces.push(piece)
    }
    return Buffer.concat(pieces).toString('utf8')
  }

  #response(text: string, { statusCode, headers }: Dispatcher.ResponseData): Response {
    const type = String(headers['content-type'] ?? '')
    const isGood = statusCode >= 200 && statusCode <= 299
    if ((isGood && /html/i.test(type)) || statusCode < 200 || (statusCode >= 300 && statusCode <= 399)) {
      this.fault = 'not_a_provider'
      throw new Error(`Not an answer of a vision provider: ${statusCode}.`)
    }
    const isStream = isGood && /event-stream/i.test(type)
    const kept = new Headers({ 'content-type': isStream ? 'application/json' : type })
    const retryAfter = headers['retry-after']
    if (typeof retryAfter === 'string') kept.set('retry-after', retryAfter)
    return new Response(isStream ? assembled(text) : text || null, { status: statusCode, headers: kept })
  }
}

/** 1 MB: a good answer has some kilobytes; broken servers have sent megabytes, which ended in databases and logs. */
export const ANSWER_MAX = 1_000_000
const PIECE = 64 * 1024
/**
 * A reset means that the other side threw the connection away without reading it through, or that something between
 * us did. Within a second no model has looked at a picture, so nothing was billed; later, a router may have lost a
 * connection that the provider was busy with. One that closed in order had read everything, at whatever time.
 */
const RESET_AT_ONCE_MS = 1_000

function isReset(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ((at as NodeJS.ErrnoException).code === 'ECONNRESET') return true
  }
  return false
}

/**
 * A fresh connection for each call: one that is kept may be closed by the other side just as a request goes out, and
 * then nobody knows whether it was billed. A handshake is nothing beside the seconds that a model takes.
 * No limits of undici's own but on connecting: the deadline over everything is the caller's.
 */
export function createDispatcher(): Dispatcher {
  return new Agent({
    ...{ pipelining: 0, headersTimeout: 0, bodyTimeout: 0 },
    connect: { timeout: CONNECT_MS },
  })
}

/** 10 s: a provider that needs longer to take a connection is out of order. */
const CONNECT_MS = 10_000
