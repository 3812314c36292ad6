import type { FastifyRequest } from 'fastify'
import { ADDRESS_HEADER, type AuthCall, authCall } from './auth-call.ts'
import type { Auth, BetterAuthSetup } from './better-auth.ts'
import { SESSION_RENEWED_AFTER_S, SESSION_S } from './session-cookie.ts'

/**
 * The way into Better Auth: sign-up, sign-in, sign-out, passwords, and the renewal of sessions.
 *
 * Promises: loaded on first use and once; its database trouble comes out as StoreUnavailable; it sees only the
 * headers named here. Whose page a request comes from was decided before (origin.ts), by the Host that the browser
 * used, so Better Auth is told the one address that it expects.
 */
export interface IdentityOptions extends Omit<BetterAuthSetup, 'baseUrl'> {
  baseUrl: string | undefined
}

/** Never looked up: only there because Better Auth wants a whole URL. */
const NOWHERE = 'http://garner.invalid'

export class Identity {
  readonly #options: IdentityOptions
  readonly #base: string
  #loading: Promise<Auth> | null = null

  constructor(options: IdentityOptions) {
    this.#options = options
    this.#base = options.baseUrl === undefined ? NOWHERE : new URL(options.baseUrl).origin
  }

  /** Loads Better Auth ahead of the first sign-in, which then does not wait 0.65 s for it. */
  async warmUp(): Promise<void> {
    await this.#loaded()
  }

  /**
   * Hands a request to Better Auth. `path` is below `/api/auth`.
   * Errors: StoreUnavailable; anything that Better Auth did not expect.
   */
  async call(request: FastifyRequest, { path, body }: { path: string; body?: unknown }): Promise<Response> {
    const auth = await this.#loaded()
    const call: AuthCall = {}
    const headers = new Headers({ origin: this.#base, [ADDRESS_HEADER]: request.ip })
    for (const name of ['cookie', 'user-agent'] as const) {
      const value = request.headers[name]
      if (value !== undefined) headers.set(name, value)
    }
    if (body !== undefined) headers.set('content-type', 'application/json')
    const asked = new Request(`${this.#base}/api/auth${path}`, {
      method: request.method === 'GET' ? 'GET' : 'POST',
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    let answer: Response
    try {
      answer = await authCall.run(call, () => auth.handler(asked))
    } catch (error) {
      throw call.trouble ?? error
    }
    if (call.trouble) throw call.trouble
    return answer
  }

  /** The session's cookie with a later end, when it is time for one; else nothing. */
  async renewal(request: FastifyRequest, expiresAtMs: number): Promise<string[]> {
    const renewAtMs = expiresAtMs - (SESSION_S - SESSION_RENEWED_AFTER_S) * 1000
    if (this.#options.clock.nowMs() < renewAtMs) return []
    const answer = await this.call(request, { path: '/get-session' })
    return answer.headers.getSetCookie()
  }

  #loaded(): Promise<Auth> {
    this.#loading ??= load({ ...this.#options, baseUrl: this.#base }).catch((error) => {
      this.#loading = null
      throw error
    })
    return this.#loading
  }
}

async function load(setup: BetterAuthSetup): Promise<Auth> {
  const { makeAuth } = await import('./better-auth.ts')
  return makeAuth(setup)
}
