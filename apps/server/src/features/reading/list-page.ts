import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Codec } from '@garner/cache'
import { encodeCursor } from './cursor.ts'
import { versionIn } from './lists.ts'
import type { Bookmark, BookmarkList } from './schemas.ts'

/**
 * The first links of a list as the bytes of an answer: made once for all members, and made each member's own by writing
 * over a few of them. An item says `"is_read":false`; for one that the member has read, `true` and a blank (which JSON
 * allows) take the place of `false`, so that nothing moves. What else is the member's, the totals, stands at the end.
 */
export interface ListPage {
  group: string
  /** Which of the group's pages it is. */
  shape: string
  /** Where the list stood at the latest when it was read. */
  stamp: number
  /** Links in the whole list. */
  links: number
  /** Whether there are links after the last one here. */
  hasMore: boolean
  /** The items, with commas between them. */
  items: Buffer
  /** Where each item ends in `items`, and where its `false` begins. */
  ends: readonly number[]
  flags: readonly number[]
  /** By member, the places of the items that they have read. Members who have read none of them are left out. */
  read: ReadonlyMap<string, readonly number[]>
  /** By member, how many links of the whole list they have read and saved. Members without any are left out. */
  counts: ReadonlyMap<string, readonly [read: number, mine: number]>
}

/** A page of `items`, whose `is_read` is left to each member. */
export function pageOf(
  items: Bookmark[],
  rest: Pick<ListPage, 'group' | 'shape' | 'stamp' | 'links' | 'hasMore' | 'read' | 'counts'>,
): ListPage {
  const parts: Buffer[] = []
  const ends: number[] = []
  const flags: number[] = []
  let at = 0
  for (const [place, item] of items.entries()) {
    const text = Buffer.from(`${place === 0 ? '' : ','}${JSON.stringify({ ...item, is_read: false })}`)
    // Within a text of JSON every quote has a backslash before it: this can only be the field.
    flags.push(at + text.indexOf(FLAG) + FLAG.length)
    at += text.length
    ends.push(at)
    parts.push(text)
  }
  return { ...rest, items: inOwnMemory(parts), ends, flags }
}

/**
 * For what is kept. Small Buffers are cut from blocks of 64 KB, and what comes over the network from the chunk it came in:
 * a list of 2 KB that is kept would keep all of that, and the bounds in bytes would hold back nothing.
 */
function inOwnMemory(parts: readonly Uint8Array[]): Buffer {
  const own = Buffer.allocUnsafeSlow(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    own.set(part, at)
    at += part.length
  }
  return own
}

const FLAG = '"is_read":'
const TRUE = Buffer.from('true ')
const HEAD = Buffer.from('{"items":[')

/** 32 MiB: about 300 answers of 200 links, for members who look again and again. */
const ANSWERS_MAX_BYTES = 32 * 1024 * 1024

/**
 * The bodies that were made last, one for each member and page. Making one is a copy of 100 KB into fresh memory, which
 * costs more than all else about a cached read.
 */
export class Answers {
  readonly #made = new Map<string, { page: ListPage; answer: Buffer }>()
  #bytes = 0

  get bytes(): number {
    return this.#bytes
  }

  of(page: ListPage, { asking, limit }: { asking: string; limit: number }): Buffer {
    const key = `${asking} ${limit} ${page.shape} ${page.group}`
    const known = this.#made.get(key)
    if (known?.page === page) return known.answer
    const answer = answerOf(page, { asking, limit })
    if (known) this.#drop(key, known.answer)
    this.#made.set(key, { page, answer })
    this.#bytes += answer.length
    for (const [oldest, { answer }] of this.#made) {
      if (this.#bytes <= ANSWERS_MAX_BYTES) break
      this.#drop(oldest, answer)
    }
    return answer
  }

  #drop(key: string, answer: Buffer): void {
    this.#made.delete(key)
    this.#bytes -= answer.length
  }
}

/** The body for one member, up to `limit` items of it. */
export function answerOf(page: ListPage, { asking, limit }: { asking: string; limit: number }): Buffer {
  const shown = Math.min(limit, page.ends.length)
  const end = shown === 0 ? 0 : page.ends[shown - 1]!
  const answer = inOwnMemory([
    HEAD,
    page.items.subarray(0, end),
    Buffer.from(tailOf(page, { asking, shown })),
  ])
  for (const place of page.read.get(asking) ?? []) {
    if (place < shown) answer.set(TRUE, HEAD.length + page.flags[place]!)
  }
  return answer
}

function tailOf(page: ListPage, { asking, shown }: { asking: string; shown: number }): string {
  const { group, stamp, links } = page
  const [read, mine] = page.counts.get(asking) ?? [0, 0]
  const isLast = shown === page.ends.length && !page.hasMore
  const rest: Omit<BookmarkList, 'items'> = {
    version: versionIn(stamp),
    next: isLast || shown === 0 ? null : cursorAfter(page, shown - 1),
    group,
    counts: { all: links, unread: links - read, mine },
  }
  return `],${JSON.stringify(rest).slice(1)}`
}

function cursorAfter(page: ListPage, place: number): string {
  const from = place === 0 ? 0 : page.ends[place - 1]! + 1
  const { id, saved_at }: Bookmark = JSON.parse(page.items.toString('utf8', from, page.ends[place]))
  return encodeCursor({ savedAtMs: Date.parse(saved_at), id })
}

const MAC_BYTES = 32

/**
 * Pages as bytes for the shared cache, under a seal: whoever can write there but does not know the secret can put
 * nothing before a reader. What is not ours, or was sealed for another list, counts as not there and is removed.
 */
export function pageCodec(secret: string): Codec<ListPage> {
  const seal = (bytes: Uint8Array) =>
    createHmac('sha256', secret).update('list page 1\n').update(bytes).digest()
  return {
    encode({ items, read, counts, ...rest }) {
      const head = Buffer.from(JSON.stringify({ ...rest, read: [...read], counts: [...counts] }))
      const length = Buffer.alloc(4)
      length.writeUInt32LE(head.length)
      const bytes = Buffer.concat([length, head, items])
      return Buffer.concat([seal(bytes), bytes])
    },
    decode(sealed) {
      const all = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength)
      const bytes = all.subarray(MAC_BYTES)
      const mac = all.subarray(0, MAC_BYTES)
      if (mac.length !== MAC_BYTES || !timingSafeEqual(mac, seal(bytes)))
        throw new Error('A copy in the shared cache is not one of ours.')
      const end = 4 + bytes.readUInt32LE()
      const { read, counts, ...rest } = JSON.parse(bytes.toString('utf8', 4, end))
      return {
        ...rest,
        read: new Map(read),
        counts: new Map(counts),
        items: inOwnMemory([bytes.subarray(end)]),
      }
    },
    sizeOf: ({ items, ends, read, counts }) =>
      items.length + 16 * ends.length + 200 * (read.size + counts.size) + 8 * sum(read.values()),
  }
}

function sum(lists: Iterable<readonly number[]>): number {
  let n = 0
  for (const list of lists) n += list.length
  return n
}
