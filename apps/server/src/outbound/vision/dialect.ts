import type { APIError } from 'openai'

/**
 * What one endpoint takes, learned from its refusals and kept in memory: a refusal costs nothing, and the next photo
 * is asked about in the right way at once. Lost with the process, learned again with the next first photo.
 */
export interface Dialect {
  /** The Responses API in the background, so that a crash in the middle resumes by id; or Chat Completions. */
  api: 'responses' | 'chat'
  format: 'json_schema' | 'json_object' | 'text'
  /** Whether a limit of tokens may be said. */
  hasTokenLimit: boolean
}

export const FIRST: Dialect = { api: 'responses', format: 'json_schema', hasTokenLimit: true }
/** As many refusals as there are things to learn. */
export const LESSONS_MAX = 4

const NEXT_FORMAT = { json_schema: 'json_object', json_object: 'text', text: null } as const

/** The dialect to try after one was refused, or null when the refusal is about something else. Pure. */
export function afterRefusal(tried: Dialect, refusal: Refusal): Dialect | null {
  const { status, code, about } = refusal
  if (tried.api === 'responses' && isMissing(status, code)) return { ...tried, api: 'chat' }
  if (status !== 400 && status !== 422) return null
  if (tried.api === 'responses' && /\bbackground\b/.test(about)) return { ...tried, api: 'chat' }
  if (tried.hasTokenLimit && /max_(completion|output)_tokens/.test(about))
    return { ...tried, hasTokenLimit: false }
  const format = NEXT_FORMAT[tried.format]
  if (format && /response_format|text\.format|json_schema|json_object|structured.?output/i.test(about))
    return { ...tried, format }
  return null
}

function isMissing(status: number, code: string): boolean {
  return (status === 404 && code !== 'model_not_found') || status === 405 || status === 501
}

/** `about` is what the provider says it is about: read here, never shown or logged. */
export interface Refusal {
  status: number
  code: string
  about: string
}

export function refusalOf(error: APIError): Refusal {
  const { status, code, param, message } = error
  return { status: Number(status), code: String(code ?? ''), about: `${param ?? ''} ${message}` }
}
