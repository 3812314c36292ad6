import type { Me } from '@garner/server/api'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { useGarner } from './garner.ts'
import { failureOf } from './http/failure.ts'
import { useLive } from './live/use-live.ts'
import { useBatchNews } from './meals/batch/use-batch-news.ts'
import { MealsScreen } from './meals/meals.tsx'
import { dayIn, mealsPath } from './meals/place.ts'
import { useToday } from './meals/queries.ts'
import { useLeaving } from './meals/use-leaving.ts'
import { NewGroup } from './reading/new-group.tsx'
import { GroupsUnreachable, NoGroup } from './reading/no-group.tsx'
import { ReadingScreen } from './reading/reading.tsx'
import { useOutbox } from './reading/use-outbox.ts'
import { SettingsScreen } from './settings/settings.tsx'
import { Shell } from './shell.tsx'
import { useStore } from './store.ts'
import { useKeys } from './ui/keys.ts'
import { go, usePlace } from './ui/location.tsx'
import { WelcomeScreen } from './welcome/welcome.tsx'
import { longDay } from './words/local-day.ts'

/** While nobody answers at all, this often. */
const KNOCK_MS = 3_000
/** Somebody who waits to be let in is told this soon. */
const WAITING_MS = 5_000

/** Who is there decides what is shown: the door, or the lists. */
export function App() {
  const { api } = useGarner()
  useLeaving()
  const me = useQuery({
    queryKey: ['me'],
    queryFn: async (): Promise<Me | null> => {
      try {
        return await api.me()
      } catch (error) {
        if (failureOf(error).status === 401) return null
        throw error
      }
    },
    refetchInterval: ({ state }) => (state.data?.status === 'pending' ? WAITING_MS : false),
  })
  if (me.data?.status === 'approved') return <Home key={me.data.id} me={me.data} />
  if (me.data !== undefined) return <WelcomeScreen me={me.data} />
  return me.error ? <NobodyAnswers again={() => void me.refetch()} errors={me.errorUpdateCount} /> : null
}

function NobodyAnswers({ again, errors }: { again(): void; errors: number }) {
  const untilMs = useKnock(errors)
  return (
    <main className="alone" id="main">
      <GroupsUnreachable again={again} untilMs={untilMs} />
    </main>
  )
}

/** When the next try is due: planned anew after each that failed. */
function useKnock(errors: number): number | null {
  const { clock } = useGarner().browser
  const [untilMs, setUntilMs] = useState<number | null>(null)
  useEffect(() => setUntilMs(errors > 0 ? clock.nowMs() + KNOCK_MS : null), [errors, clock])
  return untilMs
}

function Home({ me }: { me: Me }) {
  const { api, preferences } = useGarner()
  const place = usePlace()
  const lastGroup = useStore(preferences.lastGroup)
  const [isMaking, setIsMaking] = useState(false)
  useLive(me)
  useOutbox(me)
  useBatchOf(me)
  useBatchNews()
  const today = useToday()
  const groups = useQuery({ queryKey: ['groups'], queryFn: () => api.groups() })
  const list = groups.data ?? []
  const named = /^\/reading\/([^/]+)/.exec(place.pathname)?.[1]
  const isSettings = place.pathname.startsWith('/settings')
  const isMeals = /^\/meals(\/|$)/.test(place.pathname)
  const day = isMeals ? dayIn(place) : null
  const wanted = named === undefined ? null : safeDecode(named)
  const home =
    list.find((group) => group.id === lastGroup) ??
    list.find((group) => group.id === me.default_group) ??
    list[0] ??
    null
  const group = wanted === null ? home : (list.find((one) => one.id === wanted) ?? null)

  const untilMs = useKnock(groups.errorUpdateCount)
  // The name of a group that one was just put out of is still known, and says more than its id.
  const names = useRef(new Map<string, string>())
  for (const one of list) names.current.set(one.id, one.name)
  const lost = wanted === null ? null : (names.current.get(wanted) ?? null)

  useKeys({
    'g r': () => go(home ? `/reading/${encodeURIComponent(home.id)}` : '/reading'),
    'g m': () => go(mealsPath(today)),
    'g s': () => go('/settings'),
  })

  useEffect(() => {
    if (isSettings || isMeals || wanted !== null || home === null) return
    go(`/reading/${encodeURIComponent(home.id)}`, 'replace')
  }, [isSettings, isMeals, wanted, home])
  useEffect(() => {
    if (isMeals && day === null) go(mealsPath(today), 'replace')
  }, [isMeals, day, today])
  useEffect(() => {
    if (wanted !== null && group !== null) preferences.lastGroup.set(group.id)
  }, [wanted, group, preferences])

  if (isSettings) {
    return (
      <Shell me={me} group={home} screen="settings" title="Settings">
        <SettingsScreen me={me} groups={list} />
      </Shell>
    )
  }
  if (isMeals) {
    return (
      <Shell me={me} group={home} screen="meals" title={day ? longDay(day, today) : 'Meals'}>
        {day && <MealsScreen me={me} place={place} day={day} />}
      </Shell>
    )
  }
  return (
    <Shell me={me} group={group ?? home} screen="reading" title={group?.name ?? 'Reading'}>
      {group ? (
        <ReadingScreen key={group.id} me={me} group={group} groups={list} />
      ) : (
        groups.data && (
          <NoGroup outOf={wanted} name={lost} groups={groups.data} onNew={() => setIsMaking(true)} />
        )
      )}
      {!groups.data && groups.error && (
        <GroupsUnreachable again={() => void groups.refetch()} untilMs={untilMs} />
      )}
      {isMaking && <NewGroup onClose={() => setIsMaking(false)} />}
    </Shell>
  )
}

/** Photos belong to whoever picked them. The network's return ends the pause after a dropped connection. */
function useBatchOf(me: Me): void {
  const { batch, online } = useGarner()
  useEffect(() => {
    batch.open(me.id)
    const stop = online.subscribe(() => online.get() && batch.wake())
    return () => {
      stop()
      batch.open(null)
    }
  }, [me.id, batch, online])
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
