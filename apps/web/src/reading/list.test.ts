import type { Bookmark, BookmarkList } from '@garner/server/api'
import { describe, expect, test } from 'vitest'
import { PEOPLE } from '../../testing/fake-people.ts'
import { linkOf, seenBy, studyGroup } from '../../testing/fake-state.ts'
import { addOwn, appendPage, firstView, mergeTop, removeItem, setRead, showArrivals, takeIn } from './list.ts'

const nowMs = Date.parse('2026-08-29T12:07:00Z')
const state = studyGroup(nowMs)
/** `n` is the age in minutes: 1 is newer than 2. */
const link = (n: number, parts: Partial<Bookmark> = {}): Bookmark => ({
  ...seenBy(
    state,
    linkOf({
      id: `n${n}`,
      url: `https://example.org/${n}`,
      owner: PEOPLE.bob,
      savedAtMs: nowMs - n * 60_000,
    }),
    'alice',
  ),
  ...parts,
})
const page = (items: Bookmark[], next: string | null = null): BookmarkList => ({
  items,
  next,
  version: 1,
  group: 'study',
  counts: { all: 10, unread: 5, mine: 2 },
})
const fresh = { etag: '"1"', staleSinceMs: null }
const view = (items: Bookmark[], next: string | null = null) => firstView(page(items, next), fresh)
const look = { ...fresh, keepRead: false }
const ids = (items: Bookmark[]) => items.map((item) => item.id)

describe('looking at the top again', () => {
  test('new links wait, known ones are renewed in place, and what is gone goes', () => {
    const before = view([link(2), link(3), link(4)])
    const after = mergeTop(before, page([link(1), link(2, { title: 'Found', version: 2 }), link(4)]), look)
    expect(ids(after.items)).toEqual(['n2', 'n4'])
    expect(after.items[0]?.title).toBe('Found')
    expect(ids(after.arrivals)).toEqual(['n1'])
    expect(ids(showArrivals(after).items)).toEqual(['n1', 'n2', 'n4'])
    expect(showArrivals(after).arrivals).toEqual([])
  })

  test('rows below what was looked at stay, and so does the way further down', () => {
    const before = view([link(2), link(3), link(4), link(5)], 'after-5')
    const after = mergeTop(before, page([link(1), link(2)], 'after-2'), look)
    expect(ids(after.items)).toEqual(['n2', 'n3', 'n4', 'n5'])
    expect(after.next).toBe('after-5')
  })

  test('rows that move up because others went are rows, not arrivals', () => {
    const before = view([link(2), link(3)], 'after-3')
    const after = mergeTop(before, page([link(3), link(4)], 'after-4'), look)
    expect(ids(after.items)).toEqual(['n3', 'n4'])
    expect(after.arrivals).toEqual([])
    expect(after.next).toBe('after-4')
  })

  test('an answer that was overtaken by a later write does not undo it', () => {
    const before = view([link(2, { note: 'mine', version: 3 })])
    expect(mergeTop(before, page([link(2, { note: 'old', version: 2 })]), look).items[0]?.note).toBe('mine')
  })

  test('under Unread, what was read on this page stays until one leaves it', () => {
    const before = setRead(view([link(2), link(3)]), 'n2', true, null)
    expect(ids(mergeTop(before, page([link(3)]), { ...look, keepRead: true }).items)).toEqual(['n2', 'n3'])
    expect(ids(mergeTop(before, page([link(3)]), look).items)).toEqual(['n3'])
  })

  test('an empty list that is not empty any more needs no button', () => {
    const after = mergeTop(view([]), page([link(1), link(2)]), look)
    expect([ids(after.items), after.arrivals]).toEqual([['n1', 'n2'], []])
  })
})

describe('single changes', () => {
  const all = { show: 'all', q: '' } as const

  test('one’s own link is a row at once, once', () => {
    const own = link(1, { owner: PEOPLE.alice })
    const after = addOwn(addOwn(view([link(2)]), own), own)
    expect(ids(after.items)).toEqual(['n1', 'n2'])
    expect(after.counts).toEqual({ all: 11, unread: 6, mine: 3 })
  })

  test('one’s own link whose news was faster than its answer is a row too, with what is known by now', () => {
    const own = link(1, { owner: PEOPLE.alice, title: null, title_status: 'pending' })
    const found = { ...own, title: 'Found', title_status: 'ready' as const }
    const told = takeIn(view([link(2)]), found, all, 'alice')
    const after = addOwn(told, own)
    expect(ids(after.items)).toEqual(['n1', 'n2'])
    expect(after.arrivals).toEqual([])
    expect(after.counts).toEqual(told.counts)
    expect(after.items[0]?.title).toBe('Found')
    expect(addOwn(view([found]), own).items[0]?.title).toBe('Found')
  })

  test('somebody else’s waits; what does not belong under the filter does not come', () => {
    const before = view([link(2)])
    expect(ids(takeIn(before, link(1), all, 'alice').arrivals)).toEqual(['n1'])
    expect(takeIn(before, link(1), { show: 'mine', q: '' }, 'alice')).toBe(before)
    expect(takeIn(before, link(1, { is_read: true }), { show: 'unread', q: '' }, 'alice')).toBe(before)
    expect(takeIn(before, link(1), { show: 'all', q: 'word' }, 'alice')).toBe(before)
    // Far down the list, not loaded: not news.
    expect(takeIn(before, link(9), all, 'alice')).toBe(before)
    expect(takeIn(before, link(2, { title: 'Found' }), all, 'alice').items[0]?.title).toBe('Found')
  })

  test('a mark counts once, both ways, and shows where one agreed to show it', () => {
    const alice = { id: 'alice', name: 'Alice' }
    const read = setRead(view([link(2)]), 'n2', true, alice)
    expect(read.counts.unread).toBe(4)
    expect(read.items[0]?.read_by).toEqual([alice])
    expect(setRead(read, 'n2', true, alice)).toBe(read)
    expect(setRead(read, 'n2', false, alice)).toMatchObject({ counts: { unread: 5 } })
    expect(setRead(view([link(2)]), 'n2', true, null).items[0]?.read_by).toEqual([])
  })

  test('what is deleted is gone from rows and arrivals, and counted once', () => {
    const before = takeIn(view([link(2)]), link(1), all, 'alice')
    const after = removeItem(removeItem(before, 'n1', 'alice'), 'n1', 'alice')
    expect(after.arrivals).toEqual([])
    expect(after.counts).toEqual({ all: 10, unread: 5, mine: 2 })
  })

  test('the next page brings no row twice', () => {
    const after = appendPage(view([link(1), link(2)], 'x'), page([link(2), link(3)], null))
    expect([ids(after.items), after.next]).toEqual([['n1', 'n2', 'n3'], null])
  })
})
