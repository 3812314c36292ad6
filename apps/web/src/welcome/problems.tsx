import { useEffect, useRef } from 'react'
import type { Failure } from '../http/failure.ts'
import { Banner } from '../ui/banner.tsx'
import { duration } from '../words/calendar.ts'

/** What went wrong at the door, for a person: mostly the server's own sentence. */
export function doorWords(failure: Failure, doing: 'in' | 'up'): string {
  if (failure.isUnreachable) return 'Garner does not answer at the moment. Nothing is lost; try again.'
  if (failure.status === 429) {
    return `Too many tries. You can try again in ${duration(failure.retryAfterMs ?? 30_000)}.`
  }
  if (failure.status === 503) return 'Busy right now. Try again in a moment.'
  if (doing === 'in' && failure.status === 401) return 'That email and password do not go together.'
  return failure.detail || 'That did not work. Try again.'
}

export function DoorProblem({ words, isWait }: { words: string; isWait: boolean }) {
  const ref = useRef<HTMLDivElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: every new problem comes into view
  useEffect(() => {
    // In braces: newer browsers answer a promise, which is no clean-up.
    ref.current?.scrollIntoView({ block: 'nearest' })
  }, [words])
  return (
    <div ref={ref}>
      <Banner tone={isWait ? 'warn' : 'bad'} icon={isWait ? 'clock' : 'alert'} role="alert">
        {words}
      </Banner>
    </div>
  )
}
