import { createReadStream, existsSync, statSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import { createDiaryRoutes } from './fake-diary.ts'
import { createDoor } from './fake-door.ts'
import { Refusal } from './fake-refusal.ts'
import { createRoutes } from './fake-routes.ts'
import type { FakeState } from './fake-state.ts'

/**
 * A Garner of a few hundred lines, all in memory, for looking at the client and testing it without a server. It keeps
 * the promises that the client leans on (idempotency keys, versions, conflicts, events) and can be told to refuse.
 */
export interface FakeApi {
  state: FakeState
  url: string
  /** The next matching requests get this answer instead. */
  refuse(match: string, answer: FakeRefusal): void
  /** Matching requests are read and then wait for the function that is answered, or for the fake's end. */
  hold(match: string): () => void
  /** Ends the connections without an answer, until told otherwise. */
  setDown(down: boolean): void
  /** Event streams are refused until told otherwise, and open ones are cut. */
  setSilent(silent: boolean): void
  /** Extra headers on the next list answers, for stale copies. */
  listHeaders: Record<string, string>
  tell(event: string, data: object): void
  requests: { method: string; path: string; headers: IncomingMessage['headers']; body: unknown }[]
  close(): Promise<void>
}

interface FakeRefusal {
  status: number
  headers?: Record<string, string>
  /** The word that programs decide on. */
  type?: string
  detail?: string
  times: number
}

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.webmanifest': 'application/manifest+json',
}

export async function startFakeApi(options: {
  state: FakeState
  dist?: string
  port?: number
}): Promise<FakeApi> {
  const { state, dist } = options
  const streams = new Set<ServerResponse>()
  const refusals: (FakeRefusal & { match: string })[] = []
  const holds = new Map<string, Promise<void>>()
  const replays = new Map<string, { status: number; body: unknown; headers: Record<string, string> }>()
  let isDown = false
  let isSilent = false

  const tell = (event: string, data: object) => {
    for (const stream of streams) stream.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
  }
  const door = createDoor(state)
  const routes = [
    ...createRoutes({ state, tell, listHeaders: () => api.listHeaders }),
    ...createDiaryRoutes({ diary: state.diary, tell: (event) => tell(event, {}) }),
  ]

  function answer(
    res: ServerResponse,
    status: number,
    body: unknown,
    headers: Record<string, string> = {},
  ): void {
    const isPicture = Buffer.isBuffer(body)
    const json = status >= 400 ? 'application/problem+json' : 'application/json'
    res.writeHead(status, {
      ...(body === undefined ? {} : { 'Content-Type': isPicture ? 'image/gif' : json }),
      ...headers,
    })
    res.end(body === undefined || isPicture ? body : JSON.stringify(body))
  }

  async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const url = new URL(req.url ?? '/', 'http://fake')
    if (isDown) {
      req.socket.destroy()
      return
    }
    if (!url.pathname.startsWith('/api/')) return serveFile(url.pathname, res)
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk as Buffer)
    const body = await bodyOf(req, Buffer.concat(chunks))
    const method = req.method ?? 'GET'
    api.requests.push({ method, path: url.pathname + url.search, headers: req.headers, body })

    const isFor = (match: string) => `${method} ${url.pathname}`.startsWith(match)
    for (const [match, end] of holds) if (isFor(match)) await end
    const refusal = refusals.find((one) => one.times > 0 && isFor(one.match))
    if (refusal) {
      refusal.times -= 1
      const { status, type = 'refused', detail = 'Not now.' } = refusal
      return answer(res, status, { type, title: detail, status, detail }, refusal.headers)
    }
    try {
      const early = door.open({ req, url, body })
      if (early) return answer(res, early.status ?? 200, early.body)
      const who = door.whoIs(req)
      if (url.pathname === '/api/events') return stream(req, res)
      const key = req.headers['idempotency-key']
      const replay = typeof key === 'string' ? replays.get(key) : undefined
      if (replay)
        return answer(res, replay.status, replay.body, { ...replay.headers, 'Idempotency-Replayed': 'true' })
      for (const [verb, pattern, handler] of routes) {
        const match = verb === method ? pattern.exec(url.pathname) : null
        if (!match) continue
        const result = handler({ req, url, body, who }, ...match.slice(1).map(decodeURIComponent))
        const status = result.status ?? 200
        if (typeof key === 'string')
          replays.set(key, { status, body: result.body, headers: result.headers ?? {} })
        return answer(res, status, result.body, result.headers)
      }
      throw new Refusal(404, 'There is nothing here.')
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      const { status, message, more } = error
      answer(res, status, { type: 'problem', title: message, status, detail: message, ...more })
    }
  }

  function stream(req: IncomingMessage, res: ServerResponse): void {
    if (isSilent) {
      answer(res, 503, { title: 'No events now' }, { 'Retry-After': '1' })
      return
    }
    res.writeHead(200, { 'Content-Type': 'text/event-stream' })
    res.write(': hello\n\n')
    streams.add(res)
    req.on('close', () => streams.delete(res))
  }

  function serveFile(pathname: string, res: ServerResponse): void {
    const wanted = dist ? join(dist, pathname) : ''
    const file =
      dist && existsSync(wanted) && statSync(wanted).isFile() ? wanted : dist ? join(dist, 'index.html') : ''
    if (file === '') {
      answer(res, 404, { title: 'No files here' })
      return
    }
    res.writeHead(200, { 'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream' })
    createReadStream(file).pipe(res)
  }

  const server = createServer((req, res) => void serve(req, res))
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve))
  const api: FakeApi = {
    state,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    listHeaders: {},
    requests: [],
    tell,
    refuse(match, refusal) {
      refusals.push({ match, ...refusal })
    },
    hold(match) {
      let letGo = () => {}
      const end = new Promise<void>((resolve) => {
        letGo = resolve
      })
      holds.set(match, end)
      return () => {
        holds.delete(match)
        letGo()
      }
    },
    setDown(down) {
      isDown = down
      if (down) server.closeAllConnections()
    },
    setSilent(silent) {
      isSilent = silent
      if (silent) for (const one of streams) one.destroy()
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return api
}

/** JSON, or a form as an object of its fields; a file is its name and its size. */
async function bodyOf(req: IncomingMessage, bytes: Buffer): Promise<Record<string, unknown>> {
  const type = req.headers['content-type'] ?? ''
  if (bytes.length === 0) return {}
  if (!type.startsWith('multipart/')) return JSON.parse(bytes.toString()) as Record<string, unknown>
  const form = await new Response(new Uint8Array(bytes), { headers: { 'Content-Type': type } }).formData()
  const fields = [...form].map(([name, value]) =>
    typeof value === 'string' ? [name, value] : [name, { name: value.name, size: value.size }],
  )
  return Object.fromEntries(fields)
}
