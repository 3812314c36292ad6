import {
  type Doubt,
  inTakenOrder,
  type PhotoMetadata,
  resolveTaken,
  type Taken,
  wallClock,
} from '@garner/server/taken'

/**
 * When the picked photos were taken, read here by the server's own rules. The file's own time is no part of it: a
 * copy has the time of the copying, so it is offered to the person and never assumed.
 */
export interface FoundTime {
  /** Null when the photo says nothing; its `time` is null when only the day is known. */
  taken: Taken | null
  doubts: Doubt[]
  /** The file's own time on the clock here; null when the browser knows none. */
  fileTime: { date: string; time: string } | null
}

/** Cameras and phones write their stamps into the first few KB; the largest thumbnails seen before them are 200 KB. */
const HEAD_BYTES = 256 * 1024
/** Long colour profiles and panoramas' maps push the stamps back; beyond this nothing was found in a JPEG or PNG. */
const LONG_HEAD_BYTES = 1024 * 1024

export interface Here {
  nowMs: number
  zone: string
}

export async function findTime(file: File, here: Here): Promise<FoundTime> {
  const metadata = await metadataOf(file)
  const where = { zone: here.zone }
  const { taken, doubts } = resolveTaken({ metadata, fileName: file.name, where, nowMs: here.nowMs })
  const onFile = file.lastModified > 0 ? wallClock(file.lastModified, where) : null
  const fileTime = onFile?.time ? { date: onFile.date, time: onFile.time } : null
  return { taken, doubts, fileTime }
}

/** Absent: nothing could be read. */
const NOTHING: PhotoMetadata = { exif: {}, xmp: {}, gps: {}, orientation: null }

/** Never throws: a file that cannot be read now fails with words when it is uploaded. */
async function metadataOf(file: File): Promise<PhotoMetadata> {
  try {
    // Larger than the rest of this page, and of use only once a photo is picked.
    const { readMetadata } = await import('@garner/server/photo-metadata')
    for (const end of [HEAD_BYTES, LONG_HEAD_BYTES, ...(isHeif(await head(file, 12)) ? [file.size] : [])]) {
      const metadata = readMetadata(await head(file, end))
      if (hasStamp(metadata) || file.size <= end) return metadata
    }
  } catch {
    // The card was pulled out, or the file is gone.
  }
  return NOTHING
}

async function head(file: File, end: number): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await file.slice(0, end).arrayBuffer())
}

/** HEIC and AVIF may keep their stamps behind the pictures: then the whole file (25 MB at most) is looked through. */
function isHeif(start: Uint8Array): boolean {
  return String.fromCharCode(...start.slice(4, 8)) === 'ftyp'
}

function hasStamp({ exif, xmp }: PhotoMetadata): boolean {
  return [exif.dateTimeOriginal, exif.createDate, xmp.dateTimeOriginal, xmp.dateCreated, xmp.createDate].some(
    (text) => text !== undefined,
  )
}

/** Oldest first, by the very order that the server would use; what has no time at all comes last. */
export function oldestFirst<T extends { found: FoundTime }>(picked: readonly T[]): T[] {
  return inTakenOrder(picked, (one) => one.found.taken)
}
