import type { Bookmark } from '@garner/server/api'
import type { Shelf } from '../browser.ts'
import { createStore, type Store } from '../store.ts'

/**
 * What somebody has written about a link and not saved yet. A draft outlives its sheet, a conflict, a reload and a
 * sign-out; it ends when it is saved or given up on purpose. One entry per link, kept in this tab.
 */
export interface Draft extends Written {
  /** The version that the writing began from, and what stood there. */
  version: number
  base: Written
  /** The item as it was found when saving was refused; null while there is no conflict. */
  conflict: Bookmark | null
}

/** What a person can write about a link. An empty title is the site's own. */
export interface Written {
  note: string
  title: string
  url: string
}

export const FIELDS = ['note', 'title', 'url'] as const
export type Field = (typeof FIELDS)[number]

const KEY = 'garner.drafts'

export class Drafts {
  readonly all: Store<Record<string, Draft>>

  constructor(shelf: Shelf) {
    this.all = createStore(read(shelf))
    this.all.subscribe(() => {
      const drafts = this.all.get()
      shelf.write(KEY, Object.keys(drafts).length === 0 ? null : JSON.stringify(drafts))
    })
  }

  set(id: string, draft: Draft | null): void {
    this.all.set((before) => {
      const after = { ...before }
      if (draft) after[id] = draft
      else delete after[id]
      return after
    })
  }
}

export function writtenIn(item: Bookmark): Written {
  const title = item.title_source === 'hand' ? (item.title ?? '') : ''
  return { note: item.note, title, url: item.url }
}

export function draftOf(item: Bookmark): Draft {
  const base = writtenIn(item)
  return { ...base, version: item.version, base, conflict: null }
}

/** What the writer changed and the item does not have yet; nothing else is sent, so nothing else can be undone. */
export function changesIn(draft: Draft, item: Bookmark): Partial<Written> | null {
  const now = writtenIn(item)
  const changes: Partial<Written> = {}
  for (const field of FIELDS) {
    const value = field === 'note' ? draft.note : draft[field].trim()
    if (value !== draft.base[field] && value !== now[field]) changes[field] = value
  }
  return Object.keys(changes).length === 0 ? null : changes
}

/** The changed fields that somebody else changed too. Without any, both changes can stand. */
export function collisions(draft: Draft, current: Bookmark): Field[] {
  const now = writtenIn(current)
  const changes = changesIn(draft, current) ?? {}
  return FIELDS.filter((field) => changes[field] !== undefined && now[field] !== draft.base[field])
}

function read(shelf: Shelf): Record<string, Draft> {
  try {
    const drafts: unknown = JSON.parse(shelf.read(KEY) ?? '{}')
    if (typeof drafts !== 'object' || drafts === null) return {}
    const isDraft = ([, draft]: [string, Draft]) => typeof draft?.base?.note === 'string'
    return Object.fromEntries(Object.entries(drafts as Record<string, Draft>).filter(isDraft))
  } catch {
    return {}
  }
}
