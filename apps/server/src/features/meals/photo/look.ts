/**
 * What a picture looks like, in a few hundred bytes: brightness on a grid of 12 by 12, the two colour differences on
 * 6 by 6, and the shape. Two looks are compared by how far apart they are, not for being equal.
 *
 * It tells the copy that went through a messenger (smaller, recompressed, without its metadata) from another plate on
 * the same table, and nothing more: what is taken for the same is not logged again, so a wrong "same" swallows a meal,
 * and a wrong "different" only logs one twice. Colour is in it for that reason: a hash of 64 bits of brightness (the
 * usual kind) found two pairs of different plates as near as 8 bits, and a copy of one plate 4 bits away from itself.
 *
 * Measured on 66 pictures (64x48 to 2400x1600 drawn plates, one photo of a room), in levels of 0..255:
 * - JPEG of quality 30: at most 2.5 (64 px), 0.5 for the photo. WebP 50 and AVIF 40: at most 1.9.
 * - half the size at quality 55: at most 1.2, a quarter at 75: 1.0 for the photo (what messengers do).
 * - the nearest two different plates: 19.5, of 2,145 pairs.
 * - the same scene with the camera moved by 2 % of the picture: 2.1 to 7.7, half of them above 4.6; by a turn of one
 *   degree: 2.6 to 6.9; with one percent cropped all round: 2.6 to 9.2; brighter by 5 %: 5.2 to 10.
 * So 3: above all that compression does, below most of what a second photo of the same plate does. 2 would lose
 * recompressed small pictures; at 5 half of the second photos count as the first. Those that are below 3 are told
 * apart by their capture stamps (same-photo.ts).
 */
export const LOOK_SAME_MAX = 3

/** The look is made from this many pixels square, squashed: the shape is kept beside. */
export const LOOK_PX = 96
const LUMA = 12
const CHROMA = 6
const LUMA_CELLS = LUMA * LUMA
const CHROMA_CELLS = CHROMA * CHROMA
/** Names the recipe: looks of different recipes cannot be compared, and are then not the same. */
const VERSION = 'a'
/**
 * Spread (standard deviation) below which brightness and colours say nothing: a wall, a lens cap, a picture of one
 * grey. Any two of those look the same, so they have no look, and only their bytes can say that they are one.
 */
const SPREAD_MIN = 2 * LOOK_SAME_MAX
/** Shapes of one picture differ by the rounding of its pixels: 1067 for 1066.67, and 3 px of 48 in tiny ones. */
const SHAPE_SLACK = 0.02

/**
 * `pixels`: RGB, LOOK_PX by LOOK_PX, of the normalised picture; `shape`: its width and height.
 * Shape: text of about 290 characters; null when the picture has nothing to tell it by.
 */
export function lookOf(pixels: Uint8Array, shape: { width: number; height: number }): string | null {
  const [luma, blue, red] = [new Plane(LUMA), new Plane(CHROMA), new Plane(CHROMA)]
  for (let y = 0, at = 0; y < LOOK_PX; y++) {
    for (let x = 0; x < LOOK_PX; x++, at += 3) {
      const [r, g, b] = [pixels[at]!, pixels[at + 1]!, pixels[at + 2]!]
      const bright = 0.299 * r + 0.587 * g + 0.114 * b
      luma.add(x, y, bright)
      blue.add(x, y, 128 + (b - bright) * 0.564)
      red.add(x, y, 128 + (r - bright) * 0.713)
    }
  }
  if (Math.max(luma.spread, blue.spread, red.spread) < SPREAD_MIN) return null
  const bytes = [...shapeBytes(shape), ...luma.bytes, ...blue.bytes, ...red.bytes]
  return VERSION + Buffer.from(bytes).toString('base64url')
}

/**
 * How far apart two looks are: of brightness and the two colours, the largest root of the mean square.
 * Units: levels, 0..255. Infinity for other shapes, and for texts that are no looks of this recipe.
 */
export function lookDistance(one: string, other: string): number {
  const [a, b] = [read(one), read(other)]
  if (!a || !b || Math.abs(a.shape / b.shape - 1) > SHAPE_SLACK) return Number.POSITIVE_INFINITY
  return Math.max(
    ...a.planes.map((plane, i) => {
      const square = plane.reduce((sum, value, cell) => sum + (value - b.planes[i]![cell]!) ** 2, 0)
      return Math.sqrt(square / plane.length)
    }),
  )
}

function read(look: string): { shape: number; planes: Uint8Array[] } | null {
  if (!look.startsWith(VERSION)) return null
  const bytes = Buffer.from(look.slice(VERSION.length), 'base64url')
  if (bytes.length !== 4 + LUMA_CELLS + 2 * CHROMA_CELLS) return null
  const at = 4 + LUMA_CELLS
  return {
    shape: bytes.readUInt16BE(0) / bytes.readUInt16BE(2),
    planes: [bytes.subarray(4, at), bytes.subarray(at, at + CHROMA_CELLS), bytes.subarray(at + CHROMA_CELLS)],
  }
}

function shapeBytes({ width, height }: { width: number; height: number }): number[] {
  return [width >> 8, width & 255, height >> 8, height & 255]
}

/** Means over the cells of a grid. */
class Plane {
  readonly #side: number
  readonly #sums: Float64Array

  constructor(side: number) {
    this.#side = side
    this.#sums = new Float64Array(side * side)
  }

  add(x: number, y: number, value: number): void {
    const cellPx = LOOK_PX / this.#side
    this.#sums[Math.floor(y / cellPx) * this.#side + Math.floor(x / cellPx)]! += value
  }

  get bytes(): number[] {
    const perCell = (LOOK_PX / this.#side) ** 2
    return Array.from(this.#sums, (sum) => Math.max(0, Math.min(255, Math.round(sum / perCell))))
  }

  get spread(): number {
    const { bytes } = this
    const mean = bytes.reduce((sum, value) => sum + value, 0) / bytes.length
    return Math.sqrt(bytes.reduce((sum, value) => sum + (value - mean) ** 2, 0) / bytes.length)
  }
}
