import { dateOf, type Stamp, timeOf } from './stamp.ts'

/**
 * What a file's name says about when it was taken. Messengers strip all metadata and cameras are forgotten, but the
 * name often stays: it is a clock's reading (`IMG_20260801_203015`), an instant in UTC (Pixel phones, OneDrive), a
 * day alone (WhatsApp on Android), or nothing. A number that only might be a date is nothing: a wrong day is worse
 * than a question.
 */
export type NamedTime = { is: 'reading'; stamp: Stamp } | { is: 'instant'; atMs: number }

/** 24 hex digits and more, or a UUID: eight of them in a row can look like a day. */
const RANDOM = /(?=\S*[a-f])(?<![0-9a-z])[0-9a-f]{24,}(?![0-9a-z])|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/i
/** Milliseconds since 1970, 2001 to 2033: alone, or behind the marks of apps that name files so. */
const UNIX_MS = /^(?:FB_IMG_|IMG_|image_|mmexport|wx_camera_|lv_\d+_)?(1\d{12})(?:[ _-]?\(?\d{1,2}\)?)?$/i

const YMD = String.raw`(?<!\d)(?<y>199\d|20\d\d)(?<ds>[-_.: ]?)(?<m>\d\d)\k<ds>(?<d>\d\d)`
/** Blanks, marks, or a word or two between blanks: " at ", " um ", " a las ", ", ". */
const BETWEEN = String.raw`(?:[ _\-T.,]{0,3}|[\s_]+\p{L}{1,5}(?: \p{L}{1,5})?[\s_]+)`
const HMS = String.raw`(?:(?<h>\d\d)(?<min>\d\d)(?<s>\d\d)(?:[_.\-]?(?<f>\d{3}))?(?!\d)|(?<h2>\d{1,2})(?<ts>[-_.: ])(?<min2>\d\d)\k<ts>(?<s2>\d\d)(?!\d)|(?<h3>\d{1,2})[.:h](?<min3>\d\d)(?:m(?<s3>\d\d)s)?(?!\d))`
const WITH_TIME = new RegExp(`${YMD}${BETWEEN}${HMS}(?:\\s?(?<half>[ap])\\.?m\\b)?`, 'iu')
const DAY_ONLY = new RegExp(`${YMD}(?!\\d)`)
/** Day first: dotted, as nobody writes the month first, and Telegram's export (`photo_1@01-08-2026_20-30-15`). */
const DAY_FIRST = /(?<!\d)(?:(\d\d)\.(\d\d)\.(20\d\d)|(?<=^photo_\d+@)(\d\d)-(\d\d)-(20\d\d))(?!\d)/
/** Names that are in UTC: Pixel phones, OneDrive's uploads from iPhones, and those that say so. */
const IN_UTC = /^PXL_|_iOS\b|\d(?:Z|[ _]?UTC)(?![a-z])/i

/** Shape: null when the name says nothing. Takes the bare name or a path, with or without an ending. */
export function timeInName(fileName: string): NamedTime | null {
  const base = fileName.split(/[/\\]/).at(-1)!
  const name = base.slice(0, 200).replace(/\.[a-z][a-z0-9]{1,4}$/i, '')
  const unixMs = UNIX_MS.exec(name)?.[1]
  if (unixMs) return { is: 'instant', atMs: Number(unixMs) }
  if (RANDOM.test(name)) return null
  const stamp = readStamp(yearFirst(name))
  if (!stamp) return null
  if (stamp.time === null || !IN_UTC.test(name)) return { is: 'reading', stamp }
  return { is: 'instant', atMs: Date.parse(`${stamp.date}T${stamp.time}:${stamp.seconds || '00'}Z`) }
}

function yearFirst(name: string): string {
  return name.replace(
    DAY_FIRST,
    (...[, d1, m1, y1, d2, m2, y2]: string[]) => `${y1 ?? y2}-${m1 ?? m2}-${d1 ?? d2}`,
  )
}

function readStamp(name: string): Stamp | null {
  const timed = WITH_TIME.exec(name)?.groups
  const groups = timed ?? DAY_ONLY.exec(name)?.groups
  if (!groups) return null
  const date = dateOf(Number(groups.y), Number(groups.m), Number(groups.d))
  if (date === null) return null
  const time = timed ? readTime(timed) : null
  // What is no time is a counter: the day stands.
  return { date, time: null, seconds: '', ...time, offset: null }
}

function readTime(groups: Record<string, string>): { time: string; seconds: string } | null {
  const hour = Number(groups.h ?? groups.h2 ?? groups.h3)
  const half = groups.half?.toLowerCase()
  if (half && (hour < 1 || hour > 12)) return null
  const time = timeOf(
    half ? (hour % 12) + (half === 'p' ? 12 : 0) : hour,
    Number(groups.min ?? groups.min2 ?? groups.min3),
  )
  const second = groups.s ?? groups.s2 ?? groups.s3
  if (time === null || Number(second ?? 0) > 59) return null
  return { time, seconds: second ? (groups.f ? `${second}.${groups.f}` : second) : '' }
}
