import type { GroupSummary } from '@garner/server/api'
import type { ReactNode } from 'react'
import type { Filter } from '../http/api.ts'
import { Icon } from '../ui/icon.tsx'
import { Link } from '../ui/location.tsx'
import { inWords } from '../words/count.ts'
import './empty.css'

/** Why there are no rows, and the way on. */
export function Empty(props: {
  filter: Filter
  group: GroupSummary
  isAllEmpty: boolean
  onFilter(filter: Filter): void
  onPaste(): void
}) {
  const { filter, group, onFilter } = props
  if (filter.q !== '') {
    return (
      <Card title={`No link matches “${filter.q}”`}>
        <p>Garner looks in titles, notes and sites. Some titles are still on their way.</p>
        <button type="button" className="btn" onClick={() => onFilter({ ...filter, q: '' })}>
          Clear the search
        </button>
      </Card>
    )
  }
  if (!props.isAllEmpty && filter.show === 'unread') {
    return (
      <Card title="All caught up" jar={<FullJar />}>
        <p>
          You have read every link in <bdi>{group.name}</bdi>.
        </p>
        <ShowAll onFilter={onFilter} />
      </Card>
    )
  }
  if (!props.isAllEmpty) {
    return (
      <Card title="None of these are yours" jar={<EmptyJar />}>
        <p>The links in this list were saved by others.</p>
        <ShowAll onFilter={onFilter} />
      </Card>
    )
  }
  return (
    <Card title="Nothing here yet" jar={<EmptyJar />}>
      <p>
        Paste a link in the box and it is saved at once, {forWhom(group)}. The title finds its own way here.
      </p>
      <div className="ways">
        <button type="button" className="card" onClick={props.onPaste}>
          <Icon name="link" />
          Paste one
          <small className="only-wide">Ctrl+V anywhere on this page</small>
          <small className="only-narrow">In the box below</small>
        </button>
        <Link to="/settings#groups" className="card">
          <Icon name="group" />
          Read together<small>Add people to this list</small>
        </Link>
        <Link to="/settings#tokens" className="card">
          <Icon name="key" />
          From a script<small>Make an API token</small>
        </Link>
      </div>
    </Card>
  )
}

function forWhom(group: GroupSummary): string {
  const { length } = group.members
  if (group.personal || length < 2) return 'for you alone'
  return length === 2 ? 'for both of you' : `for all ${inWords(length)} of you`
}

function ShowAll({ onFilter }: { onFilter(filter: Filter): void }) {
  return (
    <button type="button" className="btn" onClick={() => onFilter({ show: 'all', q: '' })}>
      Show all links
    </button>
  )
}

function Card({ title, jar, children }: { title: string; jar?: ReactNode; children: ReactNode }) {
  return (
    <section className="card empty" aria-labelledby="empty-title">
      {jar}
      <h2 id="empty-title" dir="auto">
        {title}
      </h2>
      {children}
    </section>
  )
}

function EmptyJar() {
  return (
    <svg className="big" viewBox="0 0 32 32" aria-hidden="true" fill="none" stroke="currentColor">
      <rect x="9" y="2.5" width="14" height="4.5" rx="2" fill="currentColor" stroke="none" />
      <rect x="5.2" y="9" width="21.6" height="20.5" rx="6" strokeWidth="1.4" />
      <path d="M9.5 24l9-10M15 25.5l8-9M9.5 17.5l3.5-4" strokeLinecap="round" opacity=".45" />
    </svg>
  )
}

function FullJar() {
  return (
    <svg className="big" viewBox="0 0 32 32" aria-hidden="true">
      <rect x="9" y="2.5" width="14" height="4.5" rx="2" fill="currentColor" />
      <rect
        x="5.2"
        y="9"
        width="21.6"
        height="20.5"
        rx="6"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.4"
      />
      <rect x="7.4" y="11.2" width="17.2" height="16.1" rx="4" fill="currentColor" />
    </svg>
  )
}
