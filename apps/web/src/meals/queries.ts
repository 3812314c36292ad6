import { type QueryClient, useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { useGarner } from '../garner.ts'
import { failureOf } from '../http/failure.ts'
import { retryDelayMs } from '../http/retry.ts'
import { useStore } from '../store.ts'
import { useNow } from '../ui/countdown.tsx'
import { addDays, daysBetween, todayOf } from '../words/local-day.ts'
import type { Day, Goals, Meal } from './contract.ts'
import { TREND_DAYS } from './day/trend.ts'

/** Without a stream, photos on their way are asked about this often: soon at first, then calmly. */
const PENDING_SOON_MS = 4_000
const PENDING_CALM_MS = 30_000
const PENDING_SOON_FOR_MS = 10 * 60_000

type Part = 'photo' | 'meal' | 'allowance'

/** Something of the diary has changed: the parts that show it are read again. */
export function lookAtDiary(queries: QueryClient, parts: readonly Part[]): void {
  const keys = new Set<string>()
  for (const part of parts) {
    if (part === 'allowance') keys.add('allowance')
    else keys.add('days')
    if (part === 'photo') keys.add('pending')
  }
  for (const key of keys) void queries.invalidateQueries({ queryKey: ['diary', key] })
}

/**
 * What was refused for now (429, 503, no answer) is asked for again, with growing pauses; what was read before stays on
 * the screen meanwhile.
 */
function useRetry() {
  const { browser } = useGarner()
  return {
    retry: (_count: number, error: Error) => {
      const failure = failureOf(error)
      return failure.isBusy || failure.isUnreachable || failure.status >= 500
    },
    retryDelay: (count: number, error: Error) =>
      retryDelayMs({
        failures: count + 1,
        retryAfterMs: failureOf(error).retryAfterMs,
        random: browser.random(),
      }),
  }
}

/** The seven days that a day stands among: counted back from today, so that they do not move as one steps through them. */
export function weekOf(day: string, today: string): { from: string; to: string } {
  const to = addDays(today, -7 * Math.floor(daysBetween(day, today) / 7))
  return { from: addDays(to, -6), to }
}

export function useDays(from: string, to: string) {
  const { meals } = useGarner()
  return useQuery({
    ...useRetry(),
    queryKey: ['diary', 'days', from, to],
    queryFn: ({ signal }) => meals.days(from, to, signal),
  })
}

export function useTrendDays(today: string) {
  const { meals } = useGarner()
  return useQuery({
    ...useRetry(),
    queryKey: ['diary', 'days', 'trend', today],
    queryFn: ({ signal }) => meals.lastDays(TREND_DAYS, today, signal),
  })
}

export function useAllowance() {
  const { meals, browser } = useGarner()
  return useQuery({
    ...useRetry(),
    queryKey: ['diary', 'allowance'],
    queryFn: ({ signal }) => meals.allowance(signal),
    refetchInterval: ({ state }) => untilReset(state.data?.resets_at, browser.clock.nowMs()),
  })
}

/** At midnight UTC the day's estimates start again, and nothing else says so. */
function untilReset(resetsAt: string | undefined, nowMs: number): number | false {
  if (resetsAt === undefined) return false
  const inMs = Date.parse(resetsAt) - nowMs
  // Timers longer than 24.8 days fire at once; a reset is at most a day away.
  return inMs > 0 && inMs < 25 * 3_600_000 ? inMs + 1_000 : 60_000
}

export const NO_GOALS: Goals = {
  goals: { energy_kcal: null, protein_g: null, carbohydrate_g: null, fat_g: null, fiber_g: null },
  start_of_day: '00:00',
  energy_unit: 'kcal',
}

export function useGoals(): Goals {
  const { meals } = useGarner()
  const goals = useQuery({
    ...useRetry(),
    queryKey: ['diary', 'goals'],
    queryFn: ({ signal }) => meals.goals(signal),
    staleTime: 60_000,
  })
  return goals.data ?? NO_GOALS
}

export function usePending() {
  const { meals, live, queries, browser } = useGarner()
  const isLive = useStore(live) === 'live'
  const since = useRef<number | null>(null)
  const pending = useQuery({
    ...useRetry(),
    queryKey: ['diary', 'pending'],
    queryFn: ({ signal }) => meals.pending(signal),
    refetchInterval: ({ state }) => {
      const { clock } = browser
      if (!state.data || state.data.entries.length === 0) {
        since.current = null
        return false
      }
      since.current ??= clock.nowMs()
      if (isLive) return false
      return clock.nowMs() - since.current < PENDING_SOON_FOR_MS ? PENDING_SOON_MS : PENDING_CALM_MS
    },
  })
  // Whoever has no stream sees here that something has ended: then there is a meal to be read.
  const ended = pending.data?.finished.map((entry) => `${entry.id} ${entry.state}`).join()
  const before = useRef(ended)
  useEffect(() => {
    if (before.current !== undefined && before.current !== ended) lookAtDiary(queries, ['meal', 'allowance'])
    before.current = ended
  }, [ended, queries])
  return pending.data
}

/** Any meal that this page has read, by its id. */
export function mealIn(queries: QueryClient, id: string): Meal | null {
  for (const [, days] of queries.getQueriesData<Day[]>({ queryKey: ['diary', 'days'] })) {
    for (const day of days ?? []) {
      const meal = day.meals.find((one) => one.id === id)
      if (meal) return meal
    }
  }
  return null
}

/** The day it is here, told anew when midnight passes. */
export function useToday(): string {
  const nowMs = useNow(30_000)
  return todayOf(nowMs)
}

/** The day that a moment is counted to: before the start of the day it is still the one before. */
export function diaryDay(date: string, time: string, startOfDay: string): string {
  return time < startOfDay ? addDays(date, -1) : date
}
