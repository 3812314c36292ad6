/**
 * A reading of a wall clock, kept as text. It is never a Date: a Date needs a zone, and whichever zone is put in
 * (the server's, today's, the viewer's) has moved somebody's lunch to another hour or another day. The minute that
 * the camera showed is the minute that is stored, listed and counted.
 */
export interface Stamp {
  /** `YYYY-MM-DD`. */
  date: string
  /** `HH:MM`; null when only the day is known. */
  time: string | null
  /** `SS` or `SS.fff…`, digits as written: .094772 is before .1, which numbers of sub-seconds get wrong. */
  seconds: string
  /** `±HH:MM`, when whoever wrote the stamp knew it. */
  offset: string | null
}

/**
 * EXIF writes `2026:08:01 20:30:15`, XMP `2026-08-01T20:30:15.25+02:00`; old cameras pad with blanks, some phones
 * put the zone behind the seconds. Blanks and zeros alone ("unknown" in the standard) match nothing.
 */
const STAMP =
  /^(\d{4})[:\-/.]([ \d]\d)[:\-/.]([ \d]\d)(?:[T ]+([ \d]\d):([ \d]\d)(?::([ \d]\d)(?:[.,](\d{1,9}))?)?\s*(Z|[+-]\d{1,2}:?\d{2})?)?$/

/** Shape: null when the text is no date of the calendar or no time of the day. */
export function parseStamp(text: string): Stamp | null {
  const found = STAMP.exec(text.replaceAll('\0', '').trim())
  if (!found) return null
  const [, year, month, day, hour, minute, second, fraction, offset] = found
  const date = dateOf(Number(year), Number(month), Number(day))
  if (date === null) return null
  if (hour === undefined) return { date, time: null, seconds: '', offset: null }
  const time = timeOf(Number(hour), Number(minute))
  if (time === null || Number(second ?? 0) > 60) return null
  return { date, time, seconds: secondsOf(second, fraction), offset: parseOffset(offset ?? '') }
}

/** `SS` with its fraction; '' when the stamp has none. A leap second is shown as the one before. */
export function secondsOf(second: string | undefined, fraction: string | undefined): string {
  if (second === undefined) return ''
  const whole = two(Math.min(59, Number(second)))
  return fraction ? `${whole}.${fraction}` : whole
}

/** `YYYY-MM-DD`, or null when the calendar has no such day. */
export function dateOf(year: number, month: number, day: number): string | null {
  if (month < 1 || month > 12 || day < 1 || day > 31 || year < 1 || year > 9999) return null
  const date = `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`
  return new Date(`${date}T00:00:00Z`).toISOString().startsWith(date) ? date : null
}

/** `HH:MM`, or null when the day has no such minute. */
export function timeOf(hour: number, minute: number): string | null {
  return hour >= 0 && hour <= 23 && minute >= 0 && minute <= 59 ? `${two(hour)}:${two(minute)}` : null
}

const OFFSET = /^([+-])(\d{1,2}):?(\d{2})$/

/**
 * `±HH:MM` of what cameras write for an offset: `+02:00`, `-5:00`, `+0545`, `Z`. Null for blanks, and for what is no
 * offset on earth (-12:00 to +14:00, in quarters of an hour): an offset that is wrong is worse than none.
 */
export function parseOffset(text: string): string | null {
  const clean = text.replaceAll('\0', '').trim()
  if (clean === 'Z') return '+00:00'
  const found = OFFSET.exec(clean)
  if (!found) return null
  if (Number(found[3]) > 59) return null
  const minutes = (Number(found[2]) * 60 + Number(found[3])) * (found[1] === '-' ? -1 : 1)
  return minutes >= -12 * 60 && minutes <= 14 * 60 && minutes % 15 === 0 ? offsetOf(minutes) : null
}

export function offsetOf(minutes: number): string {
  const size = Math.abs(minutes)
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`
}

export function offsetMinutes(offset: string): number {
  const size = Number(offset.slice(1, 3)) * 60 + Number(offset.slice(4, 6))
  return offset.startsWith('-') ? -size : size
}

/** The reading taken for UTC, in ms: only for differences and arithmetic between readings. */
export function readingMs(stamp: { date: string; time: string; seconds: string }): number {
  return Date.parse(`${stamp.date}T${stamp.time}:${stamp.seconds.slice(0, 2) || '00'}Z`)
}

/** The instant in Unix ms (whole seconds), when the offset is known and the minute too. */
export function instantMs(stamp: Stamp): number | null {
  const { date, time, seconds, offset } = stamp
  if (time === null || offset === null) return null
  return readingMs({ date, time, seconds }) - offsetMinutes(offset) * 60_000
}

function two(value: number): string {
  return String(value).padStart(2, '0')
}
