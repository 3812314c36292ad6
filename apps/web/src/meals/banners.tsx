import type { UseQueryResult } from '@tanstack/react-query'
import { useGarner } from '../garner.ts'
import { failureOf } from '../http/failure.ts'
import { useStore } from '../store.ts'
import { Banner } from '../ui/banner.tsx'
import { Link } from '../ui/location.tsx'
import { clockTime } from '../words/calendar.ts'
import type { Day, VisionAllowance } from './contract.ts'
import { useAllowance } from './queries.ts'

/** What stands between this page and the diary as it is, or between photos and their estimates. */
export function MealsBanners({ days }: { days: UseQueryResult<Day[]> }) {
  const { batch, online } = useGarner()
  const isOnline = useStore(online)
  const { rows } = useStore(batch.state)
  const allowance = useAllowance().data
  const refused = days.failureReason ? failureOf(days.failureReason) : null
  const isBusy = isOnline && refused !== null && !refused.isUnreachable
  const unsent = rows.length > 0 ? batch.unsent : 0
  if (isOnline && !isBusy && (!allowance || allowance.provider === 'ready')) return null
  return (
    <div className="stack">
      {!isOnline && (
        <Banner tone="info" icon="offline">
          <strong>{navigator.onLine ? 'Garner does not answer.' : 'You are offline.'}</strong> Photos you pick
          stay on this page and go up by themselves when it is back.{' '}
          {unsent > 0 && (
            <span className="nowrap">{unsent === 1 ? '1 is waiting.' : `${unsent} are waiting.`}</span>
          )}
        </Banner>
      )}
      {isBusy && (
        <Banner
          tone="warn"
          icon="clock"
          role="status"
          action={
            <button type="button" className="btn tight quiet" onClick={() => void days.refetch()}>
              Try now
            </button>
          }
        >
          <strong>Busy right now, trying again by itself.</strong>{' '}
          {days.data && 'Below is what you saw last.'}
        </Banner>
      )}
      {allowance?.provider === 'none' && (
        <Banner
          tone="info"
          icon="info"
          action={
            <Link className="btn tight quiet" to="/settings#estimates">
              Set one up
            </Link>
          }
        >
          <strong>No vision provider is set up.</strong> Photos are logged with their time; you can describe
          meals yourself.
        </Banner>
      )}
      {allowance?.provider === 'parked' && (
        <Banner tone="warn" icon="alert">
          <strong>{parkedWords(allowance)}</strong> Photos are safe and wait; you can describe meals yourself.
        </Banner>
      )}
    </div>
  )
}

export function parkedWords({ provider_reason: reason, provider_until: until }: VisionAllowance): string {
  const again = until === null ? '' : ` Garner asks it again at ${clockTime(Date.parse(until))}.`
  if (reason === 'quota_exceeded') return `The vision provider’s quota is used up.${again}`
  if (reason === 'key_refused') return `The vision provider refuses Garner’s key.${again}`
  if (reason === 'model_not_found') return `The vision provider does not know the model.${again}`
  return `The vision provider is not asked at the moment.${again}`
}
