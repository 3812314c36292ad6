import { createHmac, timingSafeEqual } from 'node:crypto'

/**
 * Reads the session cookie on the hot path, without running the identity library for every request.
 *
 * The cookie is Better Auth's: `encodeURIComponent(token + '.' + base64(HMAC-SHA256(secret, token)))`, and among
 * several of one name the first counts (better-call, src/crypto.ts and src/cookies.ts). A test signs in through
 * Better Auth and reads its cookie here, so a change over there shows.
 *
 * Only the signature's verdict is remembered, never what the session may do: that is asked of the database each
 * time, and a revoked session is refused by its very next request.
 */
export interface SessionCookieOptions {
  secret: string
  /** Behind https: the name then starts with `__Secure-`, and browsers refuse it over http. */
  secure: boolean
}

export const COOKIE_PREFIX = 'garner'
/** 30 days, renewed after a day of use: a family's tablet stays signed in, a forgotten one does not for ever. */
export const SESSION_S = 30 * 86_400
export const SESSION_RENEWED_AFTER_S = 86_400

/** 5,000 cookies at about 200 bytes: 1 MB at most, and more people than one machine serves at a time. */
const VERIFIED_MAX = 5_000

export class SessionCookie {
  readonly name: string
  readonly #secret: string
  readonly #secure: boolean
  readonly #verified = new Map<string, string>()

  constructor({ secret, secure }: SessionCookieOptions) {
    this.name = `${secure ? '__Secure-' : ''}${COOKIE_PREFIX}.session_token`
    this.#secret = secret
    this.#secure = secure
  }

  /** The session token in a Cookie header; null when there is none, or its signature is not ours. */
  tokenIn(header: string | undefined): string | null {
    if (header === undefined) return null
    const value = cookieValue(header, this.name)
    if (value === null) return null
    const known = this.#verified.get(value)
    if (known !== undefined) return known
    const token = this.#verify(value)
    if (token === null) return null
    if (this.#verified.size >= VERIFIED_MAX) this.#verified.delete(this.#verified.keys().next().value!)
    this.#verified.set(value, token)
    return token
  }

  /** A Set-Cookie value that makes the browser drop the cookie. */
  expired(): string {
    return `${this.name}=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax${this.#secure ? '; Secure' : ''}`
  }

  #verify(value: string): string | null {
    const signed = decoded(value)
    const dot = signed.lastIndexOf('.')
    if (dot < 1) return null
    const token = signed.slice(0, dot)
    const given = Buffer.from(signed.slice(dot + 1), 'base64')
    const right = createHmac('sha256', this.#secret).update(token).digest()
    return given.length === right.length && timingSafeEqual(given, right) ? token : null
  }
}

function cookieValue(header: string, name: string): string | null {
  for (let from = 0; from < header.length; ) {
    const end = header.indexOf(';', from)
    const part = header.slice(from, end === -1 ? header.length : end)
    const equals = part.indexOf('=')
    if (equals !== -1 && part.slice(0, equals).trim() === name) return part.slice(equals + 1).trim()
    if (end === -1) return null
    from = end + 1
  }
  return null
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return ''
  }
}
