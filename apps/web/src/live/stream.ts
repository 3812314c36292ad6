import type { Clock } from '../browser.ts'
import { failureOf } from '../http/failure.ts'
import { retryDelayMs } from '../http/retry.ts'
import { type Change, changeIn } from './changes.ts'
import { StreamParser } from './sse.ts'

/** The server sends a comment every 15 s; twice that and a little more without a byte is a dead connection. */
const SILENCE_MS = 35_000

export interface StreamOptions {
  open(signal: AbortSignal): Promise<Response>
  clock: Clock
  random(): number
  onChange(change: Change): void
  /** True when the stream stands; what happened before is unknown then, so look at everything once. */
  onLive(live: boolean): void
  signal: AbortSignal
}

/**
 * Keeps an event stream open until the signal aborts. fetch() instead of EventSource, because that one cannot send a
 * header. Cut anywhere, it says so at once, waits (1 s, doubling to 30 s) and opens again; a connection that is open
 * but silent is cut here. Being told twice, or too late, is harmless: a change only says that it is time to look.
 */
export async function keepListening(options: StreamOptions): Promise<void> {
  const { clock, signal } = options
  let failures = 0
  while (!signal.aborted) {
    const cut = new AbortController()
    const stop = () => cut.abort()
    signal.addEventListener('abort', stop)
    let refused: number | null = null
    try {
      const response = await options.open(cut.signal)
      options.onLive(true)
      failures = 0
      await readAll(response, options, cut)
    } catch (error) {
      refused = failureOf(error).retryAfterMs
    }
    signal.removeEventListener('abort', stop)
    cut.abort()
    options.onLive(false)
    if (signal.aborted) return
    failures += 1
    await clock.sleep(retryDelayMs({ failures, retryAfterMs: refused, random: options.random() }), signal)
  }
}

async function readAll(response: Response, options: StreamOptions, cut: AbortController): Promise<void> {
  if (!response.body) return
  const reader = response.body.getReader()
  const decoder = new TextDecoder()
  const parser = new StreamParser()
  for (;;) {
    const silence = new AbortController()
    const timer = options.clock.sleep(SILENCE_MS, silence.signal).then(() => {
      if (!silence.signal.aborted) cut.abort()
    })
    const { done, value } = await reader.read().finally(() => silence.abort())
    await timer
    if (done) return
    for (const event of parser.push(decoder.decode(value, { stream: true }))) {
      const change = changeIn(event)
      if (change) options.onChange(change)
    }
  }
}
