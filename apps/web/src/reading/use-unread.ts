import type { GroupSummary } from '@garner/server/api'
import { useQueryClient } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import type { ListView } from './list.ts'

/** How many links one has not read in this group: as its list says where it is open, else as the groups do. */
export function useUnread(group: GroupSummary | null): number {
  const queries = useQueryClient()
  const cache = queries.getQueryCache()
  return useSyncExternalStore(
    (listener) => cache.subscribe(listener),
    () => {
      if (group === null) return 0
      const open = cache.findAll({ queryKey: ['list', group.id], type: 'active' })[0]
      return (open?.state.data as ListView | undefined)?.counts.unread ?? group.unread
    },
  )
}
