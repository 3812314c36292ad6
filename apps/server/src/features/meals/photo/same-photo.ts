import { LOOK_SAME_MAX, lookDistance } from './look.ts'
import type { PhotoMetadata } from './metadata.ts'
import { parseStamp, secondsOf } from './taken/stamp.ts'

/** What tells a photo from another one. */
export interface PhotoMark {
  /** SHA-256 of the file as it came, in hex. */
  digest: string
  /** look.ts. */
  look: string | null
  /** captureStampOf(): when the shutter opened, as the camera wrote it. */
  captureStamp: string | null
}

/**
 * Whether two files are one photo: the same bytes, or the same look unless the camera says that they were two
 * exposures. Two cups of coffee on one table look the same and were drunk an hour apart; a copy that went through a
 * messenger has no stamp, or the first one's.
 */
export function isSamePhoto(one: PhotoMark, other: PhotoMark): boolean {
  if (one.digest === other.digest) return true
  if (one.look === null || other.look === null) return false
  const areTwoExposures =
    one.captureStamp !== null && other.captureStamp !== null && one.captureStamp !== other.captureStamp
  return !areTwoExposures && lookDistance(one.look, other.look) <= LOOK_SAME_MAX
}

/**
 * EXIF's original stamp to the fraction of a second, as text: proof, not a time to show.
 * Shape: `YYYY-MM-DDTHH:MM:SS[.fff]`; null when there is none. Messengers that write the moment of the download put it
 * there too: then two copies count as two photos, and the same-minute rule is left to ask.
 */
export function captureStampOf({ exif }: PhotoMetadata): string | null {
  const stamp = parseStamp(exif.dateTimeOriginal ?? '')
  if (!stamp?.time) return null
  const fraction = /^\d{1,9}/.exec(exif.subSecOriginal?.trim() ?? '')?.[0]
  const seconds = stamp.seconds.length === 2 ? secondsOf(stamp.seconds, fraction) : stamp.seconds
  return `${stamp.date}T${stamp.time}:${seconds}`
}
