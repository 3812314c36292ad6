import type { Clock, Database, Queryable } from '@garner/db'
import type { FastifyRequest } from 'fastify'
import type { ChangeCount } from '../../change-count.ts'
import type { Principal } from '../../principal.ts'
import { badRequest } from '../../problem.ts'
import type { AccountRead } from './account-read.ts'
import { DEMO_PEOPLE } from './demo.ts'
import { groupIdsOf } from './groups.ts'
import { assertOwnOrigin } from './origin.ts'
import { Remembered } from './remembered.ts'
import type { SessionCookie } from './session-cookie.ts'
import { type ApiTokens, TOKEN_PREFIX } from './tokens.ts'

/**
 * Who is asking, for every request: one signature check and one indexed read, about 20 µs.
 *
 * Promises: role and status are as the database has them now, so that whoever is turned away, signed out or
 * deleted is refused by the very next request. Without the database there is no answer at all (503). For list reads
 * alone the answer may be `accessMaxAgeMs` old; `Remembered` says what that means. Routes that ask again in their own
 * transaction (`isConfirmed`) are told at first who it was the last time: what counts there is `confirmed`.
 */
export interface AuthenticateOptions {
  db: Database
  clock: Clock
  read: AccountRead
  /** The same with a list reader's patience. */
  listRead: AccountRead
  cookie: SessionCookie
  tokens: ApiTokens
  isDemo: boolean
  baseUrl: string | undefined
  accessMaxAgeMs: number
  changes: ChangeCount
}

interface PersonRow {
  id: string
  name: string
  role: Principal['role']
  status: Principal['status']
}

interface SessionRow extends PersonRow {
  expires_at: string
}

/** What somebody shows to say who they are. */
interface Credential {
  via: Principal['via']
  secret: string
}

interface Found {
  principal: Principal
  /** Unix ms at which the session ends; undefined without one. */
  expiresAtMs: number | undefined
}

/** With the groups that they may read, their default one first. */
interface Access extends Found {
  groups: ReadonlySet<string>
}

const BY_SESSION = `SELECT s.expires_at, u.id, u.name, u.role, u.status
  FROM sessions s JOIN users u ON u.id = s.user_id WHERE s.token = ? AND u.demo = 0`
const BY_DEMO_ID = 'SELECT id, name, role, status FROM users WHERE id = ? AND demo = 1'

export class Authenticator {
  readonly #options: AuthenticateOptions
  readonly #remembered: Remembered<Access>
  /** When the session behind a request ends; for the one route that may renew it. */
  readonly #expiry = new WeakMap<FastifyRequest, number>()
  readonly #groups = new WeakMap<FastifyRequest, ReadonlySet<string>>()
  /** By what they have shown, people who were approved when they were asked about last. */
  readonly #lately = new Map<string, Principal>()
  readonly #shown = new WeakMap<Principal, Credential>()

  constructor(options: AuthenticateOptions) {
    this.#options = options
    const { changes, clock, accessMaxAgeMs } = options
    this.#remembered = new Remembered({ changes, clock, maxAgeMs: accessMaxAgeMs })
  }

  /**
   * Null without valid credentials.
   * Errors: 400 for the demo header outside demo mode; 403 for a change asked for by another site's page;
   * StoreUnavailable, or 503, when the database cannot say.
   */
  readonly authenticate = (request: FastifyRequest): Promise<Principal | null> | Principal | null => {
    const credential = this.#credentialIn(request)
    if (!credential) return null
    const { config } = request.routeOptions
    if (config?.isListRead) return this.#forList(request, credential)
    if (config?.isConfirmed) return this.#lately.get(keyOf(credential)) ?? this.#toConfirm(credential)
    return this.#asItIs(request, credential)
  }

  /**
   * Whom `authenticate` has answered to a route that is `isConfirmed`, as the database has them now; null when what they
   * have shown is worth nothing any more. Errors: StoreUnavailable.
   */
  async confirmed(q: Queryable, who: Principal): Promise<Principal | null> {
    const credential = this.#shown.get(who)
    if (!credential) throw new TypeError('Only whom authenticate has answered can be confirmed.')
    const found = await this.#find(credential, this.#options.read, q)
    const is = found && !this.#isOver(found) ? found.principal : null
    if (is?.status !== 'approved') this.#lately.delete(keyOf(credential))
    return is
  }

  /** Unix ms at which the request's session ends; undefined when it came without one. */
  expiryOf(request: FastifyRequest): number | undefined {
    return this.#expiry.get(request)
  }

  /** Of a list read: the groups that the person may read, their default one first. */
  groupsOf(request: FastifyRequest): ReadonlySet<string> {
    return this.#groups.get(request) ?? NO_GROUPS
  }

  /** Sessions, tokens, accounts or memberships have changed, here or as far as was heard. */
  forget(): void {
    this.#remembered.forget()
  }

  async #asItIs(request: FastifyRequest, credential: Credential): Promise<Principal | null> {
    const found = await this.#find(credential, this.#options.read)
    if (!found || this.#isOver(found)) return null
    if (found.expiresAtMs !== undefined) this.#expiry.set(request, found.expiresAtMs)
    return found.principal
  }

  /** Somebody who is asked about now, and not at their next request. */
  async #toConfirm(credential: Credential): Promise<Principal | null> {
    const found = await this.#find(credential, this.#options.read)
    if (!found || this.#isOver(found)) return null
    const { principal } = found
    this.#shown.set(principal, credential)
    // Others are refused before anything is confirmed; at their next request they may have been let in.
    if (principal.status === 'approved') {
      if (this.#lately.size >= LATELY_MAX) this.#lately.delete(this.#lately.keys().next().value!)
      this.#lately.set(keyOf(credential), principal)
    }
    return principal
  }

  async #forList(request: FastifyRequest, credential: Credential): Promise<Principal | null> {
    const { db, listRead } = this.#options
    const access = await this.#remembered.get(keyOf(credential), async () => {
      const found = await this.#find(credential, listRead)
      if (!found) return null
      const ids = await listRead(() => groupIdsOf(db.read, found.principal.userId))
      return { ...found, groups: new Set(ids) }
    })
    if (!access || this.#isOver(access)) return null
    this.#groups.set(request, access.groups)
    return access.principal
  }

  #credentialIn(request: FastifyRequest): Credential | null {
    const { isDemo, cookie, baseUrl } = this.#options
    const demoId = request.headers['x-demo-user']
    if (isDemo) {
      const isKnown = typeof demoId === 'string' && DEMO_PEOPLE.some((one) => one.id === demoId)
      return isKnown ? { via: 'demo', secret: demoId } : null
    }
    if (demoId !== undefined) throw badRequest('X-Demo-User is only for demo mode.')

    const { authorization } = request.headers
    if (authorization !== undefined && /^bearer /i.test(authorization)) {
      // The header is what the caller chose to send: a bad token is not made good by a cookie beside it.
      const token = authorization.slice('bearer '.length).trim()
      return token.startsWith(TOKEN_PREFIX) ? { via: 'token', secret: token } : null
    }

    const session = cookie.tokenIn(request.headers.cookie)
    if (session === null) return null
    assertOwnOrigin(request, { baseUrl })
    return { via: 'session', secret: session }
  }

  async #find(
    { via, secret }: Credential,
    read: AccountRead,
    q: Queryable = this.#options.db.read,
  ): Promise<Found | null> {
    if (via === 'session') {
      const row = await read(() => q.get<SessionRow>(BY_SESSION, secret))
      return row ? { principal: principal(row, via), expiresAtMs: Date.parse(row.expires_at) } : null
    }
    const row = await read<PersonRow | null | undefined>(() =>
      via === 'token' ? this.#options.tokens.owner(q, secret) : q.get<PersonRow>(BY_DEMO_ID, secret),
    )
    return row ? { principal: principal(row, via), expiresAtMs: undefined } : null
  }

  /** Written so that an instant that cannot be read counts as over. */
  #isOver({ expiresAtMs }: Found): boolean {
    return expiresAtMs !== undefined && !(expiresAtMs > this.#options.clock.nowMs())
  }
}

/** About 3 MB. Whoever is dropped here is asked about once more. */
const LATELY_MAX = 10_000

const NO_GROUPS: ReadonlySet<string> = new Set()

function keyOf({ via, secret }: Credential): string {
  return `${via} ${secret}`
}

function principal({ id, name, role, status }: PersonRow, via: Principal['via']): Principal {
  return { userId: id, name, role, status, via }
}
