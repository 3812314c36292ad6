import type { Bookmark, Me } from '@garner/server/api'
import { useEffect, useRef } from 'react'
import { useGarner } from '../garner.ts'
import { nameOf } from './link-name.tsx'

/** Tells a screen reader when a title arrives that one was waiting for: one's own links, on this page. */
export function useTitleNews(items: Bookmark[], me: Me): void {
  const { notice } = useGarner()
  const waiting = useRef(new Set<string>())
  useEffect(() => {
    for (const item of items) {
      if (item.owner.id !== me.id) continue
      if (item.title_status === 'pending') waiting.current.add(item.id)
      else if (waiting.current.delete(item.id) && item.title_status === 'ready') {
        notice.say(`Title found: ${nameOf(item)}`)
      }
    }
  }, [items, me.id, notice])
}
