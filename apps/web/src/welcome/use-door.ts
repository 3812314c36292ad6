import { type FormEvent, useState } from 'react'
import { useGarner } from '../garner.ts'
import { type Failure, failureOf } from '../http/failure.ts'

/** A form at the door: one try at a time, what was typed stays, and who came in is asked for afterwards. */
export function useDoor(enter: () => Promise<void>) {
  const { queries, api } = useGarner()
  const [failure, setFailure] = useState<Failure | null>(null)
  const [busy, setBusy] = useState(false)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (busy) return
    setBusy(true)
    setFailure(null)
    try {
      await enter()
      api.forgetVersions()
      await queries.invalidateQueries({ queryKey: ['me'] })
      await queries.invalidateQueries({ queryKey: ['welcome'] })
    } catch (error) {
      setFailure(failureOf(error))
    } finally {
      setBusy(false)
    }
  }
  return { failure, busy, submit }
}
