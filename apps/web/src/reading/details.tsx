import type { Bookmark, BookmarkDetail } from '@garner/server/api'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useId, useState } from 'react'
import { useGarner } from '../garner.ts'
import { failureOf } from '../http/failure.ts'
import { useStore } from '../store.ts'
import { useNow } from '../ui/countdown.tsx'
import { Icon } from '../ui/icon.tsx'
import { Pip } from '../ui/person.tsx'
import { onDay } from '../words/calendar.ts'
import { useReading } from './context.tsx'
import { changesIn, draftOf } from './drafts.ts'
import { LinkName } from './link-name.tsx'
import { mayEdit } from './rights.ts'
import { Steps } from './steps.tsx'
import './details.css'

/** Everything about one link: how its title came or did not, the note, who has read it. */
export function Details(props: {
  id: string
  known: Bookmark | undefined
  titleId: string
  onClose(): void
}) {
  const { id, known, titleId, onClose } = props
  const { api } = useGarner()
  const query = useQuery({ queryKey: ['bookmark', id], queryFn: ({ signal }) => api.bookmark(id, signal) })
  const item = known ?? query.data
  const isGone = query.error !== null && failureOf(query.error).status === 404

  useEffect(() => {
    if (isGone) onClose()
  }, [isGone, onClose])

  return (
    <>
      <header>
        <h2 id={titleId}>{item ? <LinkName item={item} /> : 'One moment'}</h2>
        <button type="button" className="icon-btn" aria-label="Close details" onClick={onClose}>
          <Icon name="x" />
        </button>
        {item && <SavedBy item={item} />}
      </header>
      {item && <TitleSection item={item} detail={query.data} />}
      {item && <NoteSection item={item} />}
      {item && <ReadersSection item={item} />}
    </>
  )
}

function SavedBy({ item }: { item: Bookmark }) {
  const { me } = useReading()
  const nowMs = useNow(30_000)
  return (
    <p className="small quiet">
      <bdi>{item.owner.id === me.id ? 'You' : item.owner.name}</bdi> saved it{' '}
      {onDay(Date.parse(item.saved_at), { nowMs })}
    </p>
  )
}

function TitleSection({ item, detail }: { item: Bookmark; detail: BookmarkDetail | undefined }) {
  const { links, me, edit } = useReading()
  return (
    <section>
      <h3>The title</h3>
      <Steps item={item} job={detail?.job ?? null} />
      <div className="buttons">
        {item.title_status !== 'pending' && (
          <button type="button" className="btn soft" onClick={() => links.lookAgain(item)}>
            <Icon name="retry" />
            {item.title_status === 'ready' ? 'Look again' : 'Try again'}
          </button>
        )}
        {mayEdit(item, me) && (
          <button type="button" className="btn quiet" onClick={() => edit(item, 'title')}>
            <Icon name="pencil" />
            Write a title
          </button>
        )}
      </div>
    </section>
  )
}

function NoteSection({ item }: { item: Bookmark }) {
  const { me, links } = useReading()
  const { drafts } = useGarner()
  const id = useId()
  const kept = useStore(drafts.all)[item.id]
  const [problem, setProblem] = useState<string | null>(null)
  if (!mayEdit(item, me)) {
    return item.note === '' ? null : (
      <section>
        <h3>Note for everyone</h3>
        <p dir="auto" className="note-text">
          {item.note}
        </p>
      </section>
    )
  }
  const draft = kept ?? draftOf(item)
  const isChanged = kept !== undefined && !kept.conflict && changesIn(kept, item) !== null
  const save = async () => setProblem((await links.saveDraft(item, draft)).problem)
  return (
    <section className="field">
      <label htmlFor={id}>Note for everyone</label>
      <textarea
        id={id}
        className="input"
        dir="auto"
        maxLength={2000}
        placeholder="Why is it worth reading?"
        value={draft.note}
        onChange={(event) => {
          const next = { ...draft, note: event.target.value }
          drafts.set(item.id, next.conflict || changesIn(next, item) ? next : null)
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void save()
        }}
      />
      {problem && (
        <p className="error" role="alert">
          <Icon name="alert" />
          {problem}
        </p>
      )}
      {isChanged && (
        <div className="buttons">
          <button type="button" className="btn primary tight" onClick={() => void save()}>
            Save the note
          </button>
          <button type="button" className="btn quiet tight" onClick={() => drafts.set(item.id, null)}>
            Discard
          </button>
        </div>
      )}
    </section>
  )
}

function ReadersSection({ item }: { item: Bookmark }) {
  const { group, me } = useReading()
  if (group.personal || group.members.length < 2) return null
  const hasRead = (id: string) =>
    item.read_by.some((reader) => reader.id === id) || (id === me.id && item.is_read)
  const members = group.members.toSorted((a, b) => Number(hasRead(b.id)) - Number(hasRead(a.id)))
  const readers = members.filter((member) => hasRead(member.id)).length
  return (
    <section>
      <h3>
        Read by {readers} of {members.length}
      </h3>
      <p className="readers">
        {members.map((member) => (
          <span key={member.id}>
            <Pip
              person={member}
              kind={hasRead(member.id) ? '' : 'hollow'}
              title={hasRead(member.id) ? member.name : `${member.name}: not yet, or not shown`}
            />
            <bdi>{member.id === me.id ? 'You' : member.name}</bdi>
            {!hasRead(member.id) && <span className="visually-hidden"> (not yet, or not shown)</span>}
          </span>
        ))}
      </p>
      <p className="xs quiet">Others are counted where they chose to show it.</p>
    </section>
  )
}
