import { LostRace, type Transaction } from '@garner/db'
import type { Job, JobStore, Submission } from '@garner/jobs'
import { forgetThing } from '../../idempotency.ts'
import { conflict, forbidden, notFound, unavailable } from '../../problem.ts'
import { type BookmarkRow, searchLine } from './bookmark.ts'
import { titleJob } from './fetch-title.ts'
import { changed, marked, shrank, type Tell } from './lists.ts'
import { findBookmark } from './queries.ts'
import { COLUMNS } from './rows.ts'
import { addTotals, subtractLink } from './totals.ts'

/**
 * What members do to links that are there; saving.ts makes them. Each function runs inside the caller's one transaction:
 * the link, its job, the list's version and the remembered answer are durable together or not at all (J1). Killed before
 * the commit, nothing is there and nobody was told yes; killed after it, everything is, and the worker finds the job.
 *
 * Where transactions run side by side (PostgreSQL), a row is written only as it was read: its `list_version` grows with
 * every write, and a write that finds another one is undone and made again (LostRace). All take their locks in one order,
 * so that nobody waits in a circle: jobs, then the list, then its links.
 */
export interface LinkDeps {
  jobs: JobStore<Transaction>
  ids: () => string
  nowMs: () => number
  /** Demo's built-in site answers without a network, so its links need no politeness towards a host. */
  isFixture: (url: string) => boolean
  /** What the saved address is in its normalised form. */
  pageKey: (url: string) => string
  /** Told after a commit where a list stands now. */
  tell: Tell
}

/** The job that looks for the title of the link as it is in `row`. */
export function titleSubmission(deps: LinkDeps, row: BookmarkRow): Submission {
  const key = deps.isFixture(row.url) ? undefined : hostOf(row.url)
  return titleJob({ id: deps.ids(), row, key })
}

async function submitTitleJob(tx: Transaction, deps: LinkDeps, row: BookmarkRow): Promise<Job> {
  return (await deps.jobs.submit(tx, titleSubmission(deps, row))).job
}

/** The host and port that a fetch of this address would ask, as the job's key; undefined for odd addresses. */
function hostOf(url: string): string | undefined {
  return URL.parse(url)?.host
}

const UPDATE = `UPDATE bookmarks SET ${COLUMNS.slice(1)
  .map((name) => `${name} = ?`)
  .join(', ')} WHERE id = ? AND list_version = ?`

/** Errors: LostRace when the row is not as it was `seen`. */
async function update(tx: Transaction, row: BookmarkRow, seen: BookmarkRow): Promise<void> {
  const values = COLUMNS.slice(1).map((name) => row[name])
  const { changes } = await tx.run(UPDATE, ...values, row.id, seen.list_version)
  if (changes === 0) throw new LostRace(`link ${row.id}`)
}

export interface Edit {
  version: number
  note?: string | undefined
  url?: string | undefined
  title?: string | undefined
}

/**
 * An edit by the link's owner. A new address is a new source: the title of the old one goes, the job of the old
 * one is superseded, and a new job is submitted, all in this transaction.
 * Errors: 403 for another member's link, 409 with `current` when `version` is old, QueueFull.
 */
export async function editLink(
  tx: Transaction,
  deps: LinkDeps,
  { row, by, edit, current }: { row: BookmarkRow; by: string; edit: Edit; current: () => Promise<unknown> },
): Promise<BookmarkRow> {
  assertOwner(row, by)
  if (edit.version !== row.version) {
    const detail =
      'Someone changed this link while you were writing. Nothing is lost: compare the two and save again.'
    throw conflict('version-conflict', detail, await current())
  }
  const next: BookmarkRow = { ...row, version: row.version + 1, edited_at_ms: deps.nowMs(), edited_by: by }
  if (edit.note !== undefined) next.note = edit.note
  if (edit.title !== undefined) {
    next.hand_title = edit.title === '' ? null : edit.title
    next.hand_title_by = edit.title === '' ? null : by
  }
  if (edit.url !== undefined && edit.url !== row.url) await changeSource(tx, deps, next, edit.url)
  next.search = searchLine(next)
  next.list_version = await changed(tx, deps.tell, row.group_id)
  await update(tx, next, row)
  return next
}

async function changeSource(tx: Transaction, deps: LinkDeps, next: BookmarkRow, url: string): Promise<void> {
  next.url = url
  next.page_key = deps.pageKey(url)
  next.source_version += 1
  Object.assign(next, {
    ...{ page_title: null, browser_title: null, shown: null, final_key: null, title_status: 'pending' },
    ...{ title_error: null, title_checked_at_ms: null, title_tries: 0, title_next_try_at_ms: null },
  } satisfies Partial<BookmarkRow>)
  await deps.jobs.supersede(tx, { subject: subjectOf(next.id), version: next.source_version })
  next.job_id = (await submitTitleJob(tx, deps, next)).id
}

/**
 * Looks for the title again: a new generation of the link's job. A title that is there stays until a better one
 * has come. Errors: QueueFull.
 */
export async function refreshLink(tx: Transaction, deps: LinkDeps, row: BookmarkRow): Promise<Job> {
  const repaired =
    row.job_id === null ? undefined : await deps.jobs.repair(tx, row.job_id, { isBounded: true })
  const job = repaired && repaired.state !== 'superseded' ? repaired : await submitTitleJob(tx, deps, row)
  const next: BookmarkRow = { ...row, job_id: job.id, title_tries: 0, title_next_try_at_ms: null }
  if (row.page_title === null) next.title_status = 'pending'
  next.list_version = await changed(tx, deps.tell, row.group_id)
  await update(tx, next, row)
  return job
}

/** Takes a link away with its job, its marks and its remembered answers. Errors: 403 for another member's link. */
export async function deleteLink(
  tx: Transaction,
  deps: LinkDeps,
  row: BookmarkRow,
  by: string,
): Promise<void> {
  assertOwner(row, by)
  await deps.jobs.forget(tx, subjectOf(row.id))
  await forgetThing(tx, row.id)
  await shrank(tx, deps.tell, row.group_id)
  await subtractLink(tx, { id: row.id, group: row.group_id, owner: row.owner_id })
  const { changes } = await tx.run(
    'DELETE FROM bookmarks WHERE id = ? AND list_version = ?',
    ...[row.id, row.list_version],
  )
  if (changes === 0) throw new LostRace(`link ${row.id}`)
}

/** All links of a person, as `deleteLink` takes one: for the end of their account, with whose row their totals go. */
export async function deleteLinksOf(tx: Transaction, deps: LinkDeps, userId: string): Promise<void> {
  const rows = await tx.all<BookmarkRow>(
    'SELECT * FROM bookmarks WHERE owner_id = ? ORDER BY group_id, id',
    userId,
  )
  for (const row of rows) await deleteLink(tx, deps, row, userId)
  const groups = await tx.all<{ group_id: string }>(
    'SELECT DISTINCT group_id FROM read_marks WHERE user_id = ? ORDER BY group_id',
    userId,
  )
  await tx.run('DELETE FROM read_marks WHERE user_id = ?', userId)
  for (const { group_id } of groups) await marked(tx, deps.tell, group_id)
}

/** The jobs and remembered answers of whole lists, for groups that end; their rows go with the group. */
export async function forgetGroups(tx: Transaction, deps: LinkDeps, groups: string[]): Promise<void> {
  for (const group of groups) {
    const rows = await tx.all<{ id: string }>('SELECT id FROM bookmarks WHERE group_id = ?', group)
    for (const { id } of rows) {
      await deps.jobs.forget(tx, subjectOf(id))
      await forgetThing(tx, id)
    }
  }
}

/** One member's own mark. Saying it twice changes nothing. */
export async function markRead(
  tx: Transaction,
  deps: LinkDeps,
  { row, by, isRead }: { row: BookmarkRow; by: string; isRead: boolean },
): Promise<void> {
  const mark = [row.group_id, by, row.id]
  const was = await tx.get(
    'SELECT 1 FROM read_marks WHERE group_id = ? AND user_id = ? AND bookmark_id = ?',
    ...mark,
  )
  if ((was !== undefined) === isRead) return
  // The list before its marks: who said the same at the same moment has changed nothing by the time that it is free.
  await marked(tx, deps.tell, row.group_id)
  const { changes } = isRead
    ? await tx.run('INSERT INTO read_marks VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING', ...mark, deps.nowMs())
    : await tx.run('DELETE FROM read_marks WHERE group_id = ? AND user_id = ? AND bookmark_id = ?', ...mark)
  if (changes > 0) {
    await addTotals(tx, { group: row.group_id, userId: by }, { marks: isRead ? 1 : -1 })
  }
}

export function subjectOf(bookmarkId: string): string {
  return `bookmark:${bookmarkId}`
}

/** The link, if this person may see it; else the 404 of a thing that is not there. */
export async function visibleLink(
  tx: Transaction,
  id: string,
  isMember: (group: string) => Promise<boolean>,
): Promise<BookmarkRow> {
  const row = await findBookmark(tx, id)
  if (!row || !(await isMember(row.group_id))) throw notFound()
  return row
}

function assertOwner(row: BookmarkRow, by: string): void {
  if (row.owner_id !== by)
    throw forbidden('Only the person who saved this link can change it.', 'not-the-owner')
}

/** What a reader is told when a list is asked for in a version that is not there yet (C5). */
export function notYet(): Error {
  return unavailable('The list has not reached the version you asked for; try again in a moment.', 1_000)
}
