import type { Clock, Database } from '@garner/db'
import type { FastifyRequest } from 'fastify'
import type { Principal } from '../../principal.ts'
import { badRequest } from '../../problem.ts'
import type { AccountRead } from './account-read.ts'
import { DEMO_PEOPLE } from './demo.ts'
import { assertOwnOrigin } from './origin.ts'
import type { SessionCookie } from './session-cookie.ts'
import { type ApiTokens, TOKEN_PREFIX } from './tokens.ts'

/**
 * Who is asking, for every request: one signature check and one indexed read, about 20 µs.
 *
 * Promises: role and status are as the database has them now, so that whoever is turned away, signed out or
 * deleted is refused by the very next request. Without the database there is no answer at all (503).
 */
export interface AuthenticateOptions {
  db: Database
  clock: Clock
  read: AccountRead
  cookie: SessionCookie
  tokens: ApiTokens
  isDemo: boolean
  baseUrl: string | undefined
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

const BY_SESSION = `SELECT s.expires_at, u.id, u.name, u.role, u.status
  FROM sessions s JOIN users u ON u.id = s.user_id WHERE s.token = ? AND u.demo = 0`
const BY_DEMO_ID = 'SELECT id, name, role, status FROM users WHERE id = ? AND demo = 1'

export class Authenticator {
  readonly #options: AuthenticateOptions
  /** When the session behind a request ends; for the one route that may renew it. */
  readonly #expiry = new WeakMap<FastifyRequest, number>()

  constructor(options: AuthenticateOptions) {
    this.#options = options
  }

  /**
   * Null without valid credentials.
   * Errors: 400 for the demo header outside demo mode; 403 for a change asked for by another site's page;
   * StoreUnavailable, or 503, when the database cannot say.
   */
  readonly authenticate = async (request: FastifyRequest): Promise<Principal | null> => {
    const { isDemo, cookie, tokens, baseUrl } = this.#options
    const demoId = request.headers['x-demo-user']
    if (isDemo) return this.#byDemoId(demoId)
    if (demoId !== undefined) throw badRequest('X-Demo-User is only for demo mode.')

    const { authorization } = request.headers
    if (authorization !== undefined && /^bearer /i.test(authorization)) {
      // The header is what the caller chose to send: a bad token is not made good by a cookie beside it.
      const token = authorization.slice('bearer '.length).trim()
      if (!token.startsWith(TOKEN_PREFIX)) return null
      const person = await this.#options.read(() => tokens.owner(token))
      return person && principal(person, 'token')
    }

    const session = cookie.tokenIn(request.headers.cookie)
    if (session === null) return null
    assertOwnOrigin(request, { baseUrl })
    return this.#bySession(request, session)
  }

  /** Unix ms at which the request's session ends; undefined when it came without one. */
  expiryOf(request: FastifyRequest): number | undefined {
    return this.#expiry.get(request)
  }

  async #bySession(request: FastifyRequest, token: string): Promise<Principal | null> {
    const { db, clock, read } = this.#options
    const row = await read(() => db.read.get<SessionRow>(BY_SESSION, token))
    if (!row) return null
    const expiresAtMs = Date.parse(row.expires_at)
    // Written so that an instant that cannot be read counts as over.
    if (!(expiresAtMs > clock.nowMs())) return null
    this.#expiry.set(request, expiresAtMs)
    return principal(row, 'session')
  }

  async #byDemoId(id: string | string[] | undefined): Promise<Principal | null> {
    if (typeof id !== 'string' || !DEMO_PEOPLE.some((one) => one.id === id)) return null
    const { db, read } = this.#options
    const row = await read(() => db.read.get<PersonRow>(BY_DEMO_ID, id))
    return row ? principal(row, 'demo') : null
  }
}

function principal({ id, name, role, status }: PersonRow, via: Principal['via']): Principal {
  return { userId: id, name, role, status, via }
}
