/**
 * A small web site for tests, on a free port of this machine: counts who asks for what, and can hold its answers
 * back until it is told. Garner reaches it through GARNER_FETCH_ALLOW.
 */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach } from 'vitest'
import { until } from './garner.ts'

export interface Site {
  /** `http://127.0.0.1:PORT` */
  readonly url: string
  /** `127.0.0.1:PORT`, for GARNER_FETCH_ALLOW. */
  readonly host: string
  /** How often each path was asked for. */
  readonly hits: Map<string, number>
  /** From now on what is asked under this path is not answered until `release`. */
  hold(path: string): void
  /** Answers those that wait, and all that come: with this title. */
  release(path: string, title?: string): void
  /** Resolves when this many requests of a held path wait for their answer. */
  waiting(path: string, count?: number): Promise<void>
  /** Resolves when every request for this path so far is over: answered in full, or given up by who asked. */
  answered(path: string): Promise<void>
  /** How many connections were ever made. */
  readonly connections: number
}

const open = new Set<ReturnType<typeof createServer>>()
afterEach(() => {
  for (const server of open) {
    server.closeAllConnections()
    server.close()
  }
  open.clear()
})

/** Every path has a page, `Title of PATH`, unless `routes` says otherwise. Closed after the test. */
export async function startSite(
  routes: Record<string, (answer: ServerResponse, site: Site) => void> = {},
): Promise<Site> {
  const hits = new Map<string, number>()
  const held = new Map<string, ServerResponse[]>()
  const titles = new Map<string, string>()
  const finished = new Map<string, number>()
  let connections = 0
  const send = (answer: ServerResponse, path: string) => {
    answer.writeHead(200, { 'content-type': 'text/html; charset=utf-8', connection: 'close' })
    answer.end(`<!doctype html><title>${titles.get(path) ?? `Title of ${path}`}</title><p>Body of the page`)
  }
  const server = createServer((request, answer) => {
    const path = request.url ?? ''
    hits.set(path, (hits.get(path) ?? 0) + 1)
    answer.on('close', () => finished.set(path, (finished.get(path) ?? 0) + 1))
    const route = routes[path]
    const waiting = held.get(path)
    if (waiting) waiting.push(answer)
    else if (route) route(answer, site)
    else send(answer, path)
  })
  server.on('connection', () => connections++)
  open.add(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const site: Site = {
    url: `http://${host}`,
    host,
    hits,
    hold: (path) => void held.set(path, []),
    release(path, title) {
      if (title !== undefined) titles.set(path, title)
      const waiting = held.get(path) ?? []
      held.delete(path)
      for (const answer of waiting) send(answer, path)
    },
    async waiting(path, count = 1) {
      await until(() => (held.get(path)?.length ?? 0) >= count, {
        timeoutMs: 20_000,
        what: () => `${count} requests for ${path}; there were ${hits.get(path) ?? 0}`,
      })
    },
    async answered(path) {
      await until(() => (finished.get(path) ?? 0) >= (hits.get(path) ?? 0), {
        timeoutMs: 20_000,
        what: () => `${path} answered ${hits.get(path)} times`,
      })
    },
    get connections() {
      return connections
    },
  }
  return site
}
