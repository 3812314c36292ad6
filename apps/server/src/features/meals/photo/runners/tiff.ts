/**
 * Wraps decoded pixels as an uncompressed TIFF in memory: the one form in which the image library takes bare pixels
 * together with their colour profile and their orientation. Without the profile the wide colours of phones come out
 * pale; without the orientation it would have to be applied by hand, in a second place.
 */
export interface TiffPicture {
  width: number
  height: number
  channels: 3 | 4
  /** The ICC profile; null: sRGB. */
  icc: Uint8Array | null
  /** As EXIF counts them, 1 to 8. */
  orientation: number
}

const SHORT = 3
const LONG = 4
const UNDEFINED = 7

/** `fill` writes the pixels, interleaved, 8 bits a channel, rows without padding: they are large, so they are written where they belong and copied nowhere. */
export function tiffOf(
  { width, height, channels, icc, orientation }: TiffPicture,
  fill: (pixels: Uint8Array) => void,
): Uint8Array<ArrayBuffer> {
  const entries: [tag: number, type: number, count: number, value: number][] = [
    [256, LONG, 1, width],
    [257, LONG, 1, height],
    [258, SHORT, channels, 0],
    [259, SHORT, 1, 1],
    [262, SHORT, 1, 2],
    [273, LONG, 1, 0],
    [274, SHORT, 1, orientation],
    [277, SHORT, 1, channels],
    [278, LONG, 1, height],
    [279, LONG, 1, width * height * channels],
    [284, SHORT, 1, 1],
    ...(channels === 4 ? [[338, SHORT, 1, 2] as [number, number, number, number]] : []),
    ...(icc ? [[34675, UNDEFINED, icc.length, 0] as [number, number, number, number]] : []),
  ]
  const bitsAt = 8 + 2 + entries.length * 12 + 4
  const iccAt = bitsAt + channels * 2
  const pixelsAt = iccAt + (icc?.length ?? 0)
  const bytes = new Uint8Array(pixelsAt + width * height * channels)
  const view = new DataView(bytes.buffer)
  bytes.set([0x49, 0x49, 42, 0, 8, 0, 0, 0])
  view.setUint16(8, entries.length, true)
  const far: Record<number, number> = { 258: bitsAt, 273: pixelsAt, 34675: iccAt }
  entries.forEach(([tag, type, count, value], i) => {
    const at = 10 + i * 12
    view.setUint16(at, tag, true)
    view.setUint16(at + 2, type, true)
    view.setUint32(at + 4, count, true)
    view.setUint32(at + 8, far[tag] ?? value, true)
  })
  for (let i = 0; i < channels; i++) view.setUint16(bitsAt + i * 2, 8, true)
  if (icc) bytes.set(icc, iccAt)
  fill(bytes.subarray(pixelsAt))
  return bytes
}
