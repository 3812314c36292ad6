import type { Problem } from '@garner/server/api'

/**
 * Any answer that is not the one asked for, and no answer at all (`status` 0).
 * `retryAfterMs` is the server's Retry-After as a duration, null when it gave none.
 */
export class Failure extends Error {
  readonly status: number
  readonly type: string
  /** One sentence for a person, from the server; empty when nobody answered. */
  readonly detail: string
  readonly retryAfterMs: number | null
  readonly current: unknown

  constructor(status: number, problem: Partial<Problem>, retryAfterMs: number | null = null) {
    super(problem.detail || problem.title || `HTTP ${status}`)
    this.status = status
    this.type = problem.type ?? ''
    this.detail = typeof problem.detail === 'string' ? problem.detail : ''
    this.retryAfterMs = retryAfterMs
    this.current = problem.current
  }

  /** Nobody answered: no network, or no Garner behind it. Safe to send again with the same key. */
  get isUnreachable(): boolean {
    return this.status === 0
  }

  /** The server asks to come back later; nothing was stored. */
  get isBusy(): boolean {
    return this.status === 429 || this.status === 503
  }
}

export function failureOf(error: unknown): Failure {
  return error instanceof Failure ? error : new Failure(0, { detail: '' })
}

/** The server's own sentence, or what is the matter when nobody answered. */
export function explained(error: unknown): string {
  const failure = failureOf(error)
  if (failure.isUnreachable) return 'Garner does not answer at the moment.'
  return failure.detail || 'Something went wrong; trying again is safe.'
}

/** Retry-After in either of its forms (seconds or a date) as milliseconds from now; null when absent or unreadable. */
export function retryAfterMs(value: string | null, nowMs: number): number | null {
  if (value === null) return null
  const text = value.trim()
  if (/^\d+(\.\d+)?$/.test(text)) return Math.round(Number(text) * 1000)
  const atMs = Date.parse(text)
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs)
}
