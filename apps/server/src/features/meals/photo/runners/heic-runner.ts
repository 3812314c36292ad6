import { readFileSync } from 'node:fs'
import type { Inspection } from '../inspect.ts'
import { readMetadata } from '../metadata.ts'
import { answerJobs } from './answer.ts'
import { HeicDecoder } from './heic.ts'

/** A HEIC file, by path or as bytes, and what inspect() said of it. */
export interface HeicJob {
  source: string | Uint8Array<ArrayBuffer>
  inspection: Inspection
  longestPx: number
}

/**
 * 96 MB: the module holds about 65 MB after a phone's picture of 12 megapixels, and starts at 17. One of 48 megapixels
 * leaves it at 250, which only a new thread gives back.
 */
const HEAP_KEPT_MAX = 96_000_000

const decoder = new HeicDecoder()

answerJobs<HeicJob>(({ source, inspection, longestPx }) => {
  const bytes = typeof source === 'string' ? readFileSync(source) : source
  // Some phones leave the container untransformed and say it in EXIF alone; where the container speaks, it is right.
  const orientation = inspection.isTransformed ? 1 : (readMetadata(bytes).orientation ?? 1)
  const tiff = decoder.decode(bytes, { longestPx, orientation })
  return { result: tiff, transfer: [tiff.buffer], replaceMe: decoder.heapBytes > HEAP_KEPT_MAX }
})
