import sharp, { type Sharp } from 'sharp'
import { PIXELS_MAX, type PictureFormat } from '../inspect.ts'
import { LOOK_PX, lookOf } from '../look.ts'
import { PictureError } from '../picture-error.ts'
import { tiffOf } from './tiff.ts'

/**
 * Memory: what libvips keeps of earlier pictures is of no use for photos that come once; one pipeline uses one core,
 * and the pool runs one pipeline a core. Both are settings of the whole process, which does nothing else (runner.ts).
 */
sharp.cache(false)
sharp.concurrency(1)

/** 85: beyond it files grow faster than anything gets visible; at 75 the grain of rice and bread begins to smear. */
const QUALITY = 85
/** Less than the pool's limit, so that a pipeline that is stuck ends by itself, and its runner lives. */
export const PIPELINE_LIMIT_S = 20

/** `truncated`: half a picture is no picture; a bad byte in a whole one is no reason to refuse it. */
const INPUT = { failOn: 'truncated', limitInputPixels: PIXELS_MAX } as const

export interface Normalised {
  /** Upright, sRGB, three channels, no metadata of any kind. */
  jpeg: Uint8Array<ArrayBuffer>
  width: number
  height: number
  /** look.ts; null for a picture without anything to tell it by. */
  look: string | null
}

export interface NormaliseJob {
  /** A path is read by the image library itself, piece by piece; bytes lie in memory while they wait. */
  source: string | Uint8Array
  format: PictureFormat | 'tiff'
  /** The longer side of the result at most. */
  maxPx: number
  /** Applied where the image library does not see one: AVIF, whose container it has applied already. 1 elsewhere. */
  orientation: number
}

/**
 * Turns a picture into what is stored and sent. Animated pictures give their first frame, transparent ones a white
 * ground; nothing is enlarged. Errors: PictureError `undecodable`.
 */
export async function normalise({ source, format, maxPx, orientation }: NormaliseJob): Promise<Normalised> {
  try {
    const isTurned = format === 'avif' && orientation !== 1
    const input = isTurned ? await withOrientation(source, { maxPx, orientation }) : source
    const { data, info } = await within(input, maxPx)
      .flatten({ background: 'white' })
      .toColourspace('srgb')
      .jpeg({ quality: QUALITY })
      .toBuffer({ resolveWithObject: true })
    const look = lookOf(await lookPixels(data), info)
    return { jpeg: data as Uint8Array<ArrayBuffer>, width: info.width, height: info.height, look }
  } catch (error) {
    throw new PictureError('undecodable', error)
  }
}

function within(input: string | Uint8Array, maxPx: number): Sharp {
  return sharp(input, INPUT)
    .timeout({ seconds: PIPELINE_LIMIT_S })
    .autoOrient()
    .resize(maxPx, maxPx, { fit: 'inside', withoutEnlargement: true })
}

/** The box is a square, so shrinking first and turning after comes to the same. */
async function withOrientation(
  source: string | Uint8Array,
  { maxPx, orientation }: { maxPx: number; orientation: number },
): Promise<Uint8Array> {
  const { data, info } = await within(source, maxPx)
    .flatten({ background: 'white' })
    .toColourspace('srgb')
    .raw()
    .toBuffer({ resolveWithObject: true })
  return tiffOf({ width: info.width, height: info.height, channels: 3, icc: null, orientation }, (pixels) =>
    pixels.set(data),
  )
}

/** From the JPEG itself: what is compared later must be what was stored. */
function lookPixels(jpeg: Uint8Array): Promise<Buffer> {
  return sharp(jpeg, INPUT)
    .timeout({ seconds: PIPELINE_LIMIT_S })
    .resize(LOOK_PX, LOOK_PX, { fit: 'fill' })
    .toColourspace('srgb')
    .raw()
    .toBuffer()
}
