import type { GroupSummary } from '@garner/server/api'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useGarner } from '../garner.ts'
import { useStore } from '../store.ts'
import { Countdown, useAt } from '../ui/countdown.tsx'
import { Icon } from '../ui/icon.tsx'
import { Link } from '../ui/location.tsx'

/** Out of a group, or in none: what was on the screen is gone, and the way to another list is here. */
export function NoGroup(props: {
  outOf: string | null
  name: string | null
  groups: GroupSummary[]
  onNew(): void
}) {
  const { outOf, name, groups } = props
  const queries = useQueryClient()
  useEffect(() => {
    if (outOf !== null) queries.removeQueries({ queryKey: ['list', outOf] })
  }, [outOf, queries])
  return (
    <section className="card empty" aria-labelledby="no-group">
      <h1 id="no-group">{outOf === null ? 'You are in no group yet' : 'This list is closed to you'}</h1>
      {outOf === null ? (
        <p>Make one, or ask somebody to add you to theirs. It then appears here by itself.</p>
      ) : (
        <p>
          You are no longer in <bdi>{name ?? 'this group'}</bdi>. Ask one of its members if that is a mistake.
        </p>
      )}
      <div className="buttons">
        {groups.map((group) => (
          <Link key={group.id} className="btn" to={`/reading/${encodeURIComponent(group.id)}`}>
            <Icon name={group.personal ? 'user' : 'group'} />
            <bdi>{group.name}</bdi>
          </Link>
        ))}
        <button type="button" className="btn soft" onClick={props.onNew}>
          <Icon name="plus" />
          New group
        </button>
      </div>
    </section>
  )
}

/** The groups themselves could not be read. */
export function GroupsUnreachable({ again, untilMs }: { again(): void; untilMs: number | null }) {
  const isOnline = useStore(useGarner().online)
  useAt(untilMs, again)
  return (
    <section className="card empty" aria-labelledby="unreachable">
      <h1 id="unreachable">{isOnline ? 'Busy right now' : 'Garner does not answer'}</h1>
      <p>
        Nothing is lost. This page tries again by itself
        {untilMs !== null && (
          <>
            {' '}
            in <Countdown untilMs={untilMs} />
          </>
        )}
        .
      </p>
      <button type="button" className="btn" onClick={again}>
        Try now
      </button>
    </section>
  )
}
