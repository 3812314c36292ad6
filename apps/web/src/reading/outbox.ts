import type { Shelf } from '../browser.ts'

/**
 * Links that were saved while nobody answered. Each keeps the idempotency key of its first try, so a save that did
 * arrive, with only its answer lost, is not made twice. On disk: one JSON list per person, written before the row is
 * shown. An item leaves only after a 2xx; one that the server refuses for good stays, with the reason.
 */
export interface KeptLink {
  key: string
  url: string
  note: string
  group: string
  force: boolean
  keptAtMs: number
  /** Why the server will not take it; null while it waits. */
  refused: string | null
}

const shelfKey = (user: string) => `garner.outbox.${user}`

export function readOutbox(shelf: Shelf, user: string): KeptLink[] {
  try {
    const list: unknown = JSON.parse(shelf.read(shelfKey(user)) ?? '[]')
    return Array.isArray(list) ? list.filter(isKept) : []
  } catch {
    return []
  }
}

export function writeOutbox(shelf: Shelf, user: string, links: KeptLink[]): void {
  shelf.write(shelfKey(user), links.length === 0 ? null : JSON.stringify(links))
}

export function keep(links: KeptLink[], link: KeptLink): KeptLink[] {
  return links.some((one) => one.key === link.key) ? links : [...links, link]
}

export function drop(links: KeptLink[], key: string): KeptLink[] {
  return links.filter((link) => link.key !== key)
}

export function refuse(links: KeptLink[], key: string, reason: string): KeptLink[] {
  return links.map((link) => (link.key === key ? { ...link, refused: reason } : link))
}

/** Oldest first: the order in which they were saved. */
export function nextToSend(links: KeptLink[]): KeptLink | null {
  return links.find((link) => link.refused === null) ?? null
}

export function waitingCount(links: KeptLink[]): number {
  return links.filter((link) => link.refused === null).length
}

/** What to do with an item after the server said no. `later` tries the whole outbox again; `ask` waits for a sign-in. */
export function afterRefusal(status: number): 'later' | 'ask' | 'refused' {
  if (status === 401) return 'ask'
  return status === 0 || status === 408 || status === 425 || status === 429 || status >= 500
    ? 'later'
    : 'refused'
}

function isKept(value: unknown): value is KeptLink {
  const link = value as KeptLink | null
  return (
    typeof link === 'object' &&
    link !== null &&
    typeof link.key === 'string' &&
    typeof link.url === 'string' &&
    typeof link.note === 'string' &&
    typeof link.group === 'string' &&
    (link.refused === null || typeof link.refused === 'string')
  )
}
