import type { Bookmark } from '@garner/server/api'
import { memo, type Ref, useEffect, useRef } from 'react'
import { Icon } from '../ui/icon.tsx'
import { Pip, Pips, SiteTile } from '../ui/person.tsx'
import { when } from '../words/calendar.ts'
import { hostOf, safeHref } from '../words/link.ts'
import { titleState } from '../words/title.ts'
import { Conflict } from './conflict.tsx'
import { useReading } from './context.tsx'
import { hasOnlyAddress, LinkName, nameOf } from './link-name.tsx'
import { ReadMark } from './read-mark.tsx'
import { mayEdit } from './rights.ts'
import { RowMenu } from './row-menu.tsx'
import { TitleLine } from './title-line.tsx'
import './rows.css'

interface RowProps {
  item: Bookmark
  nowMs: number
  index: number
  /** Where it stands under its heading, from 1, and how many stand there. */
  place: number
  placesTotal: number
  isCurrent: boolean
  isFlashing: boolean
  /** Asked for by a key: the link takes the focus as soon as it is there. */
  wantsFocus: boolean
  onFocused(): void
  measure: Ref<HTMLLIElement>
}

export const Row = memo(function Row(props: RowProps) {
  const { item, wantsFocus, onFocused } = props
  const { me, links, edit, showDetails } = useReading()
  const link = useRef<HTMLAnchorElement>(null)
  const state = titleState(item)
  const href = safeHref(item.url)
  const opened = () => {
    if (!item.is_read) links.setRead(item, true)
  }

  useEffect(() => {
    if (!wantsFocus) return
    link.current?.focus({ preventScroll: true })
    onFocused()
  }, [wantsFocus, onFocused])

  const kind = [
    'row',
    item.title_status,
    item.is_read ? 'read' : '',
    props.isFlashing ? 'flash' : '',
    props.place === 1 ? 'first' : '',
    props.place === props.placesTotal ? 'last' : '',
  ]
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a larger target for the pointer; the key i and the menu do the same
    <li
      ref={props.measure}
      data-index={props.index}
      data-link={item.id}
      className={kind.filter(Boolean).join(' ')}
      aria-current={props.isCurrent || undefined}
      aria-posinset={props.place}
      aria-setsize={props.placesTotal}
      onClick={(event) => {
        const target = event.target as HTMLElement
        const isSelecting = getSelection()?.isCollapsed === false
        if (!isSelecting && !target.closest('a, button, input, textarea, form, [popover]')) showDetails(item)
      }}
    >
      <ReadMark item={item} />
      <SiteTile url={item.url} />
      <div className="what">
        <h3>
          {href === null ? (
            <LinkName item={item} />
          ) : (
            <a
              ref={link}
              href={href}
              target="_blank"
              rel="noopener noreferrer"
              onClick={opened}
              onAuxClick={(event) => event.button === 1 && opened()}
            >
              <LinkName item={item} />
            </a>
          )}
        </h3>
        {!hasOnlyAddress(item) && (
          <p className="where">
            <bdi>{hostOf(item.url)}</bdi>
            {item.title_source === 'hand' && item.title_by && (
              <>
                {' '}
                · title by <bdi>{item.title_by.id === me.id ? 'you' : item.title_by.name}</bdi>
              </>
            )}
          </p>
        )}
        {state && <TitleLine state={state} />}
        {item.note && (
          <p className="note">
            <Icon name="note" />
            <span dir="auto">{item.note}</span>
          </p>
        )}
        <Meta item={item} nowMs={props.nowMs} />
      </div>
      <div className="act">
        {state?.actions.includes('write') && mayEdit(item, me) && (
          <button type="button" className="btn tight quiet" onClick={() => edit(item, 'title')}>
            <Icon name="pencil" />
            Write a title
          </button>
        )}
        {state?.actions.includes('again') && (
          <button
            type="button"
            className="btn tight soft"
            aria-label={`Try again: ${nameOf(item)}`}
            onClick={() => links.lookAgain(item)}
          >
            <Icon name="retry" />
            Try again
          </button>
        )}
        <RowMenu item={item} />
      </div>
      <Conflict item={item} />
    </li>
  )
})

function Meta({ item, nowMs }: { item: Bookmark; nowMs: number }) {
  const { me, group } = useReading()
  const savedAt = Date.parse(item.saved_at)
  const readers = item.read_by.filter((reader) => group.members.some((member) => member.id === reader.id))
  const isEveryone = group.members.length > 1 && readers.length === group.members.length
  return (
    <p className="meta">
      <Pip person={item.owner} />
      <bdi>{item.owner.id === me.id ? 'You' : item.owner.name}</bdi>
      <time dateTime={item.saved_at} title={new Date(savedAt).toLocaleString('en-GB')}>
        {when(savedAt, { nowMs })}
      </time>
      {isEveryone && <span className="by">read by everyone</span>}
      {!isEveryone && item.read_by.length > 0 && !group.personal && (
        <>
          <span className="by" aria-hidden="true">
            read by
          </span>
          <Pips people={item.read_by} what="Read by" />
        </>
      )}
    </p>
  )
}
