import { oneOf, type Queryable, type Value } from '@garner/db'
import { type BookmarkRow, fold, toBookmark } from './bookmark.ts'
import { type Cursor, encodeCursor } from './cursor.ts'
import { stampOf, standingOf } from './lists.ts'
import type { People } from './people.ts'
import type { Bookmark, BookmarkList } from './schemas.ts'
import { totalsOfOne } from './totals.ts'

/** Reads of the lists. Each takes a Queryable, so that it runs inside a transaction or on the read side. */
export async function findBookmark(query: Queryable, id: string): Promise<BookmarkRow | undefined> {
  return query.get<BookmarkRow>('SELECT * FROM bookmarks WHERE id = ?', id)
}

export async function findByPage(
  query: Queryable,
  group: string,
  pageKey: string,
): Promise<BookmarkRow | undefined> {
  return query.get<BookmarkRow>(
    'SELECT * FROM bookmarks WHERE group_id = ? AND page_key = ? ORDER BY saved_at_ms, id LIMIT 1',
    group,
    pageKey,
  )
}

export interface Page {
  group: string
  asking: string
  unread: boolean
  mine: boolean
  q: string
  after: Cursor | undefined
  limit: number
  newestFirst: boolean
}

/** One page of a list as the asking member sees it, with the totals over the whole list, and where the list stood. */
export async function listBookmarks(
  query: Queryable,
  people: People,
  page: Page,
): Promise<{ list: BookmarkList; stamp: number }> {
  // The version first: a change between the two reads then shows as a newer row under an older version, which the
  // reader asks about again; the other way round it would be taken for seen.
  const standing = await standingOf(query, page.group)
  const { sql, params } = pageQuery(page)
  const rows = await query.all<BookmarkRow>(sql, ...params)
  const hasMore = rows.length > page.limit
  const shown = hasMore ? rows.slice(0, page.limit) : rows
  const last = shown.at(-1)
  const list: BookmarkList = {
    items: await dress(query, people, shown, page.asking),
    version: standing.version,
    next: hasMore && last ? encodeCursor({ savedAtMs: last.saved_at_ms, id: last.id }) : null,
    group: page.group,
    counts: await countsOf(query, { group: page.group, asking: page.asking, links: standing.links }),
  }
  return { list, stamp: stampOf(standing) }
}

function pageQuery(page: Page): { sql: string; params: Value[] } {
  const where = ['group_id = ?']
  const params: Value[] = [page.group]
  if (page.after) {
    where.push(`(saved_at_ms, id) ${page.newestFirst ? '<' : '>'} (?, ?)`)
    params.push(page.after.savedAtMs, page.after.id)
  }
  if (page.mine) {
    where.push('owner_id = ?')
    params.push(page.asking)
  }
  if (page.unread) {
    where.push(`NOT EXISTS (SELECT 1 FROM read_marks m
      WHERE m.group_id = bookmarks.group_id AND m.user_id = ? AND m.bookmark_id = bookmarks.id)`)
    params.push(page.asking)
  }
  for (const word of fold(page.q).split(/\s+/).filter(Boolean)) {
    where.push("search LIKE ? ESCAPE '\\'")
    params.push(`%${word.replace(/[\\%_]/g, '\\$&')}%`)
  }
  const order = page.newestFirst ? 'saved_at_ms DESC, id DESC' : 'saved_at_ms, id'
  params.push(page.limit + 1)
  return { sql: `SELECT * FROM bookmarks WHERE ${where.join(' AND ')} ORDER BY ${order} LIMIT ?`, params }
}

/** Rows as the asking member sees them: names, read marks, and other links to the same final page. */
export async function dress(
  query: Queryable,
  people: People,
  rows: BookmarkRow[],
  asking: string,
  job: Bookmark['job'] = null,
): Promise<Bookmark[]> {
  if (rows.length === 0) return []
  const marks = await marksOf(query, rows, asking)
  const names = await people.namesOf(query, [...namedIn(rows), ...marks.shown.values()].flat())
  const twins = await twinsOf(query, rows)
  return rows.map((row) =>
    toBookmark(row, {
      nameOf: (id) => names.get(id) ?? 'Someone who left',
      isRead: marks.own.has(row.id),
      readBy: marks.shown.get(row.id) ?? [],
      alsoSavedAs: twins.get(row.id) ?? null,
      job,
    }),
  )
}

/** The people that these rows name. */
export function namedIn(rows: BookmarkRow[]): string[] {
  const ids = new Set<string>()
  for (const row of rows) {
    for (const id of [row.owner_id, row.edited_by, row.hand_title_by]) if (id !== null) ids.add(id)
  }
  return [...ids]
}

interface Marks {
  own: Set<string>
  shown: Map<string, string[]>
}

async function marksOf(query: Queryable, rows: BookmarkRow[], asking: string): Promise<Marks> {
  const wanted = oneOf(rows.map((row) => row.id))
  const found = await query.all<{ bookmark_id: string; user_id: string; shown: number }>(
    `SELECT r.bookmark_id, r.user_id, coalesce(m.show_reads, 0) AS shown
     FROM read_marks r LEFT JOIN memberships m ON m.group_id = r.group_id AND m.user_id = r.user_id
     WHERE r.bookmark_id IN ${wanted.marks} AND (r.user_id = ? OR m.show_reads = 1)
     ORDER BY r.bookmark_id, r.marked_at_ms`,
    ...wanted.values,
    asking,
  )
  const marks: Marks = { own: new Set(), shown: new Map() }
  for (const { bookmark_id, user_id, shown } of found) {
    if (user_id === asking) marks.own.add(bookmark_id)
    if (shown === 1) marks.shown.set(bookmark_id, [...(marks.shown.get(bookmark_id) ?? []), user_id])
  }
  return marks
}

/** For links whose page turned out to be another link's page too: the older one's id. Nothing is merged by itself. */
export async function twinsOf(query: Queryable, rows: BookmarkRow[]): Promise<Map<string, string>> {
  const twins = new Map<string, string>()
  for (const row of rows) {
    if (row.final_key === null) continue
    const twin = await query.get<{ id: string }>(
      `SELECT id FROM bookmarks WHERE group_id = ? AND final_key = ? AND (saved_at_ms, id) < (?, ?)
       ORDER BY saved_at_ms, id LIMIT 1`,
      ...[row.group_id, row.final_key, row.saved_at_ms, row.id],
    )
    if (twin) twins.set(row.id, twin.id)
  }
  return twins
}

async function countsOf(
  query: Queryable,
  { group, asking, links }: { group: string; asking: string; links: number },
): Promise<BookmarkList['counts']> {
  const mine = await totalsOfOne(query, group, asking)
  return { all: links, unread: links - mine.marks, mine: mine.links }
}

/** Links and unread links of each group, for the group switcher. */
export async function groupCounts(
  query: Queryable,
  userId: string,
  groups: string[],
): Promise<Map<string, { links: number; unread: number }>> {
  const wanted = oneOf(groups)
  const rows = await query.all<{ id: string; links: number; read: number }>(
    `SELECT g.id, coalesce(l.links, 0) AS links, coalesce(t.marks, 0) AS read
     FROM groups g LEFT JOIN lists l ON l.group_id = g.id
       LEFT JOIN list_totals t ON t.group_id = g.id AND t.user_id = ?
     WHERE g.id IN ${wanted.marks}`,
    userId,
    ...wanted.values,
  )
  return new Map(rows.map(({ id, links, read }) => [id, { links, unread: links - read }]))
}
