import type { Bookmark, BookmarkDetail } from '@garner/server/api'
import type { CSSProperties } from 'react'
import { clockTime, clockTimeWithSeconds } from '../words/calendar.ts'
import { attemptWords } from '../words/title.ts'

type Job = NonNullable<BookmarkDetail['job']>

/** The way of a title, oldest first: saved, every try with its end, what comes next. */
export function Steps({ item, job }: { item: Bookmark; job: Job | null }) {
  const hasEnded = job !== null && ['dead', 'degraded', 'cancelled'].includes(job.state)
  return (
    <ol className="steps">
      <li>
        <span>Saved</span>
        <Time at={item.saved_at} />
        <small>Link and title job kept in one step</small>
      </li>
      {job?.attempts.map((attempt, i) => {
        const at = attempt.ended_at ?? attempt.started_at
        const ms =
          attempt.ended_at === null ? null : Date.parse(attempt.ended_at) - Date.parse(attempt.started_at)
        const isLast = i === job.attempts.length - 1
        return (
          <li
            key={`${attempt.attempt} ${attempt.started_at}`}
            style={fill(attempt.outcome, isLast && hasEnded)}
          >
            <span>{attemptWords({ outcome: attempt.outcome, error: attempt.error, ms })}</span>
            <Time at={at} />
            <small>
              Try {attempt.attempt} of {Math.max(job.attempts_max, attempt.attempt)}
              {isLast && hasEnded ? '. Garner stopped here.' : ''}
            </small>
          </li>
        )
      })}
      {item.title_source === 'hand' && item.title_by && (
        <li>
          <span>
            Title by <bdi>{item.title_by.name}</bdi>
          </span>
          <small>Written by hand: what the site says does not replace it</small>
        </li>
      )}
      {item.title_status === 'pending' && (
        <li className="next">
          <span>
            {job?.next_try_at ? `Next try at ${clockTime(Date.parse(job.next_try_at))}` : 'Title on its way'}
          </span>
        </li>
      )}
    </ol>
  )
}

function Time({ at }: { at: string }) {
  return <time dateTime={at}>{clockTimeWithSeconds(Date.parse(at))}</time>
}

function fill(outcome: string | null, isEnd: boolean): CSSProperties | undefined {
  if (outcome === 'succeeded' || outcome === null || outcome === 'superseded') return undefined
  return { '--fill': isEnd ? 'var(--bad)' : 'var(--warn)' } as CSSProperties
}
