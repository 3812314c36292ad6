import { QueryClient } from '@tanstack/react-query'
import { createContext, useContext } from 'react'
import type { Browser } from './browser.ts'
import { Api } from './http/api.ts'
import { Http, type HttpEvents } from './http/http.ts'
import { Uploader } from './http/upload.ts'
import type { Batch } from './meals/batch/batch.ts'
import { createBatch } from './meals/batch/create-batch.ts'
import { MealsApi } from './meals/meals-api.ts'
import { MealDrafts } from './meals/sheet/meal-drafts.ts'
import { Notice } from './notice.ts'
import { type Preferences, readPreferences } from './preferences.ts'
import { Drafts } from './reading/drafts.ts'
import { Outbox } from './reading/outbox-sender.ts'
import { createTroubles, type Troubles } from './reading/use-list.ts'
import { createStore, type Store } from './store.ts'

/** How changes reach this page. `off` while nobody is signed in or the page is hidden. */
export type LiveState = 'off' | 'live' | 'polling'

/** Everything that lives as long as the page, put together once in main.tsx. */
export interface Garner {
  browser: Browser
  api: Api
  queries: QueryClient
  notice: Notice
  preferences: Preferences
  outbox: Outbox
  drafts: Drafts
  meals: MealsApi
  /** The photos that were picked on this page. */
  batch: Batch
  mealDrafts: MealDrafts
  troubles: Troubles
  live: Store<LiveState>
  /** Whether the server answered last time, and the browser believes in its network. */
  online: Store<boolean>
  /** In demo mode, whose requests these are. */
  demoUser: Store<string | null>
}

const DEMO_KEY = 'garner.demo-user'

export function createGarner(browser: Browser): Garner {
  const queries = new QueryClient({
    defaultOptions: {
      // The network state is our own affair: a kept list is shown, a refusal has its own wait, nothing retries twice.
      queries: { networkMode: 'always', retry: false, refetchOnWindowFocus: true, staleTime: 1_000 },
      mutations: { networkMode: 'always', retry: false },
    },
  })
  const demoUser = createStore<string | null>(browser.tabShelf.read(DEMO_KEY))
  demoUser.subscribe(() => browser.tabShelf.write(DEMO_KEY, demoUser.get()))
  const online = createStore(true)
  const events: HttpEvents = {
    onSignedOut: () => queries.setQueryData(['me'], null),
    onReached: (reached) => online.set(reached),
  }
  const http = new Http(browser, demoUser.get, events)
  const api = new Api(http)
  const notice = new Notice(browser.clock)
  const outbox = new Outbox(browser, api)
  const drafts = new Drafts(browser.tabShelf)
  const preferences = readPreferences(browser.shelf)
  const uploader = new Uploader(browser, () => new XMLHttpRequest(), demoUser.get, events)
  const meals = new MealsApi(http, uploader)
  return {
    browser,
    api,
    queries,
    notice,
    preferences,
    outbox,
    drafts,
    meals,
    batch: createBatch(browser, meals, queries),
    mealDrafts: new MealDrafts(browser.tabShelf),
    troubles: createTroubles(),
    live: createStore<LiveState>('off'),
    online,
    demoUser,
  }
}

export const GarnerContext = createContext<Garner | null>(null)

export function useGarner(): Garner {
  const garner = useContext(GarnerContext)
  if (!garner) throw new Error('useGarner: expected a GarnerContext around this component, found none')
  return garner
}
