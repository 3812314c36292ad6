import { useEffect } from 'react'
import { useGarner } from '../garner.ts'
import { useStore } from '../store.ts'

/** On every screen: closing the page with photos that are not up yet asks first. */
export function useLeaving(): void {
  const { batch } = useGarner()
  const { rows } = useStore(batch.state)
  const isUnsent = rows.length > 0 && batch.unsent > 0
  useEffect(() => {
    if (!isUnsent) return
    const onLeave = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', onLeave)
    return () => removeEventListener('beforeunload', onLeave)
  }, [isUnsent])
}
