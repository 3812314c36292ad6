import { type Around, LostRace, type Queryable, type Transaction } from '@garner/db'
import { Degrade, type Job, type JobKind, Retry, type Submission, type WriteAnswer } from '@garner/jobs'
import type { Page } from '../../outbound/page.ts'
import { PageError } from '../../outbound/page-error.ts'
import { type BookmarkRow, searchLine } from './bookmark.ts'
import { changed, type Tell } from './lists.ts'
import type { TitleStatus } from './schemas.ts'

/**
 * The job that finds a link's title.
 *
 * Promises. A title is stored only for the address it was fetched from (`source_version`), only while the owner's
 * account stands, and in the one transaction that ends the job. It never replaces a title typed by hand, and a
 * failed look never removes a title.
 * Cut while fetching: nothing is stored; after a lease another worker fetches again. Cut after fetching: the page
 * is fetched once more (it costs a site one request, and nothing is paid for). Cut after the publication's
 * commit: a repeat is recognised and makes no fetch and no write.
 */
export const FETCH_TITLE = 'fetch-title'

/** 24 h from the save: a title that has not come by then is not waited for any longer. */
const DEADLINE_MS = 24 * 3_600_000
/** 4 tries: at the default base they spread over some minutes, which a restart of a site needs. */
export const ATTEMPTS_MAX = 4
/** 3 for a site that asks for a human: asking again and again is what it defends itself against. */
const CHALLENGE_ATTEMPTS_MAX = 3
/** 30 min between tries at most: a queue that waited out a night without network is done half an hour later. */
const BACKOFF_MAX_MS = 30 * 60_000
/** Beyond the fetch's own deadline: waiting for the host's turn, behind others of the same host. */
const TURN_MS = 60_000

/** 5 s at least: without a network every try fails at once, and with a base of 0 it would never stop trying. */
const OFFLINE_PAUSE_MS = 5_000

export interface TitleDeps {
  fetchPage: (url: string, signal: AbortSignal, options: { mode?: 'ok' | 'timeout' }) => Promise<Page>
  pageKey: (url: string) => string
  isApproved: (query: Queryable, userId: string) => Promise<boolean>
  read: Queryable
  nowMs: () => number
  around: Around
  /** Told after a commit where a list stands now. */
  tell: Tell
  retryBaseMs: number
  fetchDeadlineMs: number
}

/** The submission for a link's title. Its id and subject tie it to the link and to the address it has now. */
export function titleJob({
  id,
  row,
  key,
}: {
  id: string
  row: Pick<BookmarkRow, 'id' | 'owner_id' | 'source_version'>
  key: string | undefined
}): Submission {
  return {
    id,
    kind: FETCH_TITLE,
    tenant: row.owner_id,
    payload: { bookmark: row.id },
    subject: `bookmark:${row.id}`,
    subjectVersion: row.source_version,
    key,
    deadlineMs: DEADLINE_MS,
  }
}

export function fetchTitle(deps: TitleDeps): JobKind<Transaction> {
  return {
    kind: FETCH_TITLE,
    policy: {
      attemptsMax: ATTEMPTS_MAX,
      deadlineMs: DEADLINE_MS,
      baseMs: deps.retryBaseMs,
      maxMs: Math.max(BACKOFF_MAX_MS, deps.retryBaseMs),
    },
    attemptMs: deps.fetchDeadlineMs + TURN_MS,
    perKey: 2,
    isAllowed: (query, job) => deps.isApproved(query, job.tenant),

    async handle({ job, signal }) {
      const row = await rowOf(deps.read, job)
      if (!row) return { write: async () => 'superseded' }
      const page = await fetched(deps, row, signal)
      await deps.around('fetch.after-response', () => {})
      return {
        result: { status: page.status, bytes: page.bytes, has_title: page.title !== null },
        write: (tx) => storePage(tx, deps, job, page),
      }
    },
    retried: (tx, job, { reason, runAtMs }) =>
      storeRow(tx, deps, job, (row) => ({
        title_error: row.page_title === null ? reason : row.title_error,
        title_tries: job.attempt,
        title_next_try_at_ms: runAtMs,
      })),
    degrade: (tx, job, reason) => storeFailure(tx, deps, job, reason),
    // A fault of ours must not leave the row "pending" for ever: a person can ask again, the operator repair.
    died: (tx, job, reason) => storeFailure(tx, deps, job, reason),
    discarded: (tx, job) => storeFailure(tx, deps, job, 'discarded'),
  }
}

/** The link as the job meant it; undefined when it is gone or has another address by now. */
async function rowOf(query: Queryable, job: Job): Promise<BookmarkRow | undefined> {
  const { bookmark } = job.payload as { bookmark: string }
  return query.get<BookmarkRow>(
    'SELECT * FROM bookmarks WHERE id = ? AND source_version = ?',
    ...[bookmark, job.subjectVersion],
  )
}

async function fetched(deps: TitleDeps, row: BookmarkRow, signal: AbortSignal): Promise<Page> {
  try {
    return await deps.fetchPage(row.url, signal, { ...(row.title_mode && { mode: row.title_mode }) })
  } catch (error) {
    if (!(error instanceof PageError)) throw error
    if (error.retry === 'never') throw new Degrade(error.code, error)
    throw new Retry(error.code, {
      cause: error,
      ...(error.retryAfterMs !== undefined && { afterMs: error.retryAfterMs }),
      ...(error.code === 'challenge' && { attemptsMax: CHALLENGE_ATTEMPTS_MAX }),
      // No network here says nothing of the site: only the deadline ends it, not the number of tries.
      ...(error.code === 'offline' && { isUncounted: true, afterMs: OFFLINE_PAUSE_MS }),
    })
  }
}

function storePage(tx: Transaction, deps: TitleDeps, job: Job, page: Page): Promise<WriteAnswer> {
  return storeRow(tx, deps, job, (row) => ({
    // A page that has no title now does not take away the one it had.
    page_title: page.title ?? row.page_title,
    // Asked to look again, the page's word counts more than what the browser said when the link was saved.
    browser_title: page.title !== null && job.generation > 1 ? null : row.browser_title,
    title_status: (page.title ?? row.page_title) === null ? 'none' : 'ready',
    title_error: null,
    title_checked_at_ms: deps.nowMs(),
    title_tries: job.attempt,
    title_next_try_at_ms: null,
    shown: page.shown,
    final_key: deps.pageKey(page.finalUrl),
  }))
}

function storeFailure(tx: Transaction, deps: TitleDeps, job: Job, reason: string): Promise<WriteAnswer> {
  return storeRow(tx, deps, job, (row) => ({
    title_status: row.page_title === null ? statusOf(reason) : row.title_status,
    title_error: reason,
    title_checked_at_ms: deps.nowMs(),
    title_tries: job.attempt,
    title_next_try_at_ms: null,
  }))
}

const STORE = `UPDATE bookmarks SET page_title = ?, browser_title = ?, title_status = ?, title_error = ?,
  title_checked_at_ms = ?, title_tries = ?, title_next_try_at_ms = ?, shown = ?, final_key = ?, search = ?,
  list_version = ? WHERE id = ? AND source_version = ? AND list_version = ?`

/**
 * Writes what a try found out, if the link still has the address that was fetched; else `superseded`. The check
 * stands in the UPDATE itself as well: nothing of an old address may land on a new one, whatever is read before.
 */
async function storeRow(
  tx: Transaction,
  deps: TitleDeps,
  job: Job,
  change: (row: BookmarkRow) => Partial<BookmarkRow>,
): Promise<WriteAnswer> {
  const row = await rowOf(tx, job)
  if (!row) return 'superseded'
  const next: BookmarkRow = { ...row, ...change(row) }
  const version = await changed(tx, deps.tell, row.group_id)
  const { changes } = await tx.run(
    STORE,
    ...[next.page_title, next.browser_title, next.title_status, next.title_error, next.title_checked_at_ms],
    ...[next.title_tries, next.title_next_try_at_ms, next.shown, next.final_key, searchLine(next), version],
    ...[row.id, job.subjectVersion, row.list_version],
  )
  // Somebody has edited or deleted it since it was read: once more, with what is there now.
  if (changes === 0) throw new LostRace(`link ${row.id}`)
  return undefined
}

/** What a link's row says when its title could not be had for this reason. */
export function statusOf(reason: string): TitleStatus {
  if (reason === 'timeout' || reason === 'attempt_timeout') return 'timeout'
  if (reason === 'blocked_address' || reason === 'blocked_port') return 'refused'
  return 'failed'
}
