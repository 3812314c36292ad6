import type { Browser } from '../browser.ts'
import { Failure, retryAfterMs } from './failure.ts'
import type { HttpEvents } from './http.ts'

export interface Uploading {
  path: string
  form: FormData
  headers: Record<string, string>
  /** Bytes that have left, as the browser counts them. */
  onProgress(sent: number): void
}

/** Longer without a byte, or without an answer after the last one, and nobody is there any more. */
const STALL_MS = 60_000

/**
 * One upload with true progress: XMLHttpRequest, since fetch cannot say how far a body has come. A dropped connection
 * is a `Failure` with status 0, as everywhere; what had arrived by then is the server's to know, so it is sent again
 * under the same Idempotency-Key.
 */
export class Uploader {
  readonly #browser: Browser
  readonly #newRequest: () => XMLHttpRequest
  readonly #demoUser: () => string | null
  readonly #events: HttpEvents

  constructor(
    browser: Browser,
    newRequest: () => XMLHttpRequest,
    demoUser: () => string | null,
    events: HttpEvents,
  ) {
    this.#browser = browser
    this.#newRequest = newRequest
    this.#demoUser = demoUser
    this.#events = events
  }

  async send<T>(upload: Uploading): Promise<T> {
    const request = this.#newRequest()
    const { clock } = this.#browser
    let alive = new AbortController()
    const watch = () => {
      alive.abort()
      alive = new AbortController()
      const mine = alive
      void clock.sleep(STALL_MS, mine.signal).then(() => {
        if (!mine.signal.aborted) request.abort()
      })
    }
    try {
      await new Promise<void>((resolve) => {
        request.open('POST', upload.path)
        for (const [name, value] of Object.entries(upload.headers)) request.setRequestHeader(name, value)
        const demoUser = this.#demoUser()
        if (demoUser !== null) request.setRequestHeader('X-Demo-User', demoUser)
        request.upload.onprogress = (event) => {
          watch()
          upload.onProgress(event.loaded)
        }
        request.onloadend = () => resolve()
        watch()
        request.send(upload.form)
      })
    } finally {
      alive.abort()
    }
    const { status } = request
    // One dropped upload does not say that nobody is there: whoever sends it asks again with something small.
    if (status === 0) throw new Failure(0, {})
    this.#events.onReached(true)
    const body = bodyOf(request.responseText)
    if (status >= 200 && status < 300) return body as T
    if (status === 401) this.#events.onSignedOut()
    throw new Failure(
      status,
      (body ?? {}) as object,
      retryAfterMs(request.getResponseHeader('Retry-After'), clock.nowMs()),
    )
  }
}

/** A proxy in between may answer anything. */
function bodyOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
