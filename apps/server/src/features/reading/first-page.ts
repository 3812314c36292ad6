import type { Queryable } from '@garner/db'
import { type BookmarkRow, toBookmark } from './bookmark.ts'
import { type ListPage, pageOf } from './list-page.ts'
import { stampOf, standingOf } from './lists.ts'
import type { People } from './people.ts'
import { namedIn, twinsOf } from './queries.ts'
import { totalsOf } from './totals.ts'

/** The first links of a list, one way round. */
export interface FirstLinks {
  group: string
  newestFirst: boolean
  /** The most links. */
  size: number
  /** The page's name. */
  shape: string
}

const NEWEST = 'saved_at_ms DESC, id DESC'
const OLDEST = 'saved_at_ms, id'

/** Reads them for all members at once: one read of the origin, however many of them ask and however long the list is. */
export async function readFirstPage(query: Queryable, people: People, links: FirstLinks): Promise<ListPage> {
  const { group, newestFirst, size, shape } = links
  const order = newestFirst ? NEWEST : OLDEST
  // Where it stands first: a change between the two reads then shows as a newer row under an older version, which is
  // asked about again; the other way round it would be taken for seen.
  const standing = await standingOf(query, group)
  const rows = await query.all<BookmarkRow>(
    `SELECT * FROM bookmarks WHERE group_id = ? ORDER BY ${order} LIMIT ?`,
    ...[group, size + 1],
  )
  const hasMore = rows.length > size
  if (hasMore) rows.pop()
  const marks = await marksOf(query, rows, { group, order, size })
  const names = await people.namesOf(query, [...new Set([...namedIn(rows), ...marks.shown.values()].flat())])
  const twins = await twinsOf(query, rows)
  const items = rows.map((row) =>
    toBookmark(row, {
      nameOf: (id) => names.get(id) ?? 'Someone who left',
      isRead: false,
      readBy: marks.shown.get(row.id) ?? [],
      alsoSavedAs: twins.get(row.id) ?? null,
      job: null,
    }),
  )
  return pageOf(items, {
    ...{ group, shape, hasMore, links: standing.links, stamp: stampOf(standing), read: marks.read },
    counts: new Map(
      [...(await totalsOf(query, group))].map(([id, { marks, links }]) => [id, [marks, links]]),
    ),
  })
}

/** Everyone's marks on these rows: whose are shown, by link; and by member the places of the rows they have read. */
async function marksOf(
  query: Queryable,
  rows: BookmarkRow[],
  { group, order, size }: { group: string; order: string; size: number },
): Promise<{ shown: Map<string, string[]>; read: Map<string, number[]> }> {
  const found = await query.all<{ bookmark_id: string; user_id: string; shown: number }>(
    `SELECT r.bookmark_id, r.user_id, coalesce(m.show_reads, 0) AS shown
     FROM read_marks r LEFT JOIN memberships m ON m.group_id = r.group_id AND m.user_id = r.user_id
     WHERE r.bookmark_id IN (SELECT id FROM bookmarks WHERE group_id = ? ORDER BY ${order} LIMIT ?)
     ORDER BY r.bookmark_id, r.marked_at_ms, r.user_id`,
    ...[group, size],
  )
  const places = new Map(rows.map((row, place) => [row.id, place]))
  const shown = new Map<string, string[]>()
  const read = new Map<string, number[]>()
  for (const mark of found) {
    const place = places.get(mark.bookmark_id)
    if (place === undefined) continue
    added(read, mark.user_id, place)
    if (mark.shown === 1) added(shown, mark.bookmark_id, mark.user_id)
  }
  return { shown, read }
}

function added<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key)
  if (list) list.push(value)
  else lists.set(key, [value])
}
