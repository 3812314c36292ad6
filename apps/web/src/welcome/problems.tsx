import { useEffect, useRef } from 'react'
import type { Failure } from '../http/failure.ts'
import { Banner } from '../ui/banner.tsx'
import { duration } from '../words/calendar.ts'
import { PASSWORD_MIN } from './fields.tsx'

/** What went wrong at the door, for a person. The codes are Better Auth's. */
export function doorWords(failure: Failure, doing: 'in' | 'up'): string {
  if (failure.isUnreachable) return 'Garner does not answer at the moment. Nothing is lost; try again.'
  if (failure.status === 429) {
    return `Too many tries. You can try again in ${duration(failure.retryAfterMs ?? 30_000)}.`
  }
  if (failure.status === 503) return 'Busy right now. Try again in a moment.'
  if (/USER_ALREADY_EXISTS/.test(failure.type))
    return 'There is an account with that email already. Sign in instead.'
  if (/PASSWORD_TOO_SHORT/.test(failure.type)) return `The password needs ${PASSWORD_MIN} characters or more.`
  if (/PASSWORD_TOO_LONG/.test(failure.type)) return 'The password is too long.'
  if (/INVALID_EMAIL$/.test(failure.type)) return 'That is not an email address.'
  if (doing === 'in' && [400, 401, 403, 422].includes(failure.status)) {
    return 'That email and password do not go together.'
  }
  return failure.detail || 'That did not work. Try again.'
}

export function DoorProblem({ words, isWait }: { words: string; isWait: boolean }) {
  const ref = useRef<HTMLDivElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: every new problem comes into view
  useEffect(() => ref.current?.scrollIntoView({ block: 'nearest' }), [words])
  return (
    <div ref={ref}>
      <Banner tone={isWait ? 'warn' : 'bad'} icon={isWait ? 'clock' : 'alert'} role="alert">
        {words}
      </Banner>
    </div>
  )
}
