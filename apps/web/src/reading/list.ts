import type { Bookmark, BookmarkList } from '@garner/server/api'
import type { Filter } from '../http/api.ts'

/**
 * What is on the page of one list: the loaded rows, newest first, and what came in since, which waits behind
 * "3 new links" so that the page never moves under a reader. Pure: every change gives a new list.
 */
export interface ListView {
  group: string
  items: Bookmark[]
  /** Newer than the rows, not shown yet; newest first. */
  arrivals: Bookmark[]
  /** The cursor behind the last row; null when that was the last link. */
  next: string | null
  version: number
  counts: BookmarkList['counts']
  /** Of the first page, to ask whether anything changed. */
  etag: string | null
  /** When the shown copy was made, if it is a stale one (Unix ms). */
  staleSinceMs: number | null
}

export function firstView(
  page: BookmarkList,
  meta: { etag: string | null; staleSinceMs: number | null },
): ListView {
  return {
    group: page.group,
    items: page.items,
    arrivals: [],
    next: page.next,
    version: page.version,
    counts: page.counts,
    etag: meta.etag,
    staleSinceMs: meta.staleSinceMs,
  }
}

/**
 * Looks at the top again. `page` holds the newest rows down to some depth: rows within that depth that it no longer
 * has are gone, rows that are new wait as arrivals, rows below it stay as they were.
 * Under the Unread filter a row that was read on this page stays: it should not vanish from under the finger.
 */
export function mergeTop(
  view: ListView,
  page: BookmarkList,
  meta: { etag: string | null; staleSinceMs: number | null; keepRead: boolean },
): ListView {
  const fresh = new Map(page.items.map((item) => [item.id, item]))
  const lowest = page.next === null ? Number.NEGATIVE_INFINITY : savedAt(page.items.at(-1))
  const known = new Set(view.items.map((item) => item.id))
  const items: Bookmark[] = []
  for (const old of view.items) {
    const now = fresh.get(old.id)
    if (now) items.push(newer(old, now))
    else if (savedAt(old) <= lowest || (meta.keepRead && old.is_read)) items.push(old)
  }
  const bottom = savedAt(items.at(-1))
  const arrivals: Bookmark[] = []
  const older: Bookmark[] = []
  for (const item of page.items) {
    if (known.has(item.id)) continue
    if (items.length === 0 || (view.next === null ? false : savedAt(item) < bottom)) older.push(item)
    else arrivals.push(item)
  }
  const reachesFurther = items.length === 0 || savedAt(items.at(-1)) > lowest || older.length > 0
  return {
    ...view,
    items: [...items, ...older],
    arrivals,
    next: page.next === null ? null : reachesFurther && view.next !== null ? page.next : view.next,
    version: page.version,
    counts: page.counts,
    etag: meta.etag,
    staleSinceMs: meta.staleSinceMs,
  }
}

/** The next page, as one scrolls. */
export function appendPage(view: ListView, page: BookmarkList): ListView {
  const known = new Set([...view.items, ...view.arrivals].map((item) => item.id))
  const added = page.items.filter((item) => !known.has(item.id))
  return { ...view, items: [...view.items, ...added], next: page.next, counts: page.counts }
}

export function showArrivals(view: ListView): ListView {
  if (view.arrivals.length === 0) return view
  // Sorted, because a link can also come back in the middle: marked unread by oneself on another device, say.
  const items = [...view.arrivals, ...view.items].sort((a, b) => savedAt(b) - savedAt(a))
  return { ...view, items, arrivals: [] }
}

/**
 * A link of one's own, just saved: a row at once. The news of it can be faster than the answer to the save, and the
 * answer to a repeated save is the first one, from before the title: what is here already stays as it is.
 */
export function addOwn(view: ListView, item: Bookmark): ListView {
  const early = view.arrivals.find((one) => one.id === item.id)
  if (early) {
    return { ...view, items: [early, ...view.items], arrivals: view.arrivals.filter((one) => one !== early) }
  }
  if (has(view, item.id)) return view
  const { all, unread, mine } = view.counts
  const counts = { all: all + 1, unread: unread + (item.is_read ? 0 : 1), mine: mine + 1 }
  return { ...view, items: [item, ...view.items], counts }
}

/** Somebody else's change to a row, or a link that was not there: then it waits with the arrivals. */
export function takeIn(view: ListView, item: Bookmark, filter: Filter, me: string): ListView {
  if (has(view, item.id)) return replaceItem(view, item)
  const isNewer = view.items.length === 0 || savedAt(item) >= savedAt(view.items[0])
  if (!isNewer || !matches(item, filter, me)) return view
  const { all, unread, mine } = view.counts
  const counts = {
    all: all + 1,
    unread: unread + (item.is_read ? 0 : 1),
    mine: mine + (item.owner.id === me ? 1 : 0),
  }
  if (view.items.length === 0) return { ...view, items: [item], counts }
  const arrivals = [item, ...view.arrivals].sort((a, b) => savedAt(b) - savedAt(a))
  return { ...view, arrivals, counts }
}

export function replaceItem(view: ListView, item: Bookmark): ListView {
  const swap = (old: Bookmark) => (old.id === item.id ? newer(old, item) : old)
  return { ...view, items: view.items.map(swap), arrivals: view.arrivals.map(swap) }
}

/** One's own read mark, before or after the server heard of it. */
export function setRead(
  view: ListView,
  id: string,
  isRead: boolean,
  me: { id: string; name: string } | null,
): ListView {
  let changed = 0
  const swap = (old: Bookmark): Bookmark => {
    if (old.id !== id || old.is_read === isRead) return old
    changed = isRead ? -1 : 1
    const others = old.read_by.filter((reader) => reader.id !== me?.id)
    return { ...old, is_read: isRead, read_by: isRead && me ? [...others, me] : me ? others : old.read_by }
  }
  const items = view.items.map(swap)
  const arrivals = view.arrivals.map(swap)
  if (changed === 0) return view
  return {
    ...view,
    items,
    arrivals,
    counts: { ...view.counts, unread: Math.max(0, view.counts.unread + changed) },
  }
}

export function removeItem(view: ListView, id: string, me: string): ListView {
  const gone = [...view.items, ...view.arrivals].find((item) => item.id === id)
  if (!gone) return view
  const { all, unread, mine } = view.counts
  return {
    ...view,
    items: view.items.filter((item) => item.id !== id),
    arrivals: view.arrivals.filter((item) => item.id !== id),
    counts: {
      all: Math.max(0, all - 1),
      unread: Math.max(0, unread - (gone.is_read ? 0 : 1)),
      mine: Math.max(0, mine - (gone.owner.id === me ? 1 : 0)),
    },
  }
}

export function has(view: ListView, id: string): boolean {
  return view.items.some((item) => item.id === id) || view.arrivals.some((item) => item.id === id)
}

/** What can be judged here; a search is the server's to answer, so nothing new matches one. */
export function matches(item: Bookmark, filter: Filter, me: string): boolean {
  if (filter.q !== '') return false
  if (filter.show === 'unread') return !item.is_read
  return filter.show === 'mine' ? item.owner.id === me : true
}

/** An answer that was overtaken by a later write does not bring the earlier state back. */
function newer(old: Bookmark, item: Bookmark): Bookmark {
  return item.version >= old.version ? item : old
}

function savedAt(item: Bookmark | undefined): number {
  return item ? Date.parse(item.saved_at) : Number.POSITIVE_INFINITY
}
