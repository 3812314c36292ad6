import type { Me } from '@garner/server/api'
import { useEffect } from 'react'
import { type Garner, useGarner } from '../garner.ts'
import { failureOf } from '../http/failure.ts'
import { nameOf } from '../reading/link-name.tsx'
import { removeItem, replaceItem, takeIn } from '../reading/list.ts'
import { editLists } from '../reading/use-list.ts'
import type { Change } from './changes.ts'
import { keepListening } from './stream.ts'

/** While there is no stream, the version is asked for this often; the answer is nearly always 304. */
export const POLL_MS = 15_000
/** Told about many links at once (an import, a busy group), the top of the list is read once instead of each of them. */
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
  const { api, browser, live } = garner
  const gathered = new Map<string, Change & { kind: 'bookmark' }>()
  let gathering = false

  const settle = async () => {
    gathering = true
    await browser.clock.sleep(GATHER_MS, signal)
    gathering = false
    const changes = [...gathered.values()]
    gathered.clear()
    if (signal.aborted) return
    if (changes.length > ONE_BY_ONE_MAX) lookAtAll(garner)
    else for (const change of changes) await lookAt(garner, me, change)
    void garner.queries.invalidateQueries({ queryKey: ['groups'] })
  }

  const onChange = (change: Change) => {
    if (change.kind === 'bookmark') {
      gathered.set(change.id, change)
      if (!gathering) void settle()
    } else if (change.kind === 'list') {
      api.expectVersion(change.group, change.version)
      void garner.queries.invalidateQueries({ queryKey: ['list', change.group] })
      void garner.queries.invalidateQueries({ queryKey: ['groups'] })
    } else if (change.kind === 'group') {
      void garner.queries.invalidateQueries({ queryKey: ['groups'] })
      void garner.queries.invalidateQueries({ queryKey: ['list', change.group] })
    } else {
      void garner.queries.invalidateQueries({ queryKey: ['me'] })
      void garner.queries.invalidateQueries({ queryKey: ['people'] })
    }
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

async function poll(garner: Garner, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await garner.browser.clock.sleep(POLL_MS, signal)
    if (!signal.aborted && garner.live.get() === 'polling') lookAtAll(garner)
  }
}

/** A list whose retry is planned is left to that: one request in flight, and no more often than the server asked. */
function lookAtAll({ queries, troubles }: Garner): void {
  void queries.invalidateQueries({
    queryKey: ['list'],
    predicate: ({ queryKey }) => troubles.get().get(queryKey.join(' '))?.nextTryMs == null,
  })
  void queries.invalidateQueries({ queryKey: ['bookmark'] })
  void queries.invalidateQueries({ queryKey: ['groups'] })
}

/** One link, read by itself: the list may still be served from a copy that is a moment older than the event. */
async function lookAt(garner: Garner, me: Me, change: Change & { kind: 'bookmark' }): Promise<void> {
  const { api, notice, queries } = garner
  // A list that nobody has open has nothing to change.
  if (queries.getQueriesData({ queryKey: ['list', change.group] }).length === 0) return
  try {
    const detail = await api.bookmark(change.id)
    queries.setQueryData(['bookmark', change.id], detail)
    const item = { ...detail, job: detail.job && { id: detail.job.id, state: detail.job.state } }
    editLists(queries, change.group, (view, filter) => {
      const before = view.items.find((one) => one.id === item.id)
      if (before?.title_status === 'pending' && item.title_status === 'ready' && item.owner.id === me.id) {
        notice.say(`Title found: ${nameOf(item)}`)
      }
      return before ? replaceItem(view, item) : takeIn(view, item, filter, me.id)
    })
  } catch (error) {
    const { status } = failureOf(error)
    if (status === 404) editLists(queries, change.group, (view) => removeItem(view, change.id, me.id))
    else void queries.invalidateQueries({ queryKey: ['list', change.group] })
  }
}
