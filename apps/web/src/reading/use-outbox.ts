import type { Me } from '@garner/server/api'
import { useEffect } from 'react'
import { useGarner } from '../garner.ts'
import { addOwn } from './list.ts'
import { editLists } from './use-list.ts'

/** Sends what was kept on this device: at the start, when the network comes back, and when the page is looked at. */
export function useOutbox(me: Me): void {
  const { outbox, online, queries, notice } = useGarner()
  useEffect(() => {
    outbox.open(me.id, (saved) => {
      const { duplicate, ...item } = saved
      if (duplicate) {
        notice.say('A link that was kept on this device was already in the list.')
        return
      }
      editLists(queries, item.group, (view, filter) => (filter.q === '' ? addOwn(view, item) : view))
      void queries.invalidateQueries({ queryKey: ['groups'] })
      notice.say('Back online. A link that was kept on this device is saved.')
    })
    const drain = () => void outbox.drain()
    const onOnline = () => {
      online.set(true)
      drain()
      void queries.invalidateQueries()
    }
    const onOffline = () => online.set(false)
    const onStorage = () => outbox.reload()
    // Somebody answered again, though the browser never lost its network.
    const stop = online.subscribe(() => online.get() && drain())
    drain()
    addEventListener('online', onOnline)
    addEventListener('offline', onOffline)
    addEventListener('focus', drain)
    addEventListener('storage', onStorage)
    return () => {
      stop()
      removeEventListener('online', onOnline)
      removeEventListener('offline', onOffline)
      removeEventListener('focus', drain)
      removeEventListener('storage', onStorage)
      outbox.open(null, () => {})
    }
  }, [me.id, outbox, online, queries, notice])
}
