import type {
  AdminUser,
  ApiToken,
  Bookmark,
  BookmarkDetail,
  BookmarkList,
  CreatedApiToken,
  EditBookmark,
  GroupList,
  GroupSummary,
  Me,
  Member,
  SaveBookmark,
  SavedBookmark,
  Welcome,
} from '@garner/server/api'
import type { Http } from './http.ts'

export interface Filter {
  show: 'all' | 'unread' | 'mine'
  q: string
}

export interface ListRequest {
  group: string
  filter: Filter
  after?: string | null
  limit: number
  etag?: string | null
  signal?: AbortSignal
}

export interface ListAnswer {
  list: BookmarkList
  etag: string | null
  /** How old the copy is, in ms; 0 when it is fresh. */
  staleMs: number
}

/**
 * The server's routes, one method each. Writes remember the version they made, and reads of the same group ask for
 * at least that one, so a person always sees their own last change.
 */
export class Api {
  readonly #http: Http
  readonly #seen = new Map<string, number>()

  constructor(http: Http) {
    this.#http = http
  }

  /** From now on the group's list is not shown older than `version`. */
  expectVersion(group: string, version: number): void {
    if (Number.isSafeInteger(version) && version > (this.#seen.get(group) ?? 0))
      this.#seen.set(group, version)
  }

  /** Whether a list of this version was read before something that was written, or heard of, since it was asked for. */
  isBehind(group: string, version: number): boolean {
    return version < (this.#seen.get(group) ?? 0)
  }

  /** For another person, or none: what the last one wrote is no reason to wait. */
  forgetVersions(): void {
    this.#seen.clear()
  }

  #wrote(group: string, headers: Headers): void {
    this.expectVersion(group, Number(headers.get('X-Garner-Version') ?? Number.NaN))
  }

  async welcome(): Promise<Welcome> {
    return (await this.#http.send<Welcome>('GET', '/api/welcome')).body
  }

  async me(): Promise<Me> {
    return (await this.#http.send<Me>('GET', '/api/me')).body
  }

  async signUp(person: { name: string; email: string; password: string }): Promise<void> {
    await this.#http.send('POST', '/api/auth/sign-up/email', { body: person })
  }

  async signIn(person: { email: string; password: string }): Promise<void> {
    await this.#http.send('POST', '/api/auth/sign-in/email', { body: person })
  }

  async signOut(): Promise<void> {
    await this.#http.send('POST', '/api/auth/sign-out', { body: {} })
  }

  async deleteMe(): Promise<void> {
    await this.#http.send('DELETE', '/api/me', { body: { confirm: 'delete' } })
  }

  /** One page, newest first; `'unchanged'` when `etag` still describes it. */
  async list(request: ListRequest): Promise<ListAnswer | 'unchanged'> {
    const { filter, group } = request
    const query = new URLSearchParams({ group, sort: '-saved_at', limit: String(request.limit) })
    if (filter.show !== 'all') query.set(filter.show, 'true')
    if (filter.q) query.set('q', filter.q)
    if (request.after) query.set('after', request.after)
    const headers: Record<string, string> = {}
    const seen = this.#seen.get(group)
    if (seen !== undefined) headers['X-Garner-Min-Version'] = String(seen)
    if (request.etag) headers['If-None-Match'] = request.etag
    const answer = await this.#http.send<BookmarkList>('GET', `/api/bookmarks?${query}`, {
      headers,
      signal: request.signal,
    })
    if (answer.status === 304) return 'unchanged'
    return { list: answer.body, etag: answer.headers.get('ETag'), staleMs: staleMs(answer.headers) }
  }

  async bookmark(id: string, signal?: AbortSignal): Promise<BookmarkDetail> {
    const path = `/api/bookmarks/${encodeURIComponent(id)}`
    return (await this.#http.send<BookmarkDetail>('GET', path, { signal })).body
  }

  /** Safe to call again with the same `key`: the second call answers what the first one did. */
  async save(link: SaveBookmark, key: string): Promise<SavedBookmark> {
    const answer = await this.#http.send<SavedBookmark>('POST', '/api/bookmarks', {
      body: link,
      headers: { 'Idempotency-Key': key },
    })
    this.#wrote(answer.body.group, answer.headers)
    return answer.body
  }

  async edit(item: Bookmark, change: EditBookmark): Promise<Bookmark> {
    const path = `/api/bookmarks/${encodeURIComponent(item.id)}`
    const answer = await this.#http.send<Bookmark>('PATCH', path, { body: change })
    this.#wrote(item.group, answer.headers)
    return answer.body
  }

  async markRead(item: Bookmark, isRead: boolean): Promise<void> {
    const path = `/api/bookmarks/${encodeURIComponent(item.id)}/read`
    const answer = await this.#http.send('PATCH', path, { body: { is_read: isRead }, keepalive: true })
    this.#wrote(item.group, answer.headers)
  }

  async refresh(item: Bookmark, key: string): Promise<void> {
    const path = `/api/bookmarks/${encodeURIComponent(item.id)}/refresh`
    const answer = await this.#http.send('POST', path, { headers: { 'Idempotency-Key': key } })
    this.#wrote(item.group, answer.headers)
  }

  async remove(item: Bookmark): Promise<void> {
    const answer = await this.#http.send('DELETE', `/api/bookmarks/${encodeURIComponent(item.id)}`)
    this.#wrote(item.group, answer.headers)
  }

  async groups(): Promise<GroupSummary[]> {
    return (await this.#http.send<GroupList>('GET', '/api/groups')).body.groups
  }

  async createGroup(name: string, key: string): Promise<GroupSummary> {
    const headers = { 'Idempotency-Key': key }
    return (await this.#http.send<GroupSummary>('POST', '/api/groups', { body: { name }, headers })).body
  }

  async addMember(group: string, who: { email: string } | { user: string }, key: string): Promise<Member> {
    const path = `/api/groups/${encodeURIComponent(group)}/members`
    const headers = { 'Idempotency-Key': key }
    return (await this.#http.send<Member>('POST', path, { body: who, headers })).body
  }

  async removeMember(group: string, user: string): Promise<void> {
    const path = `/api/groups/${encodeURIComponent(group)}/members/${encodeURIComponent(user)}`
    await this.#http.send('DELETE', path)
  }

  async showReads(group: string, showReads: boolean): Promise<GroupSummary> {
    const path = `/api/groups/${encodeURIComponent(group)}`
    return (await this.#http.send<GroupSummary>('PATCH', path, { body: { show_reads: showReads } })).body
  }

  async tokens(): Promise<ApiToken[]> {
    return (await this.#http.send<{ tokens: ApiToken[] }>('GET', '/api/tokens')).body.tokens
  }

  async createToken(name: string, key: string): Promise<CreatedApiToken> {
    const headers = { 'Idempotency-Key': key }
    return (await this.#http.send<CreatedApiToken>('POST', '/api/tokens', { body: { name }, headers })).body
  }

  async revokeToken(id: string): Promise<void> {
    await this.#http.send('DELETE', `/api/tokens/${encodeURIComponent(id)}`)
  }

  async people(): Promise<AdminUser[]> {
    return (await this.#http.send<{ users: AdminUser[] }>('GET', '/api/admin/users')).body.users
  }

  async decide(user: string, verdict: 'approve' | 'reject'): Promise<AdminUser> {
    const path = `/api/admin/users/${encodeURIComponent(user)}/${verdict}`
    return (await this.#http.send<AdminUser>('POST', path)).body
  }

  /** The event stream, opened and unread. */
  events(signal: AbortSignal): Promise<Response> {
    return this.#http.open('GET', '/api/events', { headers: { Accept: 'text/event-stream' }, signal })
  }
}

/**
 * A copy counts as stale when the cache says so (a negative `ttl`, or a stale answer named as such); then its Age
 * tells how old it is. A fresh copy has an age too, which is nobody's concern.
 */
export function staleMs(headers: Headers): number {
  const status = headers.get('Cache-Status') ?? ''
  if (!/;\s*ttl=-\d|fwd=stale|detail="?stale/.test(status)) return 0
  const age = Number(headers.get('Age') ?? 0)
  return Number.isFinite(age) ? Math.max(1_000, age * 1000) : 1_000
}
