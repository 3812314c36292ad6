import type { Clock } from '@garner/db'
import { portOf } from './bad-ports.ts'
import { FetchAllow } from './fetch-allow.ts'
import { checkTarget } from './guard.ts'
import type { Page, PageFetcher } from './page.ts'
import { pageError } from './page-error.ts'
import { PageReader } from './page-reader.ts'
import { webAddress } from './redirect.ts'

/**
 * The demo's stand-in for the internet: every public address has a page, the same one each time, made from the
 * address itself. It contacts nothing, not even a resolver. What the guard refuses by how it is written fails as
 * it does for real, and a host on the operator's allow list is fetched for real.
 */
export type FixtureMode = 'ok' | 'timeout'

export interface FixtureSite extends PageFetcher {
  /** Errors: as PageFetcher; in mode `timeout` always PageError `timeout`, unless the host is fetched for real. */
  fetchPage(url: string, signal: AbortSignal, options?: { mode?: FixtureMode }): Promise<Page>
}

/** A demonstration of a timeout need not take as long as one. */
const TIMEOUT_SHOWN_MS = 1_000

export function createFixtureSite(parts: {
  clock: Clock
  /** The real one, for hosts on the allow list. */
  fetcher: PageFetcher
  allow?: FetchAllow
  deadlineMs: number
}): FixtureSite {
  const allow = parts.allow ?? new FetchAllow()
  return {
    async fetchPage(text, signal, { mode = 'ok' } = {}) {
      signal.throwIfAborted()
      const url = webAddress(text)
      if (!url) throw pageError('dns')
      checkTarget(url, allow)
      if (allow.reaches(url.hostname, portOf(url))) return parts.fetcher.fetchPage(text, signal)
      if (mode === 'timeout') {
        await parts.clock.sleep(Math.min(parts.deadlineMs, TIMEOUT_SHOWN_MS), signal)
        signal.throwIfAborted()
        throw pageError('timeout')
      }
      return pageOf(url)
    },
  }
}

/** Goes through the same reader as a real page, so that the demo shows what the product does. */
function pageOf(url: URL): Page {
  const html = Buffer.from(`<!doctype html><html><head><title>${escaped(titleOf(url))}</title></head></html>`)
  const reader = new PageReader('text/html; charset=utf-8')
  reader.write(html)
  reader.end()
  const { title } = reader.titles({ wasRedirected: false })
  return { title, shown: null, finalUrl: url.href, status: 200, bytes: html.length }
}

/** "https://archive.org/notes/queueing-notes.html" → "Queueing notes · archive.org" */
function titleOf(url: URL): string {
  const host = url.host.replace(/^www\./, '')
  const last = url.pathname.split('/').filter(Boolean).at(-1) ?? ''
  const words = readable(last)
    .replace(/\.[a-z0-9]{1,5}$/i, '')
    .replace(/[-_+\s]+/g, ' ')
    .trim()
  const title = words === '' ? host : `${words.charAt(0).toUpperCase()}${words.slice(1)} · ${host}`
  return url.search === '' ? title : `${title} (${readable(url.search.slice(1))})`
}

function readable(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
