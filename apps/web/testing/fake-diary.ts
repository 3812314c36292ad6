import type { Day, FinishedEntry, Goals, Pending, PendingEntry, VisionAllowance } from '@garner/server/api'
import { Refusal } from './fake-refusal.ts'
import type { Route } from './fake-routes.ts'
import { PIXEL } from './pictures.ts'

/** A photo that was sent to the fake. It moves on when a test says so, and never by itself. */
export interface FakeEntry {
  id: string
  name: string
  date: string
  time: string
  state: PendingEntry['state'] | FinishedEntry['state']
}

export interface FakeDiary {
  entries: FakeEntry[]
}

const DAY_MS = 86_400_000
const NOTHING = { energy_kcal: null, protein_g: null, carbohydrate_g: null, fat_g: null, fiber_g: null }

/** Photos on their way, and a diary that stays empty: enough for the uploader and what stands around it. */
export function createDiaryRoutes({ diary, tell }: { diary: FakeDiary; tell(event: string): void }): Route[] {
  let lastId = 0
  const entry = (id: string | undefined): FakeEntry => {
    const found = diary.entries.find((one) => one.id === id)
    if (!found) throw new Refusal(404, 'There is no such photo.')
    return found
  }
  const dead = (id: string | undefined): FakeEntry => {
    const found = entry(id)
    if (found.state !== 'dead') throw new Refusal(409, 'This photo has not failed.')
    return found
  }
  return [
    ['GET', /^\/api\/meals$/, ({ url }) => ({ body: { days: daysIn(url.searchParams) } })],
    ['GET', /^\/api\/allowance$/, () => ({ body: allowance() })],
    ['GET', /^\/api\/goals$/, () => ({ body: NO_GOALS })],
    ['GET', /^\/api\/photos\/[^/]+$/, () => ({ body: PIXEL })],
    ['GET', /^\/api\/auto-log\/pending$/, () => ({ body: pendingIn(diary) })],
    [
      'POST',
      /^\/api\/auto-log$/,
      ({ body }) => {
        lastId += 1
        const { filename, date, time } = body as Record<string, string>
        const id = `e${lastId}`
        diary.entries.push({ id, name: filename ?? '', date: date ?? '', time: time ?? '', state: 'queued' })
        tell('photo')
        const accepted = { queued: true, pending: lastId, entry: { id, state: 'queued', date, time } }
        return { status: 202, body: accepted }
      },
    ],
    [
      'POST',
      /^\/api\/auto-log\/([^/]+)\/retry$/,
      (_, id) => {
        dead(id).state = 'queued'
        tell('photo')
        return { status: 202, body: {} }
      },
    ],
    [
      'DELETE',
      /^\/api\/auto-log\/([^/]+)$/,
      (_, id) => {
        diary.entries.splice(diary.entries.indexOf(entry(id)), 1)
        tell('photo')
        return { status: 204 }
      },
    ],
  ]
}

function pendingIn({ entries }: FakeDiary): Pending {
  const waiting: PendingEntry[] = []
  const finished: FinishedEntry[] = []
  for (const { id, date, time, state } of entries) {
    if (state === 'queued' || state === 'describing' || state === 'retrying') {
      const tries = { attempts: 0, next_try: null, error: null }
      waiting.push({ id, state, before: waiting.length, date, time, time_source: 'client', ...tries })
    } else finished.push({ id, state })
  }
  return { pending: waiting.length, entries: waiting, finished }
}

function daysIn(query: URLSearchParams): Day[] {
  const to = query.get('to') ?? query.get('anchor') ?? ''
  const count = Number(query.get('days') ?? 1)
  const from = query.get('from') ?? dayOf(Date.parse(to) - (count - 1) * DAY_MS)
  const days: Day[] = []
  for (let atMs = Date.parse(from); atMs <= Date.parse(to); atMs += DAY_MS) {
    const unknown = { energy_kcal: 0, protein_g: 0, carbohydrate_g: 0, fat_g: 0, fiber_g: 0 }
    days.push({
      date: dayOf(atMs),
      meals: [],
      totals: { ...NOTHING, meals: 0, uncounted: 0, unknown, waiting: 0 },
    })
  }
  return days
}

const dayOf = (atMs: number) => new Date(atMs).toISOString().slice(0, 10)

function allowance(): VisionAllowance {
  const resetsAt = new Date(Date.now() + DAY_MS / 2).toISOString()
  return {
    ...{ limit: 50, used: 0, reserved: 0, unknown: 0, resets_at: resetsAt },
    ...{ provider: 'ready', provider_reason: null, provider_until: null },
  }
}

const NO_GOALS: Goals = { goals: NOTHING, start_of_day: '00:00', energy_unit: 'kcal' }
