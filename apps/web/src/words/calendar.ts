/** Local days and minutes in words. Instants are Unix ms; the zone is the browser's own unless a test names one. */
export interface Here {
  nowMs: number
  /** IANA name; the browser's own when left out. */
  zone?: string | undefined
}

export interface LocalMoment {
  year: number
  /** 1 to 12. */
  month: number
  day: number
  /** 0 is Monday. */
  weekday: number
  hour: number
  minute: number
  second: number
  /** Days since 1970 of the local date, to count days between two. */
  dayNumber: number
}

export const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]
export const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']

const formats = new Map<string, Intl.DateTimeFormat>()

/** Making a format is slow and a long list needs it for every row, so each zone has one. */
function formatFor(zone: string | undefined): Intl.DateTimeFormat {
  let format = formats.get(zone ?? '')
  if (!format) {
    format = new Intl.DateTimeFormat('en-GB', {
      ...(zone === undefined ? {} : { timeZone: zone }),
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
    formats.set(zone ?? '', format)
  }
  return format
}

export function localMoment(atMs: number, zone?: string): LocalMoment {
  const part: Record<string, number> = {}
  for (const { type, value } of formatFor(zone).formatToParts(atMs)) part[type] = Number(value)
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part
  const dayNumber = Math.round(Date.UTC(year, month - 1, day) / 86_400_000)
  // 1 January 1970 was a Thursday, the 3 of a week that starts on Monday.
  return { year, month, day, hour, minute, second, dayNumber, weekday: (((dayNumber + 3) % 7) + 7) % 7 }
}

const two = (n: number) => String(n).padStart(2, '0')

/** `14:06` */
export function clockTime(atMs: number, zone?: string): string {
  const at = localMoment(atMs, zone)
  return `${two(at.hour)}:${two(at.minute)}`
}

/** `14:06:34` */
export function clockTimeWithSeconds(atMs: number, zone?: string): string {
  return `${clockTime(atMs, zone)}:${two(localMoment(atMs, zone).second)}`
}

/** `3 March`, with its year when that is not this one. */
export function date(atMs: number, here: Here): string {
  const at = localMoment(atMs, here.zone)
  const now = localMoment(here.nowMs, here.zone)
  return `${at.day} ${MONTHS[at.month - 1]}${at.year === now.year ? '' : ` ${at.year}`}`
}

/** In a row: `just now`, `3 min ago`, `13:20`, `Wed 08:52`, `3 March`. */
export function when(atMs: number, here: Here): string {
  const agoMs = here.nowMs - atMs
  // A little ahead is a clock that differs, not the future.
  if (agoMs > -60_000 && agoMs < 60_000) return 'just now'
  if (agoMs > 0 && agoMs < 3_600_000) return `${Math.floor(agoMs / 60_000)} min ago`
  const at = localMoment(atMs, here.zone)
  const days = localMoment(here.nowMs, here.zone).dayNumber - at.dayNumber
  if (days === 0 || days === 1) return clockTime(atMs, here.zone)
  if (days > 1 && days < 7) return `${WEEKDAYS[at.weekday]} ${clockTime(atMs, here.zone)}`
  return date(atMs, here)
}

/** In a sentence: `today at 13:20`, `yesterday at 18:31`, `on Wed at 08:52`, `on 3 March`. */
export function onDay(atMs: number, here: Here): string {
  const at = localMoment(atMs, here.zone)
  const days = localMoment(here.nowMs, here.zone).dayNumber - at.dayNumber
  const time = clockTime(atMs, here.zone)
  if (days === 0) return `today at ${time}`
  if (days === 1) return `yesterday at ${time}`
  if (days > 1 && days < 7) return `on ${WEEKDAYS[at.weekday]} at ${time}`
  return `on ${date(atMs, here)}`
}

/** The heading a link stands under: Today, Yesterday, Earlier this week, Last week, In July, In December 2025. */
export function dayGroup(atMs: number, here: Here): string {
  const at = localMoment(atMs, here.zone)
  const now = localMoment(here.nowMs, here.zone)
  const days = now.dayNumber - at.dayNumber
  if (days <= 0) return 'Today'
  if (days === 1) return 'Yesterday'
  if (days <= now.weekday) return 'Earlier this week'
  if (days <= now.weekday + 7) return 'Last week'
  return `In ${MONTHS[at.month - 1]}${at.year === now.year ? '' : ` ${at.year}`}`
}

/** A wait or an age: `2 s`, `1 min`, `3 h`; never `0 s`. */
export function duration(ms: number): string {
  const seconds = Math.max(1, Math.ceil(ms / 1000))
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`
  return `${Math.round(seconds / 3600)} h`
}

/** `2 hours ago`, `3 days ago`: for things where the minute does not matter. */
export function ago(atMs: number, here: Here): string {
  const minutes = Math.floor((here.nowMs - atMs) / 60_000)
  if (minutes < 1) return 'just now'
  if (minutes < 60) return `${minutes} min ago`
  const hours = Math.floor(minutes / 60)
  if (hours < 24) return hours === 1 ? '1 hour ago' : `${hours} hours ago`
  const days = Math.floor(hours / 24)
  return days === 1 ? 'yesterday' : days < 30 ? `${days} days ago` : `on ${date(atMs, here)}`
}
