import { readFileSync } from 'node:fs'
import type { Page } from '../../apps/server/src/outbound/page.ts'
import { PageError } from '../../apps/server/src/outbound/page-error.ts'

/** links.jsonl: what goes wrong when people save links, one case a line. */
export interface Expected {
  outcome?: 'ok' | 'no_title' | 'failed' | 'refused' | 'rejected'
  any_of?: Expected[]
  title?: string | null
  title_starts?: string
  title_max_len?: number
  title_has_none?: string[]
  shown?: string
  error?: string
  retry?: 'never' | 'backoff'
  retry_gap_max_s?: number
  max_ms?: number
  max_requests?: number
  max_sent_bytes?: number
  max_rss_growth_mib?: number
  trap_hits?: number
  requests?: number
  worker?: 'alive'
  final_path?: string
  saved?: boolean
  saved_url?: string
  fetched_target_any?: string[]
  same?: boolean
  allowed?: boolean[]
  connects_to?: string[]
  never_connects_to?: string[]
  text: string
}

export interface LinkCase {
  id: string
  area: string
  what: string
  input: {
    kind: string
    get?: string
    url?: string
    urls?: string[]
    titles?: string[]
    pairs?: [string, string][]
    also_save?: string[]
    resolver?: Record<string, string[]>
    answers?: string[][]
    answers_for?: Record<string, string[]>
    config?: { allow: string[] }
  }
  expect: Expected
}

export const caseFile = new URL('links.jsonl', import.meta.url)

const all: LinkCase[] = readFileSync(caseFile, 'utf8')
  .split('\n')
  .filter(Boolean)
  .map((line) => JSON.parse(line))

export function casesOf(kind: string): LinkCase[] {
  return all.filter((one) => one.input.kind === kind)
}

export function caseNamed(id: string): LinkCase {
  const found = all.find((one) => one.id === id)
  if (!found) throw new Error(`no case ${id} in links.jsonl`)
  return found
}

/** What happened, in the words of the cases: the one place where the product's words are mapped to theirs. */
export interface Outcome {
  outcome: 'ok' | 'no_title' | 'failed' | 'refused'
  title: string | null
  shown?: string | null
  error?: string
  retry?: string
  retryAfterMs?: number | undefined
  finalUrl?: string
}

const REFUSED = new Set(['blocked_address', 'blocked_port'])

export async function outcomeOf(fetched: Promise<Page>): Promise<Outcome> {
  try {
    const page = await fetched
    const { title, shown, finalUrl } = page
    return { outcome: title === null ? 'no_title' : 'ok', title, shown, finalUrl }
  } catch (error) {
    if (!(error instanceof PageError)) throw error
    const { code, retry, retryAfterMs } = error
    return {
      outcome: REFUSED.has(code) ? 'refused' : 'failed',
      title: null,
      error: code,
      retry,
      retryAfterMs,
    }
  }
}

/** Does the outcome have everything that one expectation states about it? */
export function meets(outcome: Outcome, expected: Expected): boolean {
  return (
    (expected.outcome === undefined || outcome.outcome === expected.outcome) &&
    (expected.title === undefined || outcome.title === expected.title) &&
    (expected.title_starts === undefined || (outcome.title ?? '').startsWith(expected.title_starts)) &&
    (expected.shown === undefined || outcome.shown === expected.shown) &&
    (expected.error === undefined || outcome.error === expected.error) &&
    (expected.retry === undefined || outcome.retry === expected.retry)
  )
}
