import type { IncomingMessage } from 'node:http'
import { person } from './fake-people.ts'
import { Refusal } from './fake-refusal.ts'
import { type FakeGroup, type FakeLink, type FakeState, linkOf, seenBy } from './fake-state.ts'

interface Context {
  req: IncomingMessage
  url: URL
  body: Record<string, unknown>
  who: string
}

export interface FakeAnswer {
  status?: number
  body?: unknown
  headers?: Record<string, string>
}

type Handler = (context: Context, ...ids: string[]) => FakeAnswer
export type Route = [method: string, pattern: RegExp, handler: Handler]

/** Groups, links, tokens and people, with the promises that the client leans on: versions, conflicts, events. */
export function createRoutes(options: {
  state: FakeState
  tell(event: string, data: object): void
  listHeaders(): Record<string, string>
}): Route[] {
  const { state, tell } = options
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

  return [
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
          headers: { ETag: etag, 'X-Garner-Version': String(one.version), ...options.listHeaders() },
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
}
