import { APIError } from 'openai'
import { parseRetryAfter } from '../retry-after.ts'
import type { ParkReason, VisionErrorCode } from './vision.ts'

/** What an answer that is an error means. Nothing of it was billed. Pure. */
export interface Meaning {
  code: VisionErrorCode
  parks?: ParkReason
  retryAfterMs?: number | undefined
}

export function meaningOf(error: APIError, nowMs: number): Meaning {
  const status = Number(error.status)
  const code = String(error.code ?? '')
  const retryAfterMs = parseRetryAfter(error.headers?.get('retry-after') ?? undefined, nowMs)
  const isQuota = [code, String(error.type ?? '')].some((word) => QUOTA.has(word))
  // 402: payment required, as some say it.
  if (status === 402 || (status === 429 && isQuota)) return parking('quota_exceeded')
  if (status === 401 || status === 403) return parking('key_refused')
  if (status === 404 || status === 405) return parking('model_not_found')
  if (status === 413) return { code: 'too_large' }
  if (status === 429) return { code: 'rate_limited', retryAfterMs }
  if (status === 408) return { code: 'timeout', retryAfterMs }
  // 409 and 425: the same request is under way, or came too early.
  if (status === 409 || status === 425 || status >= 500) return { code: 'overloaded', retryAfterMs }
  return { code: 'request_refused' }
}

const QUOTA = new Set(['insufficient_quota', 'billing_hard_limit_reached', 'billing_not_active'])

function parking(reason: ParkReason): Meaning {
  return { code: reason, parks: reason }
}

/** Answers with a status; connection errors of `openai` are APIErrors too, and have none. */
export function isAnswer(error: unknown): error is APIError {
  return error instanceof APIError && typeof error.status === 'number'
}
