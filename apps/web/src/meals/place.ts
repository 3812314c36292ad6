import { isDay } from '../words/local-day.ts'

/** What is open over a day. It stands in the address, so that Back closes it and a link can point to it. */
export type Open = { is: 'add' } | { is: 'write' } | { is: 'keys' } | { is: 'meal'; id: string }

export function mealsPath(day: string, open?: Open): string {
  if (open === undefined) return `/meals/${day}`
  if (open.is === 'meal') return `/meals/${day}?meal=${encodeURIComponent(open.id)}`
  return `/meals/${day}?open=${open.is}`
}

export function openIn(place: URL): Open | null {
  const id = place.searchParams.get('meal')
  if (id) return { is: 'meal', id }
  const open = place.searchParams.get('open')
  return open === 'add' || open === 'write' || open === 'keys' ? { is: open } : null
}

/** Null for `/meals` alone, and for a day that the calendar does not have. */
export function dayIn(place: URL): string | null {
  const day = /^\/meals\/([^/]+)$/.exec(place.pathname)?.[1]
  return day !== undefined && isDay(day) ? day : null
}
