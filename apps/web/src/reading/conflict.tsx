import type { Bookmark } from '@garner/server/api'
import { useId, useRef, useState } from 'react'
import { useGarner } from '../garner.ts'
import { useStore } from '../store.ts'
import { Icon } from '../ui/icon.tsx'
import { clockTime } from '../words/calendar.ts'
import { bothTogether, changedWords } from '../words/diff.ts'
import { useReading } from './context.tsx'
import { changesIn, type Draft, type Field, writtenIn } from './drafts.ts'
import { mayEdit } from './rights.ts'
import '../ui/conflict.css'

const WORDS: Record<Field, string> = { note: 'note', title: 'title', url: 'link' }

/** Two versions of one thing: nothing is chosen for anybody, and the draft stays until its writer chooses. */
export function Conflict({ item }: { item: Bookmark }) {
  const draft = useStore(useGarner().drafts.all)[item.id]
  const { me } = useReading()
  // Somebody else may have signed in on this tab since: a draft is its writer's alone.
  if (!draft?.conflict || !mayEdit(item, me)) return null
  return <ConflictForm item={item} draft={draft} current={draft.conflict} />
}

function ConflictForm({ item, draft, current }: { item: Bookmark; draft: Draft; current: Bookmark }) {
  const { drafts } = useGarner()
  const { me, links } = useReading()
  const id = useId()
  const first = useRef<HTMLTextAreaElement>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const theirs = writtenIn(current)
  const fields = Object.keys(changesIn(draft, current) ?? {}) as Field[]
  const isMine = current.edited_by === null || current.edited_by.id === me.id
  const who = isMine ? 'You' : (current.edited_by?.name ?? '')
  const what = fields.length === 1 && fields[0] ? WORDS[fields[0]] : 'link'
  const at = current.edited_at === null ? '' : ` at ${clockTime(Date.parse(current.edited_at))}`
  const change = (field: Field, value: string) => drafts.set(item.id, { ...draft, [field]: value })

  return (
    <form
      className="conflict"
      aria-label={`Two versions of the ${what}`}
      onSubmit={async (event) => {
        event.preventDefault()
        setProblem((await links.saveDraft(current, draft)).problem)
      }}
    >
      <p className="state warn" role="status">
        <Icon name="alert" />
        <span>
          <strong>
            <bdi>{who}</bdi> changed this {what}
            {at}
            {isMine ? ' somewhere else' : ''}, while you were writing.
          </strong>{' '}
          Nothing is lost: your draft is kept until you choose.
        </span>
      </p>
      {(fields.length === 0 ? (['note'] as Field[]) : fields).map((field, i) => (
        <div className="two" key={field}>
          <div>
            <span className="label">
              In the list now
              {!isMine && (
                <>
                  , by <bdi>{who}</bdi>
                </>
              )}
            </span>
            <blockquote dir="auto">
              {changedWords(theirs[field], draft[field]).map((piece, n) =>
                // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text have no other name
                piece.changed ? <mark key={n}>{piece.text}</mark> : piece.text,
              )}
            </blockquote>
          </div>
          <div>
            <label className="label" htmlFor={`${id}-${field}`}>
              Your draft
            </label>
            <textarea
              ref={i === 0 ? first : undefined}
              id={`${id}-${field}`}
              className="input"
              dir="auto"
              maxLength={2000}
              value={draft[field]}
              onChange={(event) => change(field, event.target.value)}
            />
          </div>
        </div>
      ))}
      {problem && (
        <p className="error" role="alert">
          <Icon name="alert" />
          {problem}
        </p>
      )}
      <div className="buttons">
        <button type="submit" className="btn primary">
          Save my draft
        </button>
        {fields.includes('note') && (
          <button
            type="button"
            className="btn"
            onClick={() => {
              change('note', bothTogether(theirs.note, draft.note).slice(0, 2000))
              first.current?.focus()
            }}
          >
            Put both together
          </button>
        )}
        <button type="button" className="btn quiet" onClick={() => drafts.set(item.id, null)}>
          {isMine ? 'Keep the one in the list' : `Keep ${who}’s`}
        </button>
      </div>
    </form>
  )
}
