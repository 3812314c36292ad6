import type { Bookmark } from '@garner/server/api'
import { clockTime } from './calendar.ts'
import { ordinalTry } from './count.ts'

export interface TitleState {
  tone: 'accent' | 'warn' | 'bad' | 'quiet'
  icon: 'clock' | 'lock' | 'alert' | null
  words: string
  /** What a person may do about it. */
  actions: ('again' | 'write')[]
}

/** Why there is no title, as the end of "No title: …". Kinds that are not listed say that it did not work. */
const REASONS: Record<string, string> = {
  http_401: 'the site asks for a sign-in',
  http_403: 'the site asks for a sign-in',
  http_407: 'the site asks for a sign-in',
  http_404: 'there is no such page',
  http_410: 'there is no such page',
  http_451: 'the site may not show this page',
  challenge: 'the site wants to see a person first',
  not_html: 'it is not a web page',
  not_a_page: 'it is not a web page',
  content_type: 'it is not a web page',
  unsupported_type: 'it is not a web page',
  dns: 'no site answers to that name',
  tls: 'the site’s certificate cannot be trusted',
  blocked_address: 'private addresses are not fetched',
  blocked_port: 'that port is not fetched',
  blocked: 'this address is not fetched',
  too_large: 'the page is too large',
  header_too_large: 'the site’s answer makes no sense',
  protocol: 'the site’s answer makes no sense',
  bad_response: 'the site’s answer makes no sense',
  decode: 'the page cannot be read',
  charset: 'the page cannot be read',
  redirect_loop: 'the site sends us in circles',
  too_many_redirects: 'the site sends us in circles',
  bad_redirect: 'the site sends us somewhere that does not exist',
  connection: 'the site does not answer',
  timeout: 'the site took too long to answer',
}

export function reasonFor(error: string | null): string {
  if (error === null) return 'the site did not answer as expected'
  const known = REASONS[error]
  if (known) return known
  const status = /^http_(\d{3})$/.exec(error)?.[1]
  if (status === '429') return 'the site is too busy'
  if (status?.startsWith('5')) return 'the site has trouble of its own'
  if (status) return 'the site did not hand out the page'
  return 'the site did not answer as expected'
}

/** What stood in the way of a try that will be repeated. */
function hindrance(error: string | null): string {
  if (error === null || error === 'timeout') return 'Slow site'
  return error === 'http_429' || /^http_5/.test(error) ? 'Busy site' : 'No title yet'
}

/** The line under a link whose title is not there; null when it is. */
export function titleState(item: Bookmark, zone?: string): TitleState | null {
  switch (item.title_status) {
    case 'ready':
      return null
    case 'pending':
      return { tone: 'accent', icon: null, words: pendingWords(item, zone), actions: [] }
    case 'timeout':
      return {
        tone: 'warn',
        icon: 'clock',
        words: 'The site took too long to answer. The link is safe.',
        actions: ['again'],
      }
    case 'none':
      return {
        tone: 'quiet',
        icon: null,
        // A file goes by its name; a page would have had a title.
        words: item.shown === null ? 'The page has no title.' : `No title: ${reasonFor('not_html')}.`,
        actions: ['write'],
      }
    case 'refused':
      return {
        tone: 'bad',
        icon: 'lock',
        words: `No title: ${reasonFor(item.title_error)}.`,
        actions: ['write'],
      }
    case 'failed':
      return {
        tone: 'bad',
        icon: wantsSignIn(item.title_error) ? 'lock' : 'alert',
        words: `No title: ${reasonFor(item.title_error)}.`,
        actions: ['write', 'again'],
      }
  }
}

function wantsSignIn(error: string | null): boolean {
  return error === 'http_401' || error === 'http_403' || error === 'http_407'
}

function pendingWords(item: Bookmark, zone?: string): string {
  if (item.title_tries < 1 || item.title_next_try_at === null) return 'Title on its way'
  const what = hindrance(item.title_error)
  const at = Date.parse(item.title_next_try_at)
  return `${what}. ${ordinalTry(item.title_tries + 1)} at ${clockTime(at, zone)}`
}

/** One finished try, for the steps in the details: `No answer in 10 s`, `Busy (503)`. */
export function attemptWords(attempt: {
  outcome: string | null
  error: string | null
  ms: number | null
}): string {
  if (attempt.outcome === null) return 'Looking for the title'
  if (attempt.outcome === 'succeeded') return 'Title found'
  if (attempt.outcome === 'superseded') return 'The link changed meanwhile'
  if (attempt.outcome === 'lease_expired' || attempt.outcome === 'released')
    return 'Broken off, to be done again'
  if (attempt.error === 'timeout') {
    return attempt.ms === null ? 'No answer' : `No answer in ${Math.max(1, Math.round(attempt.ms / 1000))} s`
  }
  const status = /^http_(\d{3})$/.exec(attempt.error ?? '')?.[1]
  if (status === '429' || status?.startsWith('5')) return `Busy (${status})`
  const reason = reasonFor(attempt.error)
  return reason[0]?.toUpperCase() + reason.slice(1)
}
