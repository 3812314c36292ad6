import type { Bookmark, TitleStatus } from './schemas.ts'

/** A row of `bookmarks`. */
export interface BookmarkRow {
  id: string
  group_id: string
  owner_id: string
  url: string
  page_key: string
  note: string
  page_title: string | null
  browser_title: string | null
  hand_title: string | null
  hand_title_by: string | null
  title_status: TitleStatus
  title_error: string | null
  title_checked_at_ms: number | null
  title_tries: number
  title_next_try_at_ms: number | null
  shown: string | null
  final_key: string | null
  title_mode: 'ok' | 'timeout' | null
  saved_at_ms: number
  edited_at_ms: number | null
  edited_by: string | null
  version: number
  source_version: number
  list_version: number
  job_id: string | null
  search: string
}

/** What is added to a row for the member who asks. */
export interface Surroundings {
  nameOf: (userId: string) => string
  isRead: boolean
  readBy: string[]
  alsoSavedAs: string | null
  job: Bookmark['job']
}

/** Which title is shown, and where it is from: a person's word first, then what a member's browser showed. */
export function titleOf(row: Pick<BookmarkRow, 'hand_title' | 'browser_title' | 'page_title'>): {
  title: string | null
  source: Bookmark['title_source']
} {
  if (row.hand_title !== null) return { title: row.hand_title, source: 'hand' }
  if (row.browser_title !== null) return { title: row.browser_title, source: 'browser' }
  if (row.page_title !== null) return { title: row.page_title, source: 'page' }
  return { title: null, source: null }
}

/** The row as the asking member sees it. */
export function toBookmark(row: BookmarkRow, around: Surroundings): Bookmark {
  const { title, source } = titleOf(row)
  const person = (id: string | null) => (id === null ? null : { id, name: around.nameOf(id) })
  return {
    id: row.id,
    url: row.url,
    title,
    title_status: row.title_status,
    title_source: source,
    title_by: source === 'hand' ? person(row.hand_title_by) : null,
    title_error: row.title_error,
    title_checked_at: instant(row.title_checked_at_ms),
    title_tries: row.title_tries,
    title_next_try_at: instant(row.title_next_try_at_ms),
    shown: row.shown,
    also_saved_as: around.alsoSavedAs,
    note: row.note,
    group: row.group_id,
    owner: person(row.owner_id)!,
    saved_at: instant(row.saved_at_ms)!,
    edited_at: instant(row.edited_at_ms),
    edited_by: person(row.edited_by),
    version: row.version,
    source_version: row.source_version,
    is_read: around.isRead,
    read_by: around.readBy.map((id) => person(id)!),
    job: around.job,
  }
}

export function instant(ms: number): string
export function instant(ms: number | null): string | null
export function instant(ms: number | null): string | null {
  if (ms === null) return null
  // Saves come in the same millisecond by the dozen, and writing a date out costs more than most of a save's SQL.
  if (ms !== lastInstant.ms) lastInstant = { ms, text: new Date(ms).toISOString() }
  return lastInstant.text
}
let lastInstant = { ms: 0, text: '1970-01-01T00:00:00.000Z' }

/** The line that searches look into: titles, note and address, folded so that case and width do not matter. */
export function searchLine(
  row: Pick<BookmarkRow, 'hand_title' | 'browser_title' | 'page_title' | 'note' | 'url'>,
): string {
  return fold(
    [row.hand_title, row.browser_title, row.page_title, row.note, row.url].filter(Boolean).join(' \n '),
  )
}

/** NFKC and lower case, the same for what is stored and what is asked. */
export function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase()
}
