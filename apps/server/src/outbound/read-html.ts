import type { Clock } from '@garner/db'
import { decoded } from './content-coding.ts'
import type { Answer } from './exchange.ts'
import { asPageError, type PageError } from './page-error.ts'
import { isFile, PageReader, startsLikeHtml } from './page-reader.ts'

/**
 * Reads the body of an answer until nothing better can come, and no further: a page may be endless, silent, a
 * compressed bomb, or no page at all. What arrived before a cut counts; whoever called decides whether it is
 * enough. Errors of the network are part of what is returned; only a bug throws.
 */
export interface Reading {
  html: PageReader
  /** Decoded bytes that were looked at. */
  bytes: number
  /** The limit was reached before the page was over. */
  isFull: boolean
  /** Why the body ended early. */
  error: PageError | undefined
}

/** With the title at hand, how long the rest of the head is waited for: 2 s. It can only add a refresh. */
const PATIENCE_MS = 2_000

/** Undefined: the answer is not HTML, and nothing of it was looked at. `most` is in decoded bytes. */
export async function readHtml(
  answer: Answer,
  { most, clock, signal }: { most: number; clock: Clock; signal: AbortSignal },
): Promise<Reading | undefined> {
  const type = (answer.header('content-type') ?? '').trim()
  const isDeclared = /^(text\/html|application\/xhtml\+xml)\b/i.test(type)
  const isVague = type === '' || /^((application|text)\/xml|unknown)\b|^\*\/\*/i.test(type)
  if (!isDeclared && !isVague) return undefined
  const html = new PageReader(type)
  const reading: Reading = { html, bytes: 0, isFull: false, error: undefined }
  const patience = new Patience(clock, signal)
  const body = decoded(answer.body, answer.header('content-encoding') ?? '')[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await patience.next(body)
      if (next instanceof Error) reading.error = next
      if (next instanceof Error || next.done) break
      const isOther = isFile(next.value) || (isVague && !startsLikeHtml(next.value))
      if (reading.bytes === 0 && isOther) return undefined
      const chunk = next.value.subarray(0, most - reading.bytes)
      reading.bytes += chunk.length
      html.write(chunk)
      reading.isFull = reading.bytes >= most
      if (reading.isFull || html.head.isEnough) break
      if (html.head.title) patience.endIn(PATIENCE_MS)
    }
  } finally {
    patience.stop()
    // The connection is destroyed by whoever opened it; a body that never answers must not hold this up.
    Promise.resolve(body.return?.()).catch(() => {})
  }
  reading.error ??= answer.cut()
  html.end()
  // A title that was cut in its middle is no title, unless the page came whole and just never closes it.
  if (reading.error && !html.head.isTitleClosed) html.head.title = undefined
  return reading
}

/** Reads on until the signal aborts or, once set, a shorter time is over; a body that stays silent holds nobody. */
class Patience {
  readonly #clock: Clock
  readonly #signal: AbortSignal
  readonly #stopped = new AbortController()
  readonly #over = Promise.withResolvers<PageError | IteratorReturnResult<undefined>>()
  #isSet = false

  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock
    this.#signal = signal
    const onAbort = () => this.#over.resolve(asPageError(signal.reason))
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true, signal: this.#stopped.signal })
  }

  endIn(ms: number): void {
    if (this.#isSet) return
    this.#isSet = true
    this.#clock
      .sleep(ms, this.#stopped.signal)
      .then(() => this.#over.resolve({ done: true, value: undefined }))
  }

  /** The next piece, or why there is none. */
  async next(body: AsyncIterator<Buffer>): Promise<IteratorResult<Buffer, undefined> | PageError> {
    if (this.#signal.aborted) return asPageError(this.#signal.reason)
    return Promise.race([body.next().catch((error) => asPageError(error)), this.#over.promise])
  }

  stop(): void {
    this.#stopped.abort()
  }
}
