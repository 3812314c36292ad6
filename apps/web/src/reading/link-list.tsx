import type { Bookmark } from '@garner/server/api'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { type Ref, useCallback, useImperativeHandle, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { useGarner } from '../garner.ts'
import { useNow } from '../ui/countdown.tsx'
import { dayGroup } from '../words/calendar.ts'
import { Row } from './row.tsx'

type Entry =
  | { kind: 'day'; key: string; words: string }
  | { kind: 'row'; key: string; words: string; item: Bookmark; place: number; places: number }

export interface LinkListHandle {
  /** Scrolls a loaded row into view; with `focus` its link takes the focus. False when it is not loaded. */
  reveal(id: string, how: { focus: boolean; flash: boolean }): boolean
}

/** Rows as tall as most of them are; each is measured once it is there. */
const ROW_PX = 94
const DAY_PX = 56
/** The sticky save box above, and on phones the one below: a row that a key goes to lies between them. */
const KEEP_CLEAR = { scrollPaddingStart: 96, scrollPaddingEnd: 150 }
const FLASH_MS = 1_600

/**
 * The rows by day. Only those near the window are in the page, in the flow of it, between two empty blocks that are as
 * tall as the rest: so a list of thousands scrolls like one of twenty, and headings and lists stay real ones.
 */
export function LinkList(props: {
  items: Bookmark[]
  currentId: string | null
  handle: Ref<LinkListHandle>
  onNearEnd(): void
}) {
  const { items, currentId, handle, onNearEnd } = props
  const { clock } = useGarner().browser
  const nowMs = useNow(20_000)
  const entries = useMemo(() => entriesOf(items, nowMs), [items, nowMs])
  const block = useRef<HTMLDivElement>(null)
  const [top, setTop] = useState(0)
  const [flashId, setFlashId] = useState<string | null>(null)
  const [focusId, setFocusId] = useState<string | null>(null)
  const onFocused = useCallback(() => setFocusId(null), [])

  // What stands above (banners, the search) comes and goes.
  useLayoutEffect(() => {
    const now = block.current ? Math.round(block.current.getBoundingClientRect().top + scrollY) : 0
    if (now !== top) setTop(now)
  })

  const rows = useWindowVirtualizer({
    count: entries.length,
    estimateSize: (i) => (entries[i]?.kind === 'day' ? DAY_PX : ROW_PX),
    getItemKey: (i) => entries[i]?.key ?? i,
    overscan: 8,
    scrollMargin: top,
    // Whoever has scrolled down keeps their place when a row is added above it.
    anchorTo: typeof window !== 'undefined' && scrollY > top ? 'end' : 'start',
    ...KEEP_CLEAR,
  })

  useImperativeHandle(handle, () => ({
    reveal(id, how) {
      const index = entries.findIndex((entry) => entry.kind === 'row' && entry.item.id === id)
      if (index < 0) return false
      // The first row brings its heading, and the top of the page, into view with it.
      if (index === 1) scrollTo({ top: 0 })
      else rows.scrollToIndex(index, { align: how.flash ? 'center' : 'auto' })
      if (how.focus) setFocusId(id)
      if (how.flash) {
        setFlashId(id)
        void clock.sleep(FLASH_MS).then(() => setFlashId((now) => (now === id ? null : now)))
      }
      return true
    },
  }))

  const shown = rows.getVirtualItems()
  const last = shown.at(-1)
  useLayoutEffect(() => {
    if (last && last.index >= entries.length - 10 && scrollY > 0) onNearEnd()
  }, [last, entries.length, onNearEnd])

  const before = (shown[0]?.start ?? top) - top
  const after = Math.max(0, rows.getTotalSize() - ((last?.end ?? top) - top))
  return (
    <div ref={block} className="window">
      <div style={{ blockSize: before }} />
      {byDay(shown.map(({ index }) => ({ index, entry: entries[index] }))).map((day) => (
        <div key={day.words}>
          {day.heading !== null && (
            <div className="day-line" ref={rows.measureElement} data-index={day.heading}>
              <h2 className="day">{day.words}</h2>
            </div>
          )}
          <ul className="rows" aria-label={day.words}>
            {day.rows.map(({ index, entry }) => (
              <Row
                key={entry.key}
                item={entry.item}
                nowMs={nowMs}
                index={index}
                place={entry.place}
                placesTotal={entry.places}
                isCurrent={entry.item.id === currentId}
                isFlashing={entry.item.id === flashId}
                wantsFocus={entry.item.id === focusId}
                onFocused={onFocused}
                measure={rows.measureElement}
              />
            ))}
          </ul>
        </div>
      ))}
      <div style={{ blockSize: after }} />
    </div>
  )
}

function entriesOf(items: Bookmark[], nowMs: number): Entry[] {
  const days = new Map<string, Bookmark[]>()
  for (const item of items) {
    const words = dayGroup(Date.parse(item.saved_at), { nowMs })
    const day = days.get(words)
    if (day) day.push(item)
    else days.set(words, [item])
  }
  return [...days].flatMap(([words, list]): Entry[] => [
    { kind: 'day', key: `day ${words}`, words },
    ...list.map(
      (item, i): Entry => ({ kind: 'row', key: item.id, words, item, place: i + 1, places: list.length }),
    ),
  ])
}

interface Day {
  words: string
  heading: number | null
  rows: { index: number; entry: Extract<Entry, { kind: 'row' }> }[]
}

function byDay(shown: { index: number; entry: Entry | undefined }[]): Day[] {
  const days: Day[] = []
  for (const { index, entry } of shown) {
    if (!entry) continue
    let day = days.at(-1)
    if (day?.words !== entry.words) {
      day = { words: entry.words, heading: null, rows: [] }
      days.push(day)
    }
    if (entry.kind === 'day') day.heading = index
    else day.rows.push({ index, entry })
  }
  return days
}
