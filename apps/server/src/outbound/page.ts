import { lookup as dnsLookup } from 'node:dns/promises'
import type { Clock } from '@garner/db'
import { portOf } from './bad-ports.ts'
import { Cookies } from './cookies.ts'
import { type Answer, exchange, type Network } from './exchange.ts'
import { FetchAllow } from './fetch-allow.ts'
import { checkTarget, type Dial, dial as dialForReal, type Lookup } from './guard.ts'
import { HostGate } from './host-gate.ts'
import { isChallengeHeader, isConsentHost } from './junk-titles.ts'
import { httpError, type PageError, pageError } from './page-error.ts'
import type { PageReader } from './page-reader.ts'
import { readHtml } from './read-html.ts'
import { HOPS_MAX, isRedirect, parseRefresh, redirectTarget, webAddress } from './redirect.ts'
import { parseRetryAfter } from './retry-after.ts'
import { cleanTitle } from './title.ts'

/**
 * Fetches the title of a page: the one place where Garner reads what strangers wrote on servers it does not own.
 *
 * Promises: one deadline over lookup, connection, headers, body and every redirect; the guard (guard.ts) at every
 * hop; a bounded number of decoded bytes; no retry (the job owns those) and no trace of the page but its title.
 * Assumes nothing of the server. Cut off at any point, nothing is on disk: the job's lease runs out and another
 * attempt asks again. A page that was cut after its title arrived is as good as a whole one.
 */
export interface Page {
  /** Cleaned and usable, or null: fetched, nothing to show but `shown` or the address. */
  title: string | null
  /** The file name, for what is not HTML. */
  shown: string | null
  /** Where redirects led. The saved address stays what the member gave. */
  finalUrl: string
  status: number
  /** Decoded body bytes that were read, of the last answer. */
  bytes: number
}

export interface PageFetcher {
  /**
   * Errors: PageError; when `signal` aborts, its reason.
   * Waiting for a turn at the host (host-gate.ts) comes before the deadline and is not part of it.
   */
  fetchPage(url: string, signal: AbortSignal): Promise<Page>
}

/** 4.5 MiB decoded: real pages put their title behind 2 MiB and more of script; beyond 4 there was never one. */
const READ_MAX = 4.5 * 1024 * 1024
/** An error page is only read for signs of a bot wall; those fit in its first part. */
const ERROR_READ_MAX = 64 * 1024

export function createPageFetcher(parts: {
  clock: Clock
  /** One fetch, all hops included. */
  deadlineMs: number
  allow?: FetchAllow
  gate?: HostGate
  /** For tests: name lookup, and what connects to a checked address. */
  lookup?: Lookup
  dial?: Dial
}): PageFetcher {
  const { clock, deadlineMs } = parts
  const gate = parts.gate ?? new HostGate(clock)
  const network: Network = {
    allow: parts.allow ?? new FetchAllow(),
    lookup: parts.lookup ?? ((hostname) => dnsLookup(hostname, { all: true, order: 'verbatim' })),
    dial: parts.dial ?? dialForReal,
  }
  return {
    async fetchPage(text, signal) {
      const start = webAddress(text)
      if (!start) throw pageError('dns')
      const trip = new Trip({ start, clock, network, deadlineMs })
      let turn: { host: string; leave: () => void } | undefined
      try {
        for (;;) {
          trip.check()
          const host = `${trip.at.hostname}:${portOf(trip.at)}`
          if (turn?.host !== host) {
            turn?.leave()
            turn = undefined
            turn = { host, leave: await gate.enter(host, signal) }
          }
          const page = await trip.hop(signal)
          signal.throwIfAborted()
          if (page) return page
        }
      } catch (error) {
        signal.throwIfAborted()
        throw error
      } finally {
        turn?.leave()
      }
    },
  }
}

/** One fetch under way: where it is, where it has been, how much time is left. */
class Trip {
  at: URL
  readonly #start: URL
  readonly #clock: Clock
  readonly #network: Network
  readonly #cookies = new Cookies()
  readonly #seen = new Set<string>()
  #leftMs: number
  #hops = 0

  constructor(parts: { start: URL; clock: Clock; network: Network; deadlineMs: number }) {
    this.at = parts.start
    this.#start = parts.start
    this.#clock = parts.clock
    this.#network = parts.network
    this.#leftMs = parts.deadlineMs
  }

  /** Errors: PageError when the next hop must not be made. */
  check(): void {
    if (this.#hops > HOPS_MAX) throw pageError('too_many_redirects')
    if (this.#seen.has(this.#request(this.at))) throw pageError('redirect_loop')
    checkTarget(this.at, this.#network.allow)
  }

  /** One request. The page, or undefined when it led on to another address. */
  async hop(signal: AbortSignal): Promise<Page | undefined> {
    this.#seen.add(this.#request(this.at))
    const cookie = this.#cookies.header(this.at)
    const startedMs = this.#clock.monotonicMs()
    const timer = withDeadline(this.#clock, Math.max(0, this.#leftMs), signal)
    try {
      const outcome = await exchange(
        this.at,
        { cookie, network: this.#network, signal: timer.signal },
        (answer) => this.#read(answer, timer.signal),
      )
      if (!(outcome instanceof URL)) return outcome
      this.at = outcome
      this.#hops++
      return undefined
    } finally {
      timer.stop()
      this.#leftMs -= this.#clock.monotonicMs() - startedMs
    }
  }

  /** The same request made twice gets the same answer: that is a loop. A new cookie makes it another request. */
  #request(url: URL): string {
    return `${url.href.split('#')[0]}\n${this.#cookies.header(url) ?? ''}`
  }

  get #wasRedirected(): boolean {
    return this.at.href !== this.#start.href
  }

  async #read(answer: Answer, signal: AbortSignal): Promise<Page | URL> {
    const { status } = answer
    this.#cookies.keep(this.at, answer.setCookie)
    if (isRedirect(status)) return redirectTarget(answer.header('location'), this.at)
    const retryAfterMs = parseRetryAfter(answer.header('retry-after'), this.#clock.nowMs())
    if (isChallengeHeader(answer.header)) throw pageError('challenge', { retryAfterMs })
    if (status < 200 || status > 299) throw await this.#failure(answer, retryAfterMs, signal)

    const reader = await readHtml(answer, { most: READ_MAX, clock: this.#clock, signal })
    const page = { finalUrl: this.at.href, status, bytes: reader?.bytes ?? 0 }
    if (!reader) return { ...page, title: null, shown: fileName(this.at) }
    const { title, junk } = reader.html.titles({ wasRedirected: this.#wasRedirected })
    const next = this.#refreshTarget(answer, reader.html, title)
    if (next) return next
    if (junk === 'challenge') throw pageError('challenge', { retryAfterMs })
    if (this.#wasRedirected && isConsentHost(this.at.hostname)) return { ...page, title: null, shown: null }
    if (title === null) {
      if (reader.error) throw reader.error
      if (reader.isFull) throw pageError('too_large')
    }
    return { ...page, title, shown: null }
  }

  /** Bot walls answer 403, 429 or 503 with a page of their own; it says so in its title. */
  async #failure(answer: Answer, retryAfterMs: number | undefined, signal: AbortSignal): Promise<PageError> {
    if ([403, 429, 503].includes(answer.status)) {
      const reader = await readHtml(answer, { most: ERROR_READ_MAX, clock: this.#clock, signal })
      const junk = reader?.html.titles({ wasRedirected: false }).junk
      if (junk === 'challenge') return pageError('challenge', { retryAfterMs })
    }
    return httpError(answer.status, retryAfterMs)
  }

  /** Where a refresh of 0 or 1 s leads, when the page has nothing else to say; not to where we have been. */
  #refreshTarget(answer: Answer, html: PageReader, title: string | null): URL | undefined {
    if (html.head.hasContent) return undefined
    const header = parseRefresh(answer.header('refresh') ?? '')
    const meta = html.head.refresh
    const text =
      header && header.delayS <= 1
        ? header.url
        : meta && !(meta.isForNoScript && title !== null)
          ? parseRefresh(meta.url.decode((bytes) => bytes.toString('utf8')))?.url
          : undefined
    const target = text === undefined ? undefined : webAddress(text, this.at)
    return target && !this.#seen.has(this.#request(target)) ? target : undefined
  }
}

/** A signal that aborts with `timeout` after `ms`, and with the caller's reason when the caller's does. */
function withDeadline(
  clock: Clock,
  ms: number,
  outer: AbortSignal,
): { signal: AbortSignal; stop: () => void } {
  const inner = new AbortController()
  const stop = new AbortController()
  const onAbort = () => inner.abort(outer.reason)
  if (outer.aborted) onAbort()
  else outer.addEventListener('abort', onAbort, { once: true, signal: stop.signal })
  clock.sleep(ms, stop.signal).then(() => {
    if (!stop.signal.aborted) inner.abort(pageError('timeout'))
  })
  return { signal: inner.signal, stop: () => stop.abort() }
}

/** The last part of the path, percent-decoded and cleaned; null when there is none. */
function fileName(url: URL): string | null {
  const last = url.pathname.split('/').filter(Boolean).at(-1)
  if (last === undefined) return null
  let name = last
  try {
    name = decodeURIComponent(last)
  } catch {
    // A stray percent sign: shown as it stands in the address.
  }
  return cleanTitle(name)
}
