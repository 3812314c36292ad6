import { PictureError } from '../picture-error.ts'
import { type Head, HeadTooShort } from './head.ts'
import type { Size } from './size.ts'

/** What the boxes of a HEIF file say of its primary picture. */
export interface HeifHeader extends Size {
  codec: 'hevc' | 'av1' | 'other'
  /** The container turns, mirrors or crops the picture itself: then it is the one to do so, and EXIF is not. */
  isTransformed: boolean
}

const HEIF_BRANDS = new Set([
  ...['heic', 'heix', 'heim', 'heis', 'hevc', 'hevx', 'hevm', 'hevs', 'mif1', 'mif2', 'msf1', 'miaf', 'mif3'],
  ...['avif', 'avis'],
])

/**
 * Which family a file with an `ftyp` box is of: its brands, the major one first. Canon's raw files and videos are made
 * of the same boxes. Null: there is no such box in front.
 */
export function brandFamily(head: Head): 'heif' | 'raw' | 'video' | null {
  if (!head.spells('ftyp', 4)) return null
  const end = Math.min(Math.max(head.u32(0), 16), 512)
  if (end > head.bytes.length) throw new HeadTooShort()
  const brands = [head.text(8, 4)]
  for (let at = 16; at + 4 <= end; at += 4) brands.push(head.text(at, 4))
  if (brands[0] === 'crx ') return 'raw'
  return brands.some((brand) => HEIF_BRANDS.has(brand)) ? 'heif' : 'video'
}

/** Nesting below: file, meta, iprp, ipco. No more boxes than this are walked over: a file of nothing but empty ones. */
const BOXES_MAX = 20_000

/**
 * Reads size, codec and transforms of the primary item: `meta` holds which item that is (pitm) and which properties
 * it has (ipma, by number, in ipco). A picture of tiles has its own size there, so nothing needs decoding.
 * Errors: HeadTooShort; PictureError `undecodable` when a box that is needed is missing.
 */
export function heifHeader(head: Head): HeifHeader {
  const walk = new Walk(head)
  const meta = walk.find('meta', 0, head.bytes.length, { isWhole: false })
  const inMeta = (type: string) => walk.find(type, meta.start + 4, meta.end)
  const pitm = inMeta('pitm')
  const primary = head.u8(pitm.start) === 0 ? head.u16(pitm.start + 4) : head.u32(pitm.start + 4)
  const iprp = inMeta('iprp')
  const ipco = walk.find('ipco', iprp.start, iprp.end)
  const properties = walk.all(ipco.start, ipco.end)
  const mine = walk
    .all(iprp.start, iprp.end)
    .filter(({ type }) => type === 'ipma')
    .flatMap((box) => associations(head, box, primary))
    .flatMap((index) => properties[index - 1] ?? [])
  const ispe = mine.find(({ type }) => type === 'ispe')
  if (!ispe) throw new PictureError('undecodable')
  const has = (list: Box[], ...types: string[]) => list.some(({ type }) => types.includes(type))
  return {
    width: head.u32(ispe.start + 4),
    height: head.u32(ispe.start + 8),
    // The tiles of a grid carry the decoder's configuration, not the grid.
    codec: has(properties, 'hvcC') ? 'hevc' : has(properties, 'av1C') ? 'av1' : 'other',
    isTransformed: has(mine, 'irot', 'imir'),
  }
}

/** Numbers (from 1) of an item's properties. */
function associations(head: Head, { start, end }: Box, item: number): number[] {
  const isLong = head.u8(start) > 0
  const isWide = (head.u8(start + 3) & 1) === 1
  let at = start + 8
  for (let left = head.u32(start + 4); left > 0 && at < end; left--) {
    const id = isLong ? head.u32(at) : head.u16(at)
    at += isLong ? 4 : 2
    const count = head.u8(at)
    at += 1
    if (id === item) {
      return Array.from({ length: count }, (_, i) =>
        isWide ? head.u16(at + 2 * i) & 0x7fff : head.u8(at + i) & 0x7f,
      )
    }
    at += count * (isWide ? 2 : 1)
  }
  return []
}

interface Box {
  type: string
  /** Of its content. */
  start: number
  end: number
}

class Walk {
  readonly #head: Head
  #left = BOXES_MAX

  constructor(head: Head) {
    this.#head = head
  }

  /** Errors: PictureError `undecodable` when the box is not there; HeadTooShort when it may come further on. */
  find(type: string, start: number, end: number, { isWhole = true } = {}): Box {
    for (let at = start; at + 8 <= end; ) {
      const box = this.#box(at, end)
      if (box.type === type) {
        if (box.end > this.#head.bytes.length) throw new HeadTooShort()
        return box
      }
      at = box.end
    }
    if (!isWhole) throw new HeadTooShort()
    throw new PictureError('undecodable')
  }

  all(start: number, end: number): Box[] {
    const boxes: Box[] = []
    for (let at = start; at + 8 <= end; at = boxes.at(-1)!.end) boxes.push(this.#box(at, end))
    return boxes
  }

  #box(at: number, end: number): Box {
    if (this.#left-- === 0) throw new PictureError('undecodable')
    const short = this.#head.u32(at)
    const header = short === 1 ? 16 : 8
    const size = short === 1 ? this.#head.u64(at + 8) : short === 0 ? end - at : short
    if (size < header) throw new PictureError('undecodable')
    return { type: this.#head.text(at + 4, 4), start: at + header, end: at + size }
  }
}
