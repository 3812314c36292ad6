import { useEffect } from 'react'
import { useGarner } from '../garner.ts'
import { useStore } from '../store.ts'
import { Banner } from '../ui/banner.tsx'
import { Countdown, useNow } from '../ui/countdown.tsx'
import { clockTimeWithSeconds, duration } from '../words/calendar.ts'
import { waitingCount } from './outbox.ts'
import { Ring } from './ring.tsx'
import type { ListHook } from './use-list.ts'

/** What stands between this page and the list as it is now: at most one banner of each kind. */
export function Banners({ list }: { list: ListHook }) {
  const { notice, online } = useGarner()
  const isOnline = useStore(online)
  const { trouble, view, tryNow } = list
  const isBusy = trouble !== null && !trouble.failure.isUnreachable && trouble.nextTryMs !== null

  useEffect(() => {
    if (!isOnline) notice.say('No network. What you save now goes up later.')
  }, [isOnline, notice])
  useEffect(() => {
    if (isBusy) notice.say('The list cannot be read at the moment. Garner asks again by itself.')
  }, [isBusy, notice])

  return (
    <div className="stack">
      {!isOnline && <OfflineBanner list={list} />}
      {isBusy && (
        <div className="banner warn">
          <Ring />
          <p>
            <strong>
              Busy right now, trying again
              {trouble.nextTryMs !== null && (
                <>
                  {' '}
                  in <Countdown untilMs={trouble.nextTryMs} />
                </>
              )}
              .
            </strong>{' '}
            {view && 'Below is what you saw last. '}Saving still works.
          </p>
          <button type="button" className="btn tight quiet" onClick={tryNow}>
            Try now
          </button>
        </div>
      )}
      {!isBusy && isOnline && view?.staleSinceMs != null && <StaleBanner sinceMs={view.staleSinceMs} />}
    </div>
  )
}

function OfflineBanner({ list }: { list: ListHook }) {
  const { outbox } = useGarner()
  const waiting = waitingCount(useStore(outbox.links))
  const hasNetwork = navigator.onLine
  return (
    <Banner
      tone="info"
      icon="offline"
      action={
        hasNetwork && (
          <button
            type="button"
            className="btn tight quiet"
            onClick={() => {
              list.tryNow()
              void outbox.drain()
            }}
          >
            Try now
          </button>
        )
      }
    >
      <strong>{hasNetwork ? 'Garner does not answer.' : 'You are offline.'}</strong> Links you save are kept
      on this device and go up by themselves.{' '}
      {waiting > 0 && (
        <span className="nowrap">{waiting === 1 ? '1 is waiting.' : `${waiting} are waiting.`}</span>
      )}
    </Banner>
  )
}

function StaleBanner({ sinceMs }: { sinceMs: number }) {
  const nowMs = useNow(1_000)
  return (
    <Banner tone="accent" icon="clock">
      You are seeing the list from <span className="num">{clockTimeWithSeconds(sinceMs)}</span>,{' '}
      <span className="num">{duration(nowMs - sinceMs)}</span> ago. It catches up by itself.
    </Banner>
  )
}
