import { type QueryClient, useQuery } from '@tanstack/react-query'
import { useCallback, useRef, useState } from 'react'
import { type Garner, useGarner } from '../garner.ts'
import type { Filter } from '../http/api.ts'
import { Failure, failureOf } from '../http/failure.ts'
import { retryDelayMs } from '../http/retry.ts'
import { createStore, type Store, useStore } from '../store.ts'
import { useAt } from '../ui/countdown.tsx'
import { appendPage, firstView, type ListView, mergeTop } from './list.ts'

export const PAGE = 50
/** One look is overtaken by one save; more than a few in a row are news that the next look brings anyway. */
const LOOKS_MAX = 4
/** Rows that are looked at again in one go; the server's own limit for a page. */
const PAGE_MAX = 200
/** The default of the query library, said here because one filter differs. */
const KEPT_UNSEEN_MS = 5 * 60_000
/** Deeper rows are kept up to date by their own events only: three pages are enough to see what left the list. */
const LOOK_AGAIN_PAGES = 3
export const LOOK_AGAIN_MAX = PAGE + LOOK_AGAIN_PAGES * PAGE_MAX
/** A stale copy is asked for again soon; the cache refreshes itself behind it. */
const STALE_AGAIN_MS = 2_000

export const listKey = (group: string, filter: Filter) => ['list', group, filter.show, filter.q] as const

/** Changes every list of a group that is in memory, whatever its filter. */
export function editLists(
  queries: QueryClient,
  group: string,
  change: (view: ListView, filter: Filter) => ListView,
): void {
  for (const [key, view] of queries.getQueriesData<ListView>({ queryKey: ['list', group] })) {
    if (!view) continue
    const [, , show, q] = key as ReturnType<typeof listKey>
    const next = change(view, { show, q })
    if (next !== view) queries.setQueryData(key, next)
  }
}

/** Why the last look at a list failed, how often in a row, and when the next is due. */
export interface Trouble {
  failure: Failure
  failures: number
  /** Null when asking again would not help. */
  nextTryMs: number | null
}

/**
 * Beside the query, not in it: marking a row writes to the query, and would make a list that cannot be read now look
 * as if it had just been read.
 */
export type Troubles = Store<ReadonlyMap<string, Trouble>>
export const createTroubles = (): Troubles => createStore<ReadonlyMap<string, Trouble>>(new Map())

function note(garner: Garner, name: string, failure: Failure | null): void {
  garner.troubles.set((before) => {
    if (failure === null && !before.has(name)) return before
    const after = new Map(before)
    after.delete(name)
    if (failure === null) return after
    const failures = (before.get(name)?.failures ?? 0) + 1
    const { retryAfterMs } = failure
    const passes = failure.isBusy || failure.isUnreachable || failure.status >= 500
    const { clock, random } = garner.browser
    const wait = retryDelayMs({ failures, retryAfterMs, random: random() })
    return after.set(name, { failure, failures, nextTryMs: passes ? clock.nowMs() + wait : null })
  })
}

async function lookAndNote(
  garner: Garner,
  group: string,
  filter: Filter,
  signal: AbortSignal,
): Promise<ListView> {
  const name = listKey(group, filter).join(' ')
  try {
    const view = await look(garner, group, filter, signal)
    note(garner, name, null)
    return view
  } catch (error) {
    if (error instanceof Failure) note(garner, name, error)
    throw error
  }
}

/**
 * Looks at the top of the list, and as far down as rows are loaded, in as few requests as that takes.
 * What was loaded meanwhile by scrolling, marking or saving is read after the answer, so it is not undone by it.
 */
async function look(
  garner: Garner,
  group: string,
  filter: Filter,
  signal: AbortSignal,
  looks = 1,
): Promise<ListView> {
  const { api, queries, browser } = garner
  const key = listKey(group, filter)
  const known = queries.getQueryData<ListView>(key)
  const top = await api.list({ group, filter, limit: PAGE, etag: known?.etag ?? null, signal })
  if (top === 'unchanged') {
    const now = queries.getQueryData<ListView>(key) ?? known
    if (now) return { ...now, staleSinceMs: null }
    throw new Error(`list ${group}: expected rows with a 304, found none in memory`)
  }
  const staleSinceMs = top.staleMs > 0 ? browser.clock.nowMs() - top.staleMs : null
  const page = { ...top.list }
  const loaded = known?.items.length ?? 0
  for (let i = 0; i < LOOK_AGAIN_PAGES && page.next !== null && page.items.length < loaded; i += 1) {
    const more = await api.list({ group, filter, limit: PAGE_MAX, after: page.next, signal })
    if (more === 'unchanged') break
    page.items = [...page.items, ...more.list.items]
    page.next = more.list.next
  }
  // Asked before one's own save was through: the row of that save would be taken for gone, and then for an arrival.
  if (api.isBehind(group, page.version) && looks < LOOKS_MAX) {
    return look(garner, group, filter, signal, looks + 1)
  }
  const now = queries.getQueryData<ListView>(key)
  return now
    ? mergeTop(now, page, { etag: top.etag, staleSinceMs, keepRead: filter.show === 'unread' })
    : firstView(page, { etag: top.etag, staleSinceMs })
}

export interface ListHook {
  view: ListView | undefined
  /** Null after a look that worked. */
  trouble: Trouble | null
  tryNow(): void
  more(): void
  loadingMore: boolean
}

/** One list, kept current: on show, on focus, on being told, and again after every refusal, one request at a time. */
export function useList(group: string, filter: Filter): ListHook {
  const garner = useGarner()
  const { api, queries, browser } = garner
  const key = listKey(group, filter)
  const query = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => lookAndNote(garner, group, filter, signal),
    // Rows that were read elsewhere meanwhile must not come back with the Unread filter.
    gcTime: filter.show === 'unread' ? 0 : KEPT_UNSEEN_MS,
    refetchInterval: ({ state }) => (state.data?.staleSinceMs == null ? false : STALE_AGAIN_MS),
  })

  const trouble = useStore(garner.troubles).get(key.join(' ')) ?? null
  const tryNow = useCallback(() => {
    void queries.refetchQueries({ queryKey: ['list', group], type: 'active' }, { cancelRefetch: false })
  }, [queries, group])
  useAt(query.isFetching ? null : (trouble?.nextTryMs ?? null), tryNow)

  const [loadingMore, setLoadingMore] = useState(false)
  const asking = useRef(false)
  const more = async () => {
    const before = queries.getQueryData<ListView>(key)
    if (asking.current || !before?.next) return
    asking.current = true
    setLoadingMore(true)
    try {
      const page = await api.list({ group, filter, limit: PAGE, after: before.next })
      const now = queries.getQueryData<ListView>(key)
      if (page !== 'unchanged' && now) queries.setQueryData(key, appendPage(now, page.list))
    } catch (error) {
      const refused = failureOf(error)
      const { retryAfterMs } = refused
      // The button stays; scrolling on does not ask again before the server said.
      await browser.clock.sleep(retryDelayMs({ failures: 1, retryAfterMs, random: browser.random() }))
    } finally {
      asking.current = false
      setLoadingMore(false)
    }
  }
  // Somebody who was put out of the group stops seeing it with the answer that says so.
  const isOut = trouble !== null && (trouble.failure.status === 403 || trouble.failure.status === 404)
  return { view: isOut ? undefined : query.data, trouble, tryNow, more: () => void more(), loadingMore }
}
