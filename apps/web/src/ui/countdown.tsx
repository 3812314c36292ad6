import { useEffect, useEffectEvent, useState } from 'react'
import { useGarner } from '../garner.ts'
import { duration } from '../words/calendar.ts'

/** The time, told again every `everyMs`; components that show ages and waits use it. */
export function useNow(everyMs: number): number {
  const { clock } = useGarner().browser
  const [told, setTold] = useState(() => ({ nowMs: clock.nowMs(), everyMs }))
  // Told rarely until now and often from here on: what was told last may be long past.
  if (told.everyMs !== everyMs) setTold({ nowMs: clock.nowMs(), everyMs })
  useEffect(() => {
    const stop = new AbortController()
    void (async () => {
      for (;;) {
        await clock.sleep(everyMs, stop.signal)
        if (stop.signal.aborted) return
        setTold({ nowMs: clock.nowMs(), everyMs })
      }
    })()
    return () => stop.abort()
  }, [clock, everyMs])
  return told.nowMs
}

/** Seconds until an instant. Not inside a live region: nobody wants a countdown read out. */
export function Countdown({ untilMs }: { untilMs: number }) {
  const nowMs = useNow(500)
  return <span className="num">{duration(untilMs - nowMs)}</span>
}

/** Runs `act` once at `atMs`; null waits for nothing. */
export function useAt(atMs: number | null, act: () => void): void {
  const { clock } = useGarner().browser
  const onTime = useEffectEvent(act)
  useEffect(() => {
    if (atMs === null) return
    const stop = new AbortController()
    void clock.sleep(Math.max(0, atMs - clock.nowMs()), stop.signal).then(() => {
      if (!stop.signal.aborted) onTime()
    })
    return () => stop.abort()
  }, [atMs, clock])
}
