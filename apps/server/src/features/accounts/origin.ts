import type { FastifyRequest } from 'fastify'
import { forbidden } from '../../problem.ts'

/**
 * Keeps other sites' pages from acting with a person's cookie. The browser adds the cookie by itself, but it also
 * says in `Origin` whose page it is; programs without a browser send no Origin and no foreign cookie.
 */
export interface OriginRule {
  /** The public address, where a proxy hides it from us; else `Host` says who we are. */
  baseUrl: string | undefined
}

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Errors: 403 when the request would change something and its page is another site's. */
export function assertOwnOrigin(request: FastifyRequest, { baseUrl }: OriginRule): void {
  const { origin } = request.headers
  if (SAFE.has(request.method) || origin === undefined || isOurs(origin, request.host, baseUrl)) return
  throw forbidden(
    'This came from a page of another site, so nothing was done. Open Garner itself and do it there.',
    'foreign-origin',
  )
}

function isOurs(origin: string, host: string, baseUrl: string | undefined): boolean {
  const page = URL.parse(origin)
  // `null` is what sandboxed frames and local files send.
  if (!page) return false
  if (baseUrl !== undefined && page.origin === new URL(baseUrl).origin) return true
  return page.host === URL.parse(`${page.protocol}//${host}`)?.host
}
