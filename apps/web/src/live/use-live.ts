import type { Me } from '@garner/server/api'
import type { QueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { type Garner, useGarner } from '../garner.ts'
import { failureOf } from '../http/failure.ts'
import { lookAtDiary } from '../meals/queries.ts'
import { type ListView, removeItem, takeIn } from '../reading/list.ts'
import { editLists, LOOK_AGAIN_MAX } from '../reading/use-list.ts'
import type { Change } from './changes.ts'
import { keepListening } from './stream.ts'

/** While there is no stream, the version is asked for this often; the answer is nearly always 304. */
export const POLL_MS = 15_000
/** Told about more links at once (an import, a busy group), the list is read again instead of each of them. */
const ONE_BY_ONE_MAX = 12
/** Changes that come together are looked at together. */
const GATHER_MS = 120

/**
 * Keeps this page current while it is seen: by the event stream, or by asking every 15 s when that is down. Hidden
 * pages hear nothing and look at everything when they are seen again.
 */
export function useLive(me: Me): void {
  const garner = useGarner()
  useEffect(() => {
    let watching: AbortController | null = null
    const begin = () => {
      if (document.visibilityState === 'hidden') {
        watching?.abort()
        watching = null
        garner.live.set('off')
      } else if (!watching) {
        watching = new AbortController()
        void watch(garner, me, watching.signal)
      }
    }
    begin()
    document.addEventListener('visibilitychange', begin)
    return () => {
      document.removeEventListener('visibilitychange', begin)
      watching?.abort()
      garner.live.set('off')
    }
  }, [garner, me])
}

async function watch(garner: Garner, me: Me, signal: AbortSignal): Promise<void> {
  const { api, browser, live, queries } = garner
  let told: Change[] = []

  const settle = async () => {
    await browser.clock.sleep(GATHER_MS, signal)
    const changes = told
    told = []
    if (!signal.aborted) await lookAtWhat(garner, me, changes)
  }
  const onChange = (change: Change) => {
    if (change.kind === 'account') {
      void queries.invalidateQueries({ queryKey: ['me'] })
      void queries.invalidateQueries({ queryKey: ['people'] })
      void queries.invalidateQueries({ queryKey: ['groups'] })
      return
    }
    told.push(change)
    if (told.length === 1) void settle()
  }

  void poll(garner, signal)
  await keepListening({
    open: (until) => api.events(until),
    clock: browser.clock,
    random: browser.random,
    signal,
    onChange,
    onLive(isLive) {
      if (signal.aborted) return
      live.set(isLive ? 'live' : 'polling')
      // What happened while nobody listened is unknown.
      if (isLive) lookAtAll(garner)
    },
  })
}

/**
 * A list that changed is read again, once for all that came together. Links that were named without their list, or
 * stand deeper than a list is read again, are read one by one.
 */
async function lookAtWhat(garner: Garner, me: Me, changes: Change[]): Promise<void> {
  const { api, queries } = garner
  const lists = new Set<string>()
  const links = new Map<string, string>()
  const diary = changes.flatMap((change) => (change.kind === 'diary' ? [change.part] : []))
  if (diary.length > 0) lookAtDiary(queries, diary)
  for (const change of changes) {
    if (change.kind === 'diary') continue
    if (change.kind === 'bookmark') links.set(change.id, change.group)
    else if (change.kind !== 'account') lists.add(change.group)
    if (change.kind === 'list') api.expectVersion(change.group, change.version)
  }
  for (const [id, group] of links) {
    void queries.invalidateQueries({ queryKey: ['bookmark', id] })
    if (links.size > ONE_BY_ONE_MAX) lists.add(group)
    else if (!lists.has(group) || isDeep(queries, group, id)) await lookAtLink(garner, me, group, id)
  }
  for (const group of lists) await lookAtList(garner, group)
  const isElsewhere = [...links.values(), ...lists].some((group) => !isShown(queries, group))
  if (isElsewhere || changes.some((change) => change.kind === 'group')) {
    void queries.invalidateQueries({ queryKey: ['groups'] })
  }
}

function isShown(queries: QueryClient, group: string): boolean {
  return queries.getQueryCache().findAll({ queryKey: ['list', group], type: 'active' }).length > 0
}

function isDeep(queries: QueryClient, group: string, id: string): boolean {
  return queries
    .getQueriesData<ListView>({ queryKey: ['list', group] })
    .some(([, view]) => view?.items.slice(LOOK_AGAIN_MAX).some((item) => item.id === id))
}

async function poll(garner: Garner, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await garner.browser.clock.sleep(POLL_MS, signal)
    if (!signal.aborted && garner.live.get() === 'polling') lookAtAll(garner)
  }
}

/** A list whose retry is planned is left to that: one request in flight, and no more often than the server asked. */
const isFree =
  ({ troubles }: Garner) =>
  ({ queryKey }: { queryKey: readonly unknown[] }) =>
    troubles.get().get(queryKey.join(' '))?.nextTryMs == null

async function lookAtList(garner: Garner, group: string): Promise<void> {
  // Not instead of a look that is under way, but after it: that one may have been answered before the change.
  await garner.queries.invalidateQueries({ queryKey: ['list', group], predicate: isFree(garner) })
}

function lookAtAll(garner: Garner): void {
  const { queries } = garner
  void queries.invalidateQueries({ queryKey: ['list'], predicate: isFree(garner) })
  void queries.invalidateQueries({ queryKey: ['bookmark'] })
  void queries.invalidateQueries({ queryKey: ['groups'] })
  lookAtDiary(queries, ['photo', 'meal', 'allowance'])
}

/** One link, read by itself: the list may still be served from a copy that is a moment older than the event. */
async function lookAtLink(garner: Garner, me: Me, group: string, id: string): Promise<void> {
  const { api, queries } = garner
  // A list that nobody has open has nothing to change.
  if (!isShown(queries, group)) return
  try {
    const detail = await api.bookmark(id)
    queries.setQueryData(['bookmark', id], detail)
    const item = { ...detail, job: detail.job && { id: detail.job.id, state: detail.job.state } }
    editLists(queries, group, (view, filter) => takeIn(view, item, filter, me.id))
  } catch (error) {
    if (failureOf(error).status === 404) editLists(queries, group, (view) => removeItem(view, id, me.id))
    else await lookAtList(garner, group)
  }
}
