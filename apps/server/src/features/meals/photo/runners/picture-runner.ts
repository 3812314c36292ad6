import { accessSync } from 'node:fs'
import { systemClock } from '@garner/db'
import type { Inspection } from '../inspect.ts'
import { answerJobs } from './answer.ts'
import type { HeicJob } from './heic-runner.ts'
import { normalise } from './normalise.ts'
import { openThread } from './runner.ts'
import { Runners } from './runners.ts'

/** The inside of the process for pictures: the image library, and a thread for HEIC beside it. */
export interface PictureJob {
  /** A path is read by the image library itself, piece by piece; bytes lie in memory while they wait. */
  source: string | Uint8Array<ArrayBuffer>
  inspection: Inspection
  maxPx: number
  /** Of AVIF, as far as EXIF and not the container says it: the image library does not look there. 1 elsewhere. */
  orientation: number
}

/** libheif gives its memory back, but not all of it in one piece; 20 is far from where that shows. */
const HEIC_JOBS_MAX = 20
/** 9 s for a HEIC of 48 megapixels on a slow core. Less than the program's own limit (pictures.ts). */
const HEIC_LIMIT_MS = 25_000

const heics = new Runners({
  ...{ clock: systemClock(), limitMs: HEIC_LIMIT_MS, jobsMax: HEIC_JOBS_MAX },
  open: openThread(new URL('./heic-runner.ts', import.meta.url)),
})

answerJobs<PictureJob>(async ({ source, inspection, maxPx, orientation }) => {
  // A file that is gone is a fault of ours; the image library would call it a bad picture.
  if (typeof source === 'string') accessSync(source)
  const { format } = inspection
  if (format !== 'heic') return { result: await normalise({ source, format, maxPx, orientation }) }
  const job: HeicJob = { source, inspection, longestPx: maxPx }
  const tiff = await heics.run<Uint8Array<ArrayBuffer>>(job)
  try {
    return { result: await normalise({ source: tiff, format: 'tiff', maxPx, orientation: 1 }) }
  } finally {
    // 9 MB that would lie about until the next collection, and collections are rare here.
    tiff.buffer.transfer(0)
  }
})
