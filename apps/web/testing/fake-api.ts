import { createReadStream, existsSync, statSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import type { Me } from '@garner/server/api'
import { person } from './fake-people.ts'
import { type FakeGroup, type FakeLink, type FakeState, linkOf, seenBy } from './fake-state.ts'

/**
 * A Garner of a few hundred lines, all in memory, for looking at the client and testing it without a server. It keeps
 * the promises that the client leans on (idempotency keys, versions, conflicts, events) and can be told to refuse.
 */
export interface FakeApi {
  state: FakeState
  url: string
  /** The next matching requests get this answer instead. */
  refuse(
    match: string,
    answer: { status: number; headers?: Record<string, string>; detail?: string; times: number },
  ): void
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

interface Context {
  req: IncomingMessage
  res: ServerResponse
  url: URL
  body: Record<string, unknown>
  who: string
}

class Refusal extends Error {
  readonly status: number
  readonly more: object
  constructor(status: number, detail: string, more: object = {}) {
    super(detail)
    this.status = status
    this.more = more
  }
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
  const refusals: {
    match: string
    status: number
    headers: Record<string, string>
    detail: string
    left: number
  }[] = []
  const replays = new Map<string, { status: number; body: unknown; headers: Record<string, string> }>()
  let isDown = false
  let isSilent = false
  let lastId = 0

  const group = (id: string): FakeGroup => {
    const found = state.groups.find((one) => one.id === id)
    if (!found) throw new Refusal(404, 'There is no such group.')
    return found
  }
  const myGroup = (id: string, who: string): FakeGroup => {
    const found = group(id)
    if (!found.members.includes(who)) throw new Refusal(403, 'You are not a member of this group.')
    return found
  }
  const myLink = (id: string, who: string): FakeLink => {
    const link = state.links.find((one) => one.id === id)
    if (!link || !group(link.group).members.includes(who)) throw new Refusal(404, 'There is no such link.')
    return link
  }
  const tell = (event: string, data: object) => {
    for (const stream of streams) stream.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
  }
  const changed = (link: FakeLink) => {
    const inGroup = group(link.group)
    inGroup.version += 1
    tell('bookmark', { group: link.group, id: link.id, version: link.version })
    return { 'X-Garner-Version': String(inGroup.version) }
  }
  const summary = (one: FakeGroup, who: string) => {
    const links = state.links.filter((link) => link.group === one.id)
    return {
      id: one.id,
      name: one.name,
      personal: one.personal,
      role: one.owner === who ? 'owner' : 'member',
      show_reads: one.showing.includes(who),
      members: one.members.map(person),
      links: links.length,
      unread: links.filter((link) => !link.readers.includes(who)).length,
    }
  }

  type Handler = (
    context: Context,
    ...ids: string[]
  ) => { status?: number; body?: unknown; headers?: Record<string, string> }
  const routes: [string, RegExp, Handler][] = [
    [
      'GET',
      /^\/api\/groups$/,
      ({ who }) => ({
        body: {
          groups: state.groups.filter((one) => one.members.includes(who)).map((one) => summary(one, who)),
        },
      }),
    ],
    [
      'POST',
      /^\/api\/groups$/,
      ({ body, who }) => {
        lastId += 1
        const made: FakeGroup = {
          id: `g${lastId}`,
          name: String(body.name),
          personal: false,
          owner: who,
          members: [who],
          showing: [],
          version: 1,
        }
        state.groups.push(made)
        tell('group', { group: made.id })
        return { status: 201, body: summary(made, who) }
      },
    ],
    [
      'PATCH',
      /^\/api\/groups\/([^/]+)$/,
      ({ body, who }, id) => {
        const one = myGroup(id ?? '', who)
        one.showing = one.showing.filter((member) => member !== who).concat(body.show_reads ? [who] : [])
        return { body: summary(one, who) }
      },
    ],
    [
      'POST',
      /^\/api\/groups\/([^/]+)\/members$/,
      ({ body, who }, id) => {
        const one = myGroup(id ?? '', who)
        const found = state.users.find((user) => user.id === body.user || user.email === body.email)
        if (found?.status !== 'approved')
          throw new Refusal(404, 'Nobody with that address has an account here.')
        if (!one.members.includes(found.id)) one.members.push(found.id)
        tell('group', { group: one.id })
        return { status: 201, body: { id: found.id, name: found.name } }
      },
    ],
    [
      'DELETE',
      /^\/api\/groups\/([^/]+)\/members\/([^/]+)$/,
      ({ who }, id, member) => {
        const one = myGroup(id ?? '', who)
        one.members = one.members.filter((user) => user !== member)
        tell('group', { group: one.id })
        return { status: 204 }
      },
    ],
    [
      'GET',
      /^\/api\/bookmarks$/,
      ({ req, url, who }) => {
        const one = myGroup(url.searchParams.get('group') ?? '', who)
        const mine = state.links.filter((link) => link.group === one.id)
        const q = (url.searchParams.get('q') ?? '').toLowerCase()
        const matching = mine
          .filter((link) => url.searchParams.get('unread') !== 'true' || !link.readers.includes(who))
          .filter((link) => url.searchParams.get('mine') !== 'true' || link.owner.id === who)
          .filter((link) => q === '' || `${link.title} ${link.note} ${link.url}`.toLowerCase().includes(q))
          .sort((a, b) => Date.parse(b.saved_at) - Date.parse(a.saved_at))
        const from = Number(url.searchParams.get('after') ?? 0)
        const limit = Number(url.searchParams.get('limit') ?? 50)
        const marks = mine.filter((link) => link.readers.includes(who)).length
        const etag = `"${one.version}-${marks}-${url.search}"`
        if (req.headers['if-none-match'] === etag) return { status: 304 }
        return {
          headers: { ETag: etag, 'X-Garner-Version': String(one.version), ...api.listHeaders },
          body: {
            items: matching.slice(from, from + limit).map((link) => seenBy(state, link, who)),
            version: one.version,
            next: from + limit < matching.length ? String(from + limit) : null,
            group: one.id,
            counts: {
              all: mine.length,
              unread: mine.length - marks,
              mine: mine.filter((link) => link.owner.id === who).length,
            },
          },
        }
      },
    ],
    [
      'POST',
      /^\/api\/bookmarks$/,
      ({ body, who }) => {
        const one = myGroup(String(body.group ?? 'study'), who)
        const url = URL.parse(String(body.url))
        if (!url || !/^https?:$/.test(url.protocol))
          throw new Refusal(400, 'That is not a link Garner can open. It must start with http or https.')
        const before = state.links.find((link) => link.group === one.id && link.url === body.url)
        if (before && !body.force)
          return { status: 200, body: { ...seenBy(state, before, who), duplicate: true } }
        lastId += 1
        const link = linkOf({
          id: `new${lastId}`,
          url: String(body.url),
          owner: person(who),
          savedAtMs: Date.now(),
          group: one.id,
          note: String(body.note ?? ''),
        })
        state.links.push(link)
        return { status: 201, headers: changed(link), body: seenBy(state, link, who) }
      },
    ],
    [
      'GET',
      /^\/api\/bookmarks\/([^/]+)$/,
      ({ who }, id) => ({ body: seenBy(state, myLink(id ?? '', who), who) }),
    ],
    [
      'PATCH',
      /^\/api\/bookmarks\/([^/]+)$/,
      ({ body, who }, id) => {
        const link = myLink(id ?? '', who)
        if (link.owner.id !== who) throw new Refusal(403, 'Only who saved a link may change it.')
        if (body.version !== link.version)
          throw new Refusal(409, 'It was changed meanwhile.', { current: seenBy(state, link, who) })
        if (typeof body.note === 'string') link.note = body.note
        if (typeof body.url === 'string')
          Object.assign(link, { url: body.url, title: null, title_status: 'pending' })
        if (typeof body.title === 'string')
          Object.assign(link, {
            title: body.title || null,
            title_source: 'hand',
            title_by: person(who),
            title_status: 'ready',
          })
        Object.assign(link, {
          version: link.version + 1,
          edited_at: new Date().toISOString(),
          edited_by: person(who),
        })
        return { headers: changed(link), body: seenBy(state, link, who) }
      },
    ],
    [
      'PATCH',
      /^\/api\/bookmarks\/([^/]+)\/read$/,
      ({ body, who }, id) => {
        const link = myLink(id ?? '', who)
        link.readers = link.readers.filter((one) => one !== who).concat(body.is_read ? [who] : [])
        return { body: seenBy(state, link, who) }
      },
    ],
    [
      'POST',
      /^\/api\/bookmarks\/([^/]+)\/refresh$/,
      ({ who }, id) => {
        const link = myLink(id ?? '', who)
        if (link.title === null) link.title_status = 'pending'
        return { status: 202, headers: changed(link), body: seenBy(state, link, who) }
      },
    ],
    [
      'DELETE',
      /^\/api\/bookmarks\/([^/]+)$/,
      ({ who }, id) => {
        const link = myLink(id ?? '', who)
        if (link.owner.id !== who) throw new Refusal(403, 'Only who saved a link may delete it.')
        state.links = state.links.filter((one) => one !== link)
        const inGroup = group(link.group)
        inGroup.version += 1
        tell('list', { group: link.group, version: inGroup.version })
        return { status: 204, headers: { 'X-Garner-Version': String(inGroup.version) } }
      },
    ],
    ['GET', /^\/api\/tokens$/, () => ({ body: { tokens: state.tokens } })],
    [
      'POST',
      /^\/api\/tokens$/,
      ({ body }) => {
        lastId += 1
        const token = {
          id: `t${lastId + 1}`,
          name: String(body.name),
          start: 'grn_9xYz',
          created_at: new Date().toISOString(),
          last_used_at: null,
        }
        state.tokens.push(token)
        return { status: 201, body: { ...token, token: 'grn_9xYzT0tallyMadeUpForTests' } }
      },
    ],
    [
      'DELETE',
      /^\/api\/tokens\/([^/]+)$/,
      (_, id) => {
        state.tokens = state.tokens.filter((token) => token.id !== id)
        return { status: 204 }
      },
    ],
    ['GET', /^\/api\/admin\/users$/, () => ({ body: { users: state.users } })],
    [
      'POST',
      /^\/api\/admin\/users\/([^/]+)\/(approve|reject)$/,
      (_, id, verdict) => {
        const user = state.users.find((one) => one.id === id)
        if (!user) throw new Refusal(404, 'There is no such person.')
        user.status = verdict === 'approve' ? 'approved' : 'rejected'
        return { body: user }
      },
    ],
    [
      'DELETE',
      /^\/api\/me$/,
      ({ who }) => {
        state.users = state.users.filter((user) => user.id !== who)
        state.session = null
        return { status: 204 }
      },
    ],
  ]

  const me = (who: string): Me => {
    const user = state.users.find((one) => one.id === who)
    if (!user) throw new Refusal(401, 'Sign in first.')
    const home = state.groups.find((one) => one.members.includes(who))
    return {
      id: user.id,
      name: user.name,
      email: state.demo ? null : user.email,
      role: user.role,
      status: user.status,
      default_group: home?.id ?? null,
      demo: state.demo,
    }
  }

  function open({ req, url, body }: Omit<Context, 'who'>): { status?: number; body?: unknown } | null {
    if (url.pathname === '/api/welcome') {
      const users = state.demo ? state.users.map(({ id, name }) => ({ id, name })) : []
      return { body: { setup_needed: state.setupNeeded, demo: state.demo, demo_users: users } }
    }
    if (url.pathname === '/api/auth/sign-in/email') {
      const user = state.users.find((one) => one.email === body.email)
      if (!user || body.password !== 'a short sentence') throw new Refusal(401, 'Invalid email or password')
      state.session = user.id
      return { body: { user } }
    }
    if (url.pathname === '/api/auth/sign-up/email') {
      if (state.users.some((one) => one.email === body.email))
        throw new Refusal(422, 'User already exists', { code: 'USER_ALREADY_EXISTS' })
      const id = String(body.email).split('@')[0] ?? 'new'
      const isFirst = state.setupNeeded
      state.users.push({
        id,
        name: String(body.name),
        email: String(body.email),
        role: isFirst ? 'admin' : 'member',
        status: isFirst ? 'approved' : 'pending',
        asked_at: new Date().toISOString(),
      })
      state.setupNeeded = false
      state.session = id
      if (isFirst)
        state.groups.push({
          id: `me-${id}`,
          name: 'Only me',
          personal: true,
          owner: id,
          members: [id],
          showing: [],
          version: 1,
        })
      return { body: {} }
    }
    if (url.pathname === '/api/auth/sign-out') {
      state.session = null
      return { body: { success: true } }
    }
    if (url.pathname === '/api/me' && req.method === 'GET') return { body: me(whoIs(req)) }
    return null
  }

  const whoIs = (req: IncomingMessage): string => {
    const who = state.demo ? req.headers['x-demo-user'] : state.session
    if (typeof who !== 'string') throw new Refusal(401, 'Sign in first.')
    return who
  }

  function answer(
    res: ServerResponse,
    status: number,
    body: unknown,
    headers: Record<string, string> = {},
  ): void {
    const isProblem = status >= 400
    res.writeHead(status, {
      ...(body === undefined
        ? {}
        : { 'Content-Type': isProblem ? 'application/problem+json' : 'application/json' }),
      ...headers,
    })
    res.end(body === undefined ? undefined : JSON.stringify(body))
  }

  async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const url = new URL(req.url ?? '/', 'http://fake')
    if (isDown) return void req.socket.destroy()
    if (!url.pathname.startsWith('/api/')) return void serveFile(url.pathname, res)
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    const body = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>
    const method = req.method ?? 'GET'
    api.requests.push({ method, path: url.pathname + url.search, headers: req.headers, body })

    const refusal = refusals.find((one) => one.left > 0 && `${method} ${url.pathname}`.startsWith(one.match))
    if (refusal) {
      refusal.left -= 1
      const { status, detail } = refusal
      return answer(res, status, { type: 'refused', title: detail, status, detail }, refusal.headers)
    }
    try {
      const early = open({ req, res, url, body })
      if (early) return answer(res, early.status ?? 200, early.body)
      const who = whoIs(req)
      if (url.pathname === '/api/events') return stream(req, res)
      const key = req.headers['idempotency-key']
      const replay = typeof key === 'string' ? replays.get(key) : undefined
      if (replay)
        return answer(res, replay.status, replay.body, { ...replay.headers, 'Idempotency-Replayed': 'true' })
      for (const [verb, pattern, handler] of routes) {
        const match = verb === method ? pattern.exec(url.pathname) : null
        if (!match) continue
        const result = handler({ req, res, url, body, who }, ...match.slice(1).map(decodeURIComponent))
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
    if (isSilent) return answer(res, 503, { title: 'No events now' }, { 'Retry-After': '1' })
    res.writeHead(200, { 'Content-Type': 'text/event-stream' })
    res.write(': hello\n\n')
    streams.add(res)
    req.on('close', () => streams.delete(res))
  }

  function serveFile(pathname: string, res: ServerResponse): void {
    const wanted = dist ? join(dist, pathname) : ''
    const file =
      dist && existsSync(wanted) && statSync(wanted).isFile() ? wanted : dist ? join(dist, 'index.html') : ''
    if (file === '') return answer(res, 404, { title: 'No files here' })
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
    refuse(match, { status, headers = {}, detail = 'Not now.', times }) {
      refusals.push({ match, status, headers, detail, left: times })
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
