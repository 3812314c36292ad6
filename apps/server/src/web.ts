import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { App } from './http.ts'
import { notFound } from './problem.ts'

const DIST = fileURLToPath(new URL('../../web/dist', import.meta.url))

/** Nothing from elsewhere is loaded or called, and no page may frame this one. */
const CONTENT_SECURITY =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self' blob:; object-src 'none'; " +
  "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

/**
 * The built client: files under their hashed names for ever, and its page for every address of its own. Without a
 * build (`npm start` makes one) the API works all the same, and the page says so.
 */
export async function registerWeb(app: App): Promise<void> {
  const index = existsSync(`${DIST}/index.html`) ? readFileSync(`${DIST}/index.html`) : null
  if (index) {
    const { default: files } = await import('@fastify/static')
    await app.register(files, {
      root: DIST,
      index: false,
      wildcard: false,
      setHeaders: (reply, path) => {
        const isHashed = path.includes('/assets/')
        reply.header('cache-control', isHashed ? 'public, max-age=31536000, immutable' : 'no-cache')
      },
    })
  }
  const page = async (
    url: string,
    reply: { type: (t: string) => unknown; headers: (h: object) => unknown },
  ) => {
    // An address with a dot in its last part is a file that is not there; of the API, nothing is a page.
    if (/^\/(api|bookmarks|metrics|healthz|readyz)\b/.test(url) || /\.[^/]+$/.test(url.split('?')[0]!))
      throw notFound()
    reply.headers({
      'content-security-policy': CONTENT_SECURITY,
      'cache-control': 'no-cache',
      'referrer-policy': 'no-referrer',
    })
    reply.type('text/html; charset=utf-8')
    return (
      index ??
      '<!doctype html><title>Garner</title><p>The client is not built. Run <code>npm start</code>.</p>'
    )
  }
  app.get('/', (request, reply) => page(request.url, reply))
  app.get('/*', (request, reply) => page(request.url, reply))
}
