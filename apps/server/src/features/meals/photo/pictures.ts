import type { Clock } from '@garner/db'
import type { Inspection } from './inspect.ts'
import { NO_METADATA, type PhotoMetadata } from './metadata.ts'
import { PictureError } from './picture-error.ts'
import { Line } from './runners/line.ts'
import type { MetadataJob } from './runners/metadata-runner.ts'
import type { Normalised } from './runners/normalise.ts'
import type { PictureJob } from './runners/picture-runner.ts'
import { openProcess, openThread } from './runners/runner.ts'
import { Runners } from './runners/runners.ts'

/**
 * Everything that reads a picture beyond its header, away from the thread that answers requests: a photo of 12
 * megapixels takes a quarter of a second, a HEIC takes seconds. Metadata is read in a thread; the image library runs in
 * a process of its own (runners/runner.ts says why), with a thread for HEIC beside it.
 *
 * Promises: a bounded number of pictures in memory whatever arrives: one for each core, and one HEIC (one of 48
 * megapixels takes 250 MB while it is decoded); the rest waits as paths, or is refused (`busy`). Each picture ends
 * within a time limit.
 * Cut off at any point, nothing is on disk; whoever asked asks again. When the program is killed, its process for
 * pictures ends by itself.
 */
export interface Pictures {
  /**
   * What the file says about itself. Waits for no picture that is being normalised.
   * Never fails for what is in the file: metadata that cannot be read, in time and in memory, is absent.
   * Errors: PictureError `busy`; when `signal` aborts, its reason; a file that cannot be read: Error.
   */
  readMetadata(source: PictureSource, signal?: AbortSignal): Promise<PhotoMetadata>
  /**
   * The picture as it is stored and sent: upright, sRGB, no metadata, at most `maxPx` on its longer side, never
   * enlarged; and its look.
   * `inspection` is inspect()'s of the same file: nothing is decoded whose header has not been read.
   * Errors: PictureError `undecodable`, `too_many_pixels` (the file's), `too_slow`, `busy`; when `signal` aborts, its
   * reason; a file that cannot be read: Error.
   */
  normalise(source: PictureSource, inspection: Inspection, signal?: AbortSignal): Promise<Normalised>
  /** Ends all runners; what runs or waits is `busy`. */
  close(): Promise<void>
}

/** The path of a file, or its bytes, which are copied. A path keeps fifty waiting uploads out of memory. */
export type PictureSource = string | Uint8Array<ArrayBuffer>

/** A batch is 20 to 50 photos; 200 wait for half a minute on two cores. What waits longer is better sent again. */
const WAITING_MAX = 200
/** Measured: 0.25 s for 12 megapixels, 9 s for a HEIC of 48 on a slow core. 30 s is a request's patience. */
const LIMIT_MS = 30_000
/** Metadata takes a few ms. 5 s: the start of a thread on a machine that has much else to do. */
const METADATA_LIMIT_MS = 5_000
/** A process for pictures holds 80 to 250 MB; to open one takes a third of a second. A batch comes within a minute. */
const IDLE_MS = 60_000
/** Beyond four, memory grows and phones do not upload faster. */
const LANES_MAX = 4

export function createPictures({
  clock,
  cores,
  maxPx,
}: {
  clock: Clock
  /** How many cores there are to use. */
  cores: number
  /** The longer side of what is stored, in pixels (photoMaxPx). */
  maxPx: number
}): Pictures {
  const shared = { clock, idleMs: IDLE_MS }
  const runner = (name: string) => new URL(`./runners/${name}-runner.ts`, import.meta.url)
  const lanes = Math.max(1, Math.min(LANES_MAX, cores))
  const lineOf = (lanes: number) => new Line({ lanes, waitingMax: WAITING_MAX })
  const lines = { metadata: lineOf(1), heic: lineOf(1), other: lineOf(lanes) }
  const metadataReader = new Runners({
    ...{ ...shared, limitMs: METADATA_LIMIT_MS, open: openThread(runner('metadata')) },
  })
  // One native thread for each lane, and one for the HEIC.
  const open = openProcess(runner('picture'), { nativeThreads: lanes + 1 })
  const pictureReader = new Runners({ ...shared, limitMs: LIMIT_MS, open })

  const readMetadata: Pictures['readMetadata'] = (source, signal) =>
    lines.metadata.through(() => absentIfBad(metadataReader.run({ source } satisfies MetadataJob)), signal)
  return {
    readMetadata,
    async normalise(source, inspection, signal) {
      const { format, isTransformed } = inspection
      const isSilent = format === 'avif' && !isTransformed
      const orientation = isSilent ? ((await readMetadata(source, signal)).orientation ?? 1) : 1
      const job: PictureJob = { source, inspection, maxPx, orientation }
      const line = format === 'heic' ? lines.heic : lines.other
      return line.through(() => pictureReader.run<Normalised>(job), signal)
    },
    close: async () => {
      for (const line of Object.values(lines)) line.clear()
      await Promise.all([metadataReader.close(), pictureReader.close()])
    },
  }
}

/** A file that takes its reader down, or keeps it busy, has no metadata; its picture may still be fine. */
export async function absentIfBad(reading: Promise<PhotoMetadata>): Promise<PhotoMetadata> {
  try {
    return await reading
  } catch (error) {
    const isBad = error instanceof PictureError && (error.code === 'undecodable' || error.code === 'too_slow')
    if (isBad) return NO_METADATA
    throw error
  }
}
