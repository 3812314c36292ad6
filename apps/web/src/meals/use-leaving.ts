import { useEffect } from 'react'
import { useGarner } from '../garner.ts'
import { useStore } from '../store.ts'

/**
 * On every screen, the door included: closing the page asks first while photos are not up yet. Those whose times are
 * still being read have no rows and would be lost all the same.
 */
export function useLeaving(): void {
  const { batch } = useGarner()
  const { rows, reading } = useStore(batch.state)
  const wouldLose = reading > 0 || (rows.length > 0 && batch.unsent > 0)
  useEffect(() => {
    if (!wouldLose) return
    const onLeave = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', onLeave)
    return () => removeEventListener('beforeunload', onLeave)
  }, [wouldLose])
}
