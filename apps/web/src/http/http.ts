import type { Problem } from '@garner/server/api'
import type { Browser } from '../browser.ts'
import { Failure, retryAfterMs } from './failure.ts'

export interface Answer<T> {
  status: number
  headers: Headers
  body: T
}

export interface Sending {
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal | undefined
  /** Let the request outlive the page: a mark that is made by leaving. */
  keepalive?: boolean
  /** The browser may keep the answer as its headers say: for what never changes under its address. */
  isCacheable?: boolean
}

export interface HttpEvents {
  /** The session is over, or was never there. */
  onSignedOut(): void
  /** Whether anybody answered. */
  onReached(reached: boolean): void
}

/** Long enough for a slow phone, short enough that a dead connection is noticed; the event stream has its own rule. */
const ANSWER_WITHIN_MS = 20_000

/**
 * Every request to the server goes through here. 2xx and 304 are answers; everything else is thrown as a `Failure`.
 * A caller's abort is rethrown as it is, so that leaving a screen is not mistaken for a broken network.
 */
export class Http {
  readonly #browser: Browser
  readonly #demoUser: () => string | null
  readonly #events: HttpEvents

  constructor(browser: Browser, demoUser: () => string | null, events: HttpEvents) {
    this.#browser = browser
    this.#demoUser = demoUser
    this.#events = events
  }

  async send<T>(method: string, path: string, sending: Sending = {}): Promise<Answer<T>> {
    const limit = AbortSignal.timeout(ANSWER_WITHIN_MS)
    const signal = sending.signal ? AbortSignal.any([sending.signal, limit]) : limit
    try {
      const response = await this.open(method, path, { ...sending, signal })
      const body = (await this.#bodyOf(response)) as T
      return { status: response.status, headers: response.headers, body }
    } catch (error) {
      if (error instanceof Failure || sending.signal?.aborted) throw error
      // Cut off while the body came: as good as no answer.
      this.#events.onReached(false)
      throw new Failure(0, {})
    }
  }

  /** The response itself, its body unread: for the event stream. Throws like `send`. */
  async open(method: string, path: string, sending: Sending = {}): Promise<Response> {
    const headers = new Headers(sending.headers)
    const demoUser = this.#demoUser()
    if (demoUser !== null) headers.set('X-Demo-User', demoUser)
    const cache = sending.isCacheable ? 'default' : 'no-store'
    const init: RequestInit = { method, headers, cache, credentials: 'same-origin' }
    if (sending.body !== undefined) {
      headers.set('Content-Type', 'application/json')
      init.body = JSON.stringify(sending.body)
    }
    if (sending.signal) init.signal = sending.signal
    if (sending.keepalive) init.keepalive = true

    let response: Response
    try {
      response = await this.#browser.fetch(path, init)
    } catch (error) {
      if (sending.signal?.aborted && !isTimeout(sending.signal)) throw error
      this.#events.onReached(false)
      throw new Failure(0, {})
    }
    this.#events.onReached(true)
    if (response.ok || response.status === 304) return response
    const failure = new Failure(
      response.status,
      await problemOf(response),
      retryAfterMs(response.headers.get('Retry-After'), this.#browser.clock.nowMs()),
    )
    if (response.status === 401 && !path.startsWith('/api/auth/')) this.#events.onSignedOut()
    throw failure
  }

  async #bodyOf(response: Response): Promise<unknown> {
    if (response.status === 204 || response.status === 304) return undefined
    return (response.headers.get('Content-Type') ?? '').includes('json') ? response.json() : undefined
  }
}

function isTimeout(signal: AbortSignal): boolean {
  return signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError'
}

/** A proxy in between may answer anything. */
async function problemOf(response: Response): Promise<Partial<Problem>> {
  try {
    return (await response.json()) as Partial<Problem>
  } catch {
    return {}
  }
}
