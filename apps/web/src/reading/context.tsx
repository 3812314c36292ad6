import type { Bookmark, GroupSummary, Me } from '@garner/server/api'
import { createContext, useContext } from 'react'
import type { Links } from './use-links.ts'

export type EditField = 'note' | 'title' | 'url'

/** What every part of the reading screen may need, so that rows need not be handed it one by one. */
export interface Reading {
  me: Me
  group: GroupSummary
  links: Links
  edit(item: Bookmark, field: EditField): void
  showDetails(item: Bookmark): void
  askToDelete(item: Bookmark): void
}

export const ReadingContext = createContext<Reading | null>(null)

export function useReading(): Reading {
  const reading = useContext(ReadingContext)
  if (!reading) throw new Error('useReading: expected a ReadingContext around this component, found none')
  return reading
}
