import { describe, expect, test } from 'vitest'
import { Answers, answerOf, type ListPage, pageCodec, pageOf } from './list-page.ts'
import { stampOf } from './lists.ts'
import type { Bookmark } from './schemas.ts'

const item = (n: number, note = 'A note'): Bookmark => ({
  ...{
    id: `id-${n}`,
    url: `https://example.com/${n}`,
    title: 'Äpfel & Brot — 食パン',
    title_status: 'ready',
  },
  ...{ title_source: 'page', title_by: null, title_error: null, title_checked_at: null, title_tries: 1 },
  ...{ title_next_try_at: null, shown: null, also_saved_as: null, note, group: 'study' },
  ...{ owner: { id: 'alice', name: 'Alice' }, saved_at: new Date(n).toISOString(), edited_at: null },
  ...{ edited_by: null, version: 1, source_version: 1, is_read: false },
  ...{ read_by: [{ id: 'bob', name: 'Bob' }], job: null },
})

const page = (items: Bookmark[], part: Partial<ListPage> = {}): ListPage =>
  pageOf(items, {
    ...{ group: 'study', shape: 'newest 50', stamp: stampOf({ version: 7, marksVersion: 3 }), links: 9 },
    ...{ hasMore: false, read: new Map(), counts: new Map(), ...part },
  })

const answered = (one: ListPage, asking: string, limit = 50) =>
  JSON.parse(answerOf(one, { asking, limit }).toString())

describe('one page for all members', () => {
  const items = [0, 1, 2, 3].map((n) => item(n))
  const shared = page(items, {
    read: new Map([
      ['alice', [0, 2]],
      ['bob', [3]],
    ]),
    counts: new Map([
      ['alice', [5, 4]],
      ['bob', [1, 0]],
    ]),
  })

  test('is each member’s own by their marks and totals, and nothing else', () => {
    const expected = (read: number[], unread: number, mine: number) => ({
      items: items.map((one, n) => ({ ...one, is_read: read.includes(n) })),
      ...{ version: 7, next: null, group: 'study', counts: { all: 9, unread, mine } },
    })
    expect(answered(shared, 'alice')).toEqual(expected([0, 2], 4, 4))
    expect(answered(shared, 'bob')).toEqual(expected([3], 8, 0))
    expect(answered(shared, 'someone new')).toEqual(expected([], 9, 0))
    // The last one’s marks are not left in what all share.
    expect(answered(shared, 'alice')).toEqual(expected([0, 2], 4, 4))
  })

  test('cut at a smaller limit says where the next page begins, and leaves out marks beyond it', () => {
    const { items: shown, next } = answered(shared, 'alice', 2)
    expect(shown.map((one: Bookmark) => [one.id, one.is_read])).toEqual([
      ['id-0', true],
      ['id-1', false],
    ])
    expect(Buffer.from(next, 'base64url').toString()).toBe('1.id-1')
    expect(answered(page(items, { hasMore: true }), 'alice').next).not.toBeNull()
    expect(answered(shared, 'alice', 4).next).toBeNull()
    expect(answered(page([]), 'alice')).toMatchObject({ items: [], next: null })
  })

  test('does not take what people write for its own words', () => {
    const note = 'note","is_read":false,"is_read": "\\"is_read\\":false'
    const odd = page([item(0, note), item(1)], { read: new Map([['alice', [0]]]) })
    expect(answered(odd, 'alice').items.map((one: Bookmark) => [one.note, one.is_read])).toEqual([
      [note, true],
      ['A note', false],
    ])
  })

  test('is made once per member, again when the page is another, and within a bound', () => {
    const answers = new Answers()
    const first = answers.of(shared, { asking: 'alice', limit: 50 })
    expect(answers.of(shared, { asking: 'alice', limit: 50 })).toBe(first)
    expect(answers.of(shared, { asking: 'bob', limit: 50 })).not.toBe(first)
    const next = page([item(9)])
    expect(answers.of(next, { asking: 'alice', limit: 50 }).toString()).toContain('id-9')
    const large = page(Array.from({ length: 200 }, (_, n) => item(n, 'x'.repeat(20_000))))
    for (let n = 0; n < 12; n++) answers.of(large, { asking: `member ${n}`, limit: 200 })
    expect(answers.bytes).toBeLessThanOrEqual(32 * 1024 * 1024)
    expect(answers.bytes).toBeGreaterThan(16 * 1024 * 1024)
  })

  test('keeps no more memory than it counts: no block and no chunk that it is only a part of', () => {
    const codec = pageCodec('the secret')
    const chunk = Buffer.concat([codec.encode(shared), Buffer.alloc(64 * 1024)])
    const copy = codec.decode(chunk.subarray(0, codec.encode(shared).length))
    for (const kept of [shared.items, copy.items, answerOf(shared, { asking: 'alice', limit: 50 })])
      expect(kept.buffer.byteLength).toBe(kept.length)
  })

  test('goes through the shared cache as it is, and not without its seal', () => {
    const codec = pageCodec('the secret')
    const bytes = codec.encode(shared)
    expect(codec.decode(bytes)).toEqual({ ...shared, items: Buffer.from(shared.items) })
    for (const at of [0, 40, bytes.length - 1]) {
      const forged = Buffer.from(bytes)
      forged[at] = forged[at]! ^ 1
      expect(() => codec.decode(forged)).toThrow()
    }
    expect(() => codec.decode(bytes.subarray(0, 20))).toThrow()
    expect(() => pageCodec('another secret').decode(bytes)).toThrow()
  })
})

describe('a stamp', () => {
  test('grows with either version, and first of all with that of the links', () => {
    const of = (version: number, marksVersion: number) => stampOf({ version, marksVersion })
    expect(of(3, 5)).toBeGreaterThan(of(3, 4))
    expect(of(4, 0)).toBeGreaterThan(of(3, 60_000_000))
    expect(of(4, 0)).toBe(stampOf({ version: 4 }))
    expect(Number.isSafeInteger(of(1e15, 1e15))).toBe(true)
  })
})
