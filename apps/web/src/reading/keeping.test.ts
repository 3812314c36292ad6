import type { SavedBookmark } from '@garner/server/api'
import { describe, expect, test } from 'vitest'
import { PEOPLE } from '../../testing/fake-people.ts'
import { linkOf, seenBy, studyGroup } from '../../testing/fake-state.ts'
import { type Browser, shelf } from '../browser.ts'
import type { Api } from '../http/api.ts'
import { Failure } from '../http/failure.ts'
import { changesIn, collisions, Drafts, draftOf } from './drafts.ts'
import { afterRefusal, readOutbox } from './outbox.ts'
import { Outbox } from './outbox-sender.ts'

const nowMs = Date.parse('2026-08-29T12:07:00Z')

function fakeBrowser(): Browser {
  const store = new Map<string, string>()
  const one = shelf(
    () =>
      ({
        getItem: (key: string) => store.get(key) ?? null,
        setItem: (key: string, value: string) => store.set(key, value),
        removeItem: (key: string) => store.delete(key),
      }) as unknown as Storage,
  )
  return {
    clock: { nowMs: () => nowMs, sleep: () => Promise.resolve() },
    random: () => 0,
    newId: () => 'id',
    fetch,
    shelf: one,
    tabShelf: one,
  }
}

describe('the outbox', () => {
  const link = (key: string) => ({
    key,
    url: `https://example.org/${key}`,
    note: '',
    group: 'study',
    force: false,
  })
  const saved = (url: string) => ({ url }) as SavedBookmark
  function open(answer: (url: string, key: string) => SavedBookmark) {
    const browser = fakeBrowser()
    const sent: string[] = []
    const arrived: string[] = []
    const api = {
      save: async (one: { url: string }, key: string) => {
        sent.push(key)
        return answer(one.url, key)
      },
    } as unknown as Api
    const outbox = new Outbox(browser, api)
    outbox.open('alice', (one) => arrived.push(one.url))
    return { outbox, browser, sent, arrived }
  }

  test('is on disk before it is anywhere else, belongs to one person, and is sent oldest first under its keys', async () => {
    const { outbox, browser, sent, arrived } = open(saved)
    outbox.keep(link('a'))
    outbox.keep(link('b'))
    outbox.keep(link('a'))
    expect(readOutbox(browser.shelf, 'alice').map((one) => one.key)).toEqual(['a', 'b'])
    expect(readOutbox(browser.shelf, 'bob')).toEqual([])
    await Promise.all([outbox.drain(), outbox.drain()])
    expect(sent).toEqual(['a', 'b'])
    expect(arrived).toEqual(['https://example.org/a', 'https://example.org/b'])
    expect(readOutbox(browser.shelf, 'alice')).toEqual([])
  })

  test('without an answer it keeps everything and asks again, with no word from the browser; a busy server too', async () => {
    let unanswered = 2
    const waiting: number[] = []
    const lost = open((url) => {
      waiting.push(lost.outbox.waiting)
      unanswered -= 1
      if (unanswered >= 0) throw new Failure(0, {})
      return saved(url)
    })
    lost.outbox.keep(link('a'))
    lost.outbox.keep(link('b'))
    await lost.outbox.drain()
    expect(lost.sent).toEqual(['a', 'a', 'a', 'b'])
    expect(waiting).toEqual([2, 2, 2, 1])

    let refusals = 2
    const busy = open((url) => {
      refusals -= 1
      if (refusals >= 0) throw new Failure(429, { detail: 'full' }, 1_000)
      return saved(url)
    })
    busy.outbox.keep(link('a'))
    await busy.outbox.drain()
    expect(busy.sent).toEqual(['a', 'a', 'a'])
    expect(busy.outbox.waiting).toBe(0)
  })

  test('the network is back, says the browser: the pause ends', async () => {
    let unanswered = 1
    const box = open((url) => {
      unanswered -= 1
      if (unanswered >= 0) throw new Failure(0, {})
      return saved(url)
    })
    const paused = Promise.withResolvers<void>()
    box.browser.clock.sleep = (_ms, signal) =>
      new Promise((resolve) => {
        signal!.addEventListener('abort', () => resolve())
        paused.resolve()
      })
    box.outbox.keep(link('a'))
    const draining = box.outbox.drain()
    await paused.promise
    await box.outbox.drain()
    await draining
    expect(box.sent).toEqual(['a', 'a'])
  })

  test('a refusal for good stays with its reason and holds up nobody', async () => {
    const { outbox, sent } = open((url, key) => {
      if (key === 'a') throw new Failure(403, { detail: 'You are not in this group.' })
      return saved(url)
    })
    outbox.keep(link('a'))
    outbox.keep(link('b'))
    await outbox.drain()
    expect(sent).toEqual(['a', 'b'])
    expect(outbox.links.get()).toMatchObject([{ key: 'a', refused: 'You are not in this group.' }])
    await outbox.drain()
    expect(sent).toEqual(['a', 'b'])
    outbox.remove('a')
    expect(outbox.links.get()).toEqual([])
  })

  test('signing out in the middle sends no more of it, and loses none of it', async () => {
    const box = open((url) => {
      box.outbox.open(null, () => {})
      return saved(url)
    })
    box.outbox.keep(link('a'))
    box.outbox.keep(link('b'))
    await box.outbox.drain()
    expect(box.sent).toEqual(['a'])
    expect(readOutbox(box.browser.shelf, 'alice').map((one) => one.key)).toEqual(['a', 'b'])
    expect(box.outbox.links.get()).toEqual([])
  })

  test('what is broken on disk is no reason not to start', () => {
    const browser = fakeBrowser()
    for (const text of ['{', 'null', '{"a":1}', '[1,null,{"key":"x"}]']) {
      browser.shelf.write('garner.outbox.alice', text)
      expect(readOutbox(browser.shelf, 'alice')).toEqual([])
    }
    expect([0, 401, 403, 404, 409, 413, 429, 500, 503].map(afterRefusal)).toEqual([
      'later',
      'ask',
      'refused',
      'refused',
      'refused',
      'refused',
      'later',
      'later',
      'later',
    ])
  })
})

describe('drafts', () => {
  const item = {
    ...seenBy(
      studyGroup(nowMs),
      linkOf({ id: 'x', url: 'https://example.org', owner: PEOPLE.alice, savedAtMs: nowMs, note: 'base' }),
      'alice',
    ),
    job: null,
  }

  test('only what was changed is sent', () => {
    const draft = draftOf(item)
    expect(changesIn(draft, item)).toBeNull()
    expect(changesIn({ ...draft, note: 'new', title: ' By hand ' }, item)).toEqual({
      note: 'new',
      title: 'By hand',
    })
    // Somebody renamed it meanwhile: my note does not carry the old name back.
    const renamed = { ...item, title: 'Theirs', title_source: 'hand' as const, version: 2 }
    expect(changesIn({ ...draft, note: 'new' }, renamed)).toEqual({ note: 'new' })
  })

  test('only what both changed is a collision', () => {
    const draft = { ...draftOf(item), note: 'mine' }
    expect(collisions(draft, { ...item, url: 'https://example.org/moved', version: 2 })).toEqual([])
    expect(collisions(draft, { ...item, note: 'theirs', version: 2 })).toEqual(['note'])
    expect(collisions(draft, { ...item, note: 'mine', version: 2 })).toEqual([])
  })

  test('a draft outlives the page, and ends when it is given up', () => {
    const { tabShelf } = fakeBrowser()
    new Drafts(tabShelf).set('x', { ...draftOf(item), note: 'half a thought' })
    const again = new Drafts(tabShelf)
    expect(again.all.get().x?.note).toBe('half a thought')
    again.set('x', null)
    expect(new Drafts(tabShelf).all.get()).toEqual({})
    tabShelf.write('garner.drafts', '{"x":7,"y":null}')
    expect(new Drafts(tabShelf).all.get()).toEqual({})
  })
})
