import type { Bookmark, GroupSummary, Me } from '@garner/server/api'
import { useCallback, useEffect, useId, useMemo, useRef, useState } from 'react'
import { useGarner } from '../garner.ts'
import type { Filter } from '../http/api.ts'
import { Dialog } from '../ui/dialog.tsx'
import { isField, useKeys } from '../ui/keys.ts'
import { KeysSheet, type KeyWords } from '../ui/keys-sheet.tsx'
import { go, usePlace } from '../ui/location.tsx'
import { useWide } from '../ui/media.ts'
import { linkIn } from '../words/link.ts'
import { Banners } from './banners.tsx'
import { type EditField, type Reading, ReadingContext } from './context.tsx'
import { DeleteSheet } from './delete-sheet.tsx'
import { Details } from './details.tsx'
import { EditSheet } from './edit-sheet.tsx'
import { Empty } from './empty.tsx'
import { FilterBar } from './filter-bar.tsx'
import { KeptRows } from './kept-rows.tsx'
import { LinkList, type LinkListHandle } from './link-list.tsx'
import { showArrivals } from './list.ts'
import { ListEnd } from './list-end.tsx'
import { NewGroup } from './new-group.tsx'
import { ReadingHead } from './reading-head.tsx'
import { mayEdit } from './rights.ts'
import { SaveBox } from './save-box.tsx'
import { useLinks } from './use-links.ts'
import { editLists, useList } from './use-list.ts'
import { useSave } from './use-save.ts'
import { useTitleNews } from './use-title-news.ts'
import { WaitingRows } from './waiting-rows.tsx'
import './reading.css'

type Sheet =
  | { kind: 'edit'; item: Bookmark; field: EditField }
  | { kind: 'delete'; item: Bookmark }
  | { kind: 'keys' }
  | { kind: 'group' }

const NONE: Bookmark[] = []

const KEYS: readonly KeyWords[] = [
  [['/'], 'Go to the save box'],
  [['Ctrl', 'V'], 'Save the copied link, from anywhere'],
  [['j', 'k'], 'Next, previous'],
  [['o'], 'Open the link and mark it read'],
  [['m'], 'Read or unread'],
  [['e'], 'Edit note, title or link'],
  [['r'], 'Look for the title again'],
  [['i'], 'Details'],
  [['f'], 'Search'],
]

/** One group's list. */
export function ReadingScreen({
  me,
  group,
  groups,
}: {
  me: Me
  group: GroupSummary
  groups: GroupSummary[]
}) {
  const { queries, drafts } = useGarner()
  const place = usePlace()
  const filter = filterIn(place)
  const list = useList(group.id, filter)
  const links = useLinks(me)
  const isWide = useWide()
  const [currentId, setCurrentId] = useState<string | null>(null)
  const [detailsOpen, setDetailsOpen] = useState(false)
  const [sheet, setSheet] = useState<Sheet | null>(null)
  const [isSearching, setIsSearching] = useState(filter.q !== '')
  const rows = useRef<LinkListHandle>(null)
  const saveInput = useRef<HTMLInputElement>(null)
  const searchInput = useRef<HTMLInputElement>(null)
  const detailsTitle = useId()
  const items = list.view?.items ?? NONE
  useTitleNews(items, me)
  const current = items.find((item) => item.id === currentId)

  const setFilter = useCallback(
    (next: Filter) => go(`/reading/${encodeURIComponent(group.id)}${queryOf(next)}`, 'replace'),
    [group.id],
  )
  const showDetails = useCallback((item: Bookmark) => {
    setCurrentId(item.id)
    setDetailsOpen(true)
  }, [])
  const closeDetails = useCallback(() => setDetailsOpen(false), [])
  const reading = useMemo<Reading>(
    () => ({
      me,
      group,
      links,
      edit: (item, field) => setSheet({ kind: 'edit', item, field }),
      showDetails,
      askToDelete: (item) => setSheet({ kind: 'delete', item }),
    }),
    [me, group, links, showDetails],
  )

  const showLoaded = (item: Bookmark) => {
    editLists(queries, group.id, showArrivals)
    setCurrentId(item.id)
    // After the arrivals have become rows.
    requestAnimationFrame(() => {
      if (!rows.current?.reveal(item.id, { focus: true, flash: true })) showDetails(item)
    })
  }
  const followUp = {
    addNote: (item: Bookmark) => setSheet({ kind: 'edit', item, field: 'note' }),
    show: showLoaded,
    saveAnyway: (item: Bookmark) => box.submitText(item.url, true),
  }
  const box = useSave(group.id, (saved) => links.saved(saved, followUp))

  const boxNow = useRef(box)
  boxNow.current = box
  useEffect(() => {
    const onPaste = (event: ClipboardEvent) => {
      if (isField(event.target) || document.querySelector('dialog[open]')) return
      const url = linkIn(event.clipboardData?.getData('text') ?? '')
      if (url === null) return
      event.preventDefault()
      boxNow.current.submitText(url)
    }
    addEventListener('paste', onPaste)
    return () => removeEventListener('paste', onPaste)
  }, [])

  const step = (by: number) => {
    const at = items.findIndex((item) => item.id === currentId)
    const next = items[at < 0 ? 0 : Math.min(items.length - 1, Math.max(0, at + by))]
    if (!next) return
    setCurrentId(next.id)
    rows.current?.reveal(next.id, { focus: true, flash: false })
  }
  const withCurrent = (act: (item: Bookmark) => void) => () => current && act(current)
  const leave = () => {
    const focused = document.activeElement as HTMLElement | null
    if (isField(focused)) focused?.blur()
    else if (detailsOpen) closeDetails()
    else setCurrentId(null)
  }
  useKeys({
    '/': () => saveInput.current?.focus(),
    f: () => {
      setIsSearching(true)
      requestAnimationFrame(() => searchInput.current?.focus())
    },
    j: () => step(1),
    k: () => step(-1),
    o: withCurrent(links.open),
    m: withCurrent((item) => links.setRead(item, !item.is_read)),
    e: withCurrent((item) => mayEdit(item, me) && setSheet({ kind: 'edit', item, field: 'note' })),
    r: withCurrent(links.lookAgain),
    i: withCurrent((item) => (detailsOpen ? closeDetails() : showDetails(item))),
    '?': () => setSheet({ kind: 'keys' }),
    Escape: leave,
  })

  const arrivals = list.view?.arrivals.length ?? 0
  const isAllEmpty = list.view?.counts.all === 0
  const isEmpty = list.view !== undefined && items.length === 0
  const hasTools = list.view === undefined || !isAllEmpty || filter.q !== '' || items.length > 0
  const onNearEnd = useCallback(() => list.more(), [list.more])
  const sheetItem =
    sheet && 'item' in sheet ? (items.find((one) => one.id === sheet.item.id) ?? sheet.item) : null
  const detailsId = detailsOpen ? currentId : null

  return (
    <ReadingContext value={reading}>
      <div className="reading">
        <ReadingHead
          group={group}
          groups={groups}
          counts={list.view?.counts}
          onNewGroup={() => setSheet({ kind: 'group' })}
          onSearch={() => {
            setIsSearching(!isSearching)
            if (!isSearching) requestAnimationFrame(() => searchInput.current?.focus())
          }}
        />
        <div>
          <SaveBox box={box} groupName={group.name} inputRef={saveInput} />
          <Banners list={list} />
          {hasTools && (
            <FilterBar
              filter={filter}
              counts={list.view?.counts}
              searchRef={searchInput}
              isSearching={isSearching}
              onChange={setFilter}
            />
          )}
          {arrivals > 0 && (
            <button
              type="button"
              className="btn primary newer"
              onClick={() => {
                editLists(queries, group.id, showArrivals)
                scrollTo({ top: 0 })
                document.getElementById('main')?.focus({ preventScroll: true })
              }}
            >
              {arrivals === 1 ? '1 new link' : `${arrivals} new links`}
            </button>
          )}
          <KeptRows group={group.id} />
          {list.view === undefined && (
            <div role="status" aria-label="The list is on its way">
              <WaitingRows />
            </div>
          )}
          {isEmpty && arrivals === 0 && (
            <Empty
              filter={filter}
              group={group}
              isAllEmpty={isAllEmpty}
              onFilter={setFilter}
              onPaste={() => saveInput.current?.focus()}
            />
          )}
          {items.length > 0 && (
            <LinkList items={items} currentId={currentId} handle={rows} onNearEnd={onNearEnd} />
          )}
          {list.view && items.length > 0 && <ListEnd view={list.view} filter={filter} list={list} />}
        </div>
        {isWide && detailsId !== null && (
          <aside className="card detail" aria-labelledby={detailsTitle}>
            <Details
              key={detailsId}
              id={detailsId}
              known={current}
              titleId={detailsTitle}
              onClose={closeDetails}
            />
          </aside>
        )}
      </div>
      {!isWide && detailsId !== null && sheet === null && (
        <Dialog title="Details" kind="side" labelledBy={detailsTitle} onClose={closeDetails}>
          <div className="detail">
            <Details
              key={detailsId}
              id={detailsId}
              known={current}
              titleId={detailsTitle}
              onClose={closeDetails}
            />
          </div>
        </Dialog>
      )}
      {sheet?.kind === 'edit' && sheetItem && (
        <EditSheet
          key={sheetItem.id}
          item={sheetItem}
          field={sheet.field}
          onClose={() => {
            setSheet(null)
            if (drafts.all.get()[sheetItem.id]?.conflict)
              rows.current?.reveal(sheetItem.id, { focus: false, flash: false })
          }}
        />
      )}
      {sheet?.kind === 'delete' && sheetItem && (
        <DeleteSheet item={sheetItem} onClose={() => setSheet(null)} />
      )}
      {sheet?.kind === 'keys' && <KeysSheet own={KEYS} onClose={() => setSheet(null)} />}
      {sheet?.kind === 'group' && <NewGroup onClose={() => setSheet(null)} />}
    </ReadingContext>
  )
}

function filterIn(place: URL): Filter {
  const show = place.searchParams.get('show')
  return {
    show: show === 'unread' || show === 'mine' ? show : 'all',
    q: (place.searchParams.get('q') ?? '').trim().slice(0, 200),
  }
}

function queryOf(filter: Filter): string {
  const query = new URLSearchParams()
  if (filter.show !== 'all') query.set('show', filter.show)
  if (filter.q !== '') query.set('q', filter.q)
  return query.size === 0 ? '' : `?${query}`
}
