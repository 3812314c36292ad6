import ExifReader from 'exifreader'

/**
 * What a photo says about itself, as text, exactly as written: nothing is turned into a Date here (readers that do
 * take the machine's zone), nothing is judged (taken/ does).
 * Read by ExifReader (MPL-2.0, used unchanged). Of where the photo was taken only the satellites' clock is read: no place gets this far.
 */
export interface PhotoMetadata {
  exif: {
    dateTimeOriginal?: string
    createDate?: string
    modifyDate?: string
    subSecOriginal?: string
    subSecDigitized?: string
    offset?: string
    offsetOriginal?: string
    offsetDigitized?: string
  }
  xmp: { dateTimeOriginal?: string; dateCreated?: string; createDate?: string }
  gps: { dateStamp?: string; timeStamp?: number[] }
  /** 1 to 8, as EXIF counts them; null when it says nothing of use. */
  orientation: number | null
}

export const NO_METADATA: PhotoMetadata = { exif: {}, xmp: {}, gps: {}, orientation: null }

/** Longer texts are no dates. */
const TEXT_MAX = 64

/** Names as ExifReader has them; nothing else of the file is parsed, no maker's notes and no place. */
const EXIF_TEXTS = {
  dateTimeOriginal: 'DateTimeOriginal',
  createDate: 'DateTimeDigitized',
  modifyDate: 'DateTime',
  subSecOriginal: 'SubSecTimeOriginal',
  subSecDigitized: 'SubSecTimeDigitized',
  offset: 'OffsetTime',
  offsetOriginal: 'OffsetTimeOriginal',
  offsetDigitized: 'OffsetTimeDigitized',
}
const GPS_TEXTS = { dateStamp: 'GPSDateStamp' }
const XMP_TEXTS = {
  dateTimeOriginal: 'DateTimeOriginal',
  dateCreated: 'DateCreated',
  createDate: 'CreateDate',
}
const TAGS = {
  exif: [...Object.values(EXIF_TEXTS), ...Object.values(GPS_TEXTS), 'GPSTimeStamp', 'Orientation'],
  xmp: Object.values(XMP_TEXTS),
}

/**
 * Reads the metadata of a whole file (JPEG, PNG, WebP, GIF, AVIF, HEIF).
 * Never throws: metadata that points outside the file, or round in a circle, is absent, and the picture may still be
 * fine. Takes a few ms; a file made for it could take long, so it is called in a thread with a time limit.
 */
export function readMetadata(bytes: Uint8Array<ArrayBuffer>): PhotoMetadata {
  try {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const groups = ExifReader.loadView(view, { expanded: true, includeTags: TAGS })
    const exif = (groups.exif ?? {}) as Tags
    return {
      exif: textsOf(exif, EXIF_TEXTS),
      xmp: textsOf((groups.xmp ?? {}) as Tags, XMP_TEXTS),
      gps: { ...textsOf(exif, GPS_TEXTS), ...satelliteTime(exif.GPSTimeStamp?.value) },
      orientation: orientationOf(exif.Orientation?.value),
    }
  } catch {
    return NO_METADATA
  }
}

type Tags = Record<string, { value?: unknown } | undefined>

function textsOf<Key extends string>(tags: Tags, names: Record<Key, string>): Partial<Record<Key, string>> {
  const texts: Partial<Record<Key, string>> = {}
  for (const key of Object.keys(names) as Key[]) {
    const value = tags[names[key]]?.value
    const text = Array.isArray(value) ? value[0] : value
    if (typeof text === 'string' && text.length <= TEXT_MAX) texts[key] = text
  }
  return texts
}

/** Three fractions: hours, minutes, seconds. */
function satelliteTime(value: unknown): { timeStamp?: number[] } {
  if (!Array.isArray(value) || value.length !== 3) return {}
  const timeStamp = value.map((part) =>
    Array.isArray(part) ? Number(part[0]) / Number(part[1]) : Number(part),
  )
  return timeStamp.every(Number.isFinite) ? { timeStamp } : {}
}

function orientationOf(value: unknown): number | null {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 8 ? Number(value) : null
}
