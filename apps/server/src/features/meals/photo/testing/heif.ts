/** HEIF files built by hand, for tests: one item with chosen properties. The codec's data is not there. */
export interface HeicParts {
  width?: number
  height?: number
  /** Whole boxes that the primary item has beside its size. */
  properties?: Uint8Array[]
  /** Whole boxes that are in the file and belong to no item. */
  unused?: Uint8Array[]
  /** The box that names the codec. */
  configuration?: string
}

export function heic({
  width = 96,
  height = 64,
  properties = [],
  unused = [],
  configuration = 'hvcC',
}: HeicParts = {}): Uint8Array {
  const all = [
    boxOf(configuration, [1]),
    boxOf('ispe', [0, 0, 0, 0, ...be32(width), ...be32(height)]),
    ...unused,
    ...properties,
  ]
  const mine = [1, 2, ...properties.map((_, i) => 3 + unused.length + i)]
  const ipma = boxOf('ipma', [0, 0, 0, 0, ...be32(1), 0, 1, mine.length, ...mine])
  const iprp = boxOf('iprp', [
    ...boxOf(
      'ipco',
      all.flatMap((box) => [...box]),
    ),
    ...ipma,
  ])
  const meta = boxOf('meta', [0, 0, 0, 0, ...boxOf('pitm', [0, 0, 0, 0, 0, 1]), ...iprp])
  return Uint8Array.from([...boxOf('ftyp', [...Buffer.from('heic\0\0\0\0mif1heic')]), ...meta])
}

export function boxOf(type: string, content: ArrayLike<number>): Uint8Array {
  return Uint8Array.from([...be32(8 + content.length), ...Buffer.from(type), ...Array.from(content)])
}

/**
 * A real file of the simple kind (its `meta` before its data, places of four bytes) with more properties for its first
 * item: the way to a file that turns its picture twice, once in the container and once in EXIF.
 */
export function withProperties(file: Uint8Array, properties: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const view = Buffer.from(file)
  const at = (type: string) => view.indexOf(type) - 4
  const [meta, iloc, iprp, ipco, ipma] = ['meta', 'iloc', 'iprp', 'ipco', 'ipma'].map(at) as [
    number,
    number,
    number,
    number,
    number,
  ]
  const added = Buffer.concat(properties)
  const first = countBoxes(view, ipco + 8, ipco + view.readUInt32BE(ipco)) + 1
  const grown = added.length + properties.length
  for (let item = 0, place = iloc + 16; item < view.readUInt16BE(iloc + 14); item++, place += 14) {
    view.writeUInt32BE(view.readUInt32BE(place + 6) + grown, place + 6)
  }
  for (const box of [meta, iprp]) view.writeUInt32BE(view.readUInt32BE(box) + grown, box)
  const ipcoEnd = ipco + view.readUInt32BE(ipco)
  view.writeUInt32BE(view.readUInt32BE(ipco) + added.length, ipco)
  const associationsAt = ipma + 18
  const count = view.readUInt8(associationsAt)
  view.writeUInt8(count + properties.length, associationsAt)
  view.writeUInt32BE(view.readUInt32BE(ipma) + properties.length, ipma)
  const listEnd = associationsAt + 1 + count
  const numbers = properties.map((_, i) => 0x80 | (first + i))
  return new Uint8Array(
    Buffer.concat([
      view.subarray(0, ipcoEnd),
      added,
      view.subarray(ipcoEnd, listEnd),
      Buffer.from(numbers),
      view.subarray(listEnd),
    ]),
  )
}

function countBoxes(view: Buffer, start: number, end: number): number {
  let count = 0
  for (let at = start; at < end; at += view.readUInt32BE(at)) count += 1
  return count
}

function be32(value: number): number[] {
  return [(value >>> 24) & 255, (value >>> 16) & 255, (value >>> 8) & 255, value & 255]
}
