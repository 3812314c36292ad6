import { isUtf8 } from 'node:buffer'
import { pageError } from './page-error.ts'

/** At most this many hops, of either kind (Location or meta refresh). 20 is what browsers allow. */
export const HOPS_MAX = 20

export function isRedirect(status: number): boolean {
  return status === 301 || status === 302 || status === 303 || status === 307 || status === 308
}

/**
 * Where a Location header leads. Header bytes arrive as Latin-1; servers that put raw UTF-8 there mean UTF-8,
 * and read as Latin-1 it would be another page.
 * Errors: PageError `bad_redirect` when there is no readable web address in it.
 */
export function redirectTarget(location: string | undefined, from: URL): URL {
  const text = location === undefined ? '' : rawUtf8(location.trim())
  const target = text === '' ? undefined : webAddress(text, from)
  if (!target) throw pageError('bad_redirect')
  if (target.hash === '') target.hash = from.hash
  return target
}

/** `text` seen from `base`, without user name and password; undefined unless it is http or https. */
export function webAddress(text: string, base?: URL): URL | undefined {
  if (!URL.canParse(text, base?.href)) return undefined
  const url = new URL(text, base)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined
  // Never sent on: whoever wrote the redirect does not get to log us in somewhere.
  url.username = ''
  url.password = ''
  return url
}

function rawUtf8(latin1: string): string {
  const bytes = Buffer.from(latin1, 'latin1')
  return isUtf8(bytes) ? bytes.toString('utf8') : latin1
}

/** What a refresh says: `0; url=...`, as a header or in a meta tag. Undefined when it only reloads. */
export function parseRefresh(text: string): { delayS: number; url: string } | undefined {
  const [, delay, rest] = /^\s*(\d*\.?\d*)\s*[;,\s]\s*(.*)$/s.exec(text) ?? []
  if (delay === undefined || rest === undefined) return undefined
  const named = /^url\s*=\s*(.*)$/is.exec(rest)?.[1] ?? rest
  const quote = named[0]
  const url = (quote === '"' || quote === "'" ? named.slice(1).split(quote)[0]! : named).trim()
  return url === '' ? undefined : { delayS: delay === '' ? 0 : Number(delay), url }
}
