import { type LocalMoment, localMoment, MONTHS, WEEKDAYS } from './calendar.ts'

/**
 * Days and minutes as they were stated: `2026-08-29`, `13:37`. They are text, and no zone moves them; only "today"
 * needs a clock and a zone.
 */
const LONG_WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']

const two = (n: number) => String(n).padStart(2, '0')

/** Whether the text is a day of the calendar, padded. */
export function isDay(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false
  const atMs = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(atMs) && new Date(atMs).toISOString().startsWith(text)
}

export function isTime(text: string): boolean {
  return /^([01]\d|2[0-3]):[0-5]\d$/.test(text)
}

/** The parts of a day, as if it were in UTC: a day is the same day everywhere. */
function partsOf(day: string): LocalMoment {
  return localMoment(Date.parse(`${day}T00:00:00Z`), 'UTC')
}

export function todayOf(nowMs: number, zone?: string): string {
  const at = localMoment(nowMs, zone)
  return `${String(at.year).padStart(4, '0')}-${two(at.month)}-${two(at.day)}`
}

/** `14:06`, on the clock here. */
export function timeOf(nowMs: number, zone?: string): string {
  const at = localMoment(nowMs, zone)
  return `${two(at.hour)}:${two(at.minute)}`
}

export function addDays(day: string, by: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + by * 86_400_000).toISOString().slice(0, 10)
}

/** Whole days from `from` to `to`; negative when `to` is earlier. */
export function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / 86_400_000)
}

/** `Saturday 29 August`, with its year when that is not this one. */
export function longDay(day: string, today: string): string {
  const at = partsOf(day)
  const year = day.slice(0, 4) === today.slice(0, 4) ? '' : ` ${at.year}`
  return `${LONG_WEEKDAYS[at.weekday]} ${at.day} ${MONTHS[at.month - 1]}${year}`
}

/** `Sat 29 Aug`, with its year when that is not this one. */
export function shortDay(day: string, today: string): string {
  const at = partsOf(day)
  const year = day.slice(0, 4) === today.slice(0, 4) ? '' : ` ${at.year}`
  return `${WEEKDAYS[at.weekday]} ${at.day} ${MONTHS[at.month - 1]?.slice(0, 3)}${year}`
}

/** `Sat 29`: where the month is plain. */
export function weekdayAndDay(day: string): string {
  const at = partsOf(day)
  return `${WEEKDAYS[at.weekday]} ${at.day}`
}

/** `29 Aug` */
export function dayAndMonth(day: string): string {
  const at = partsOf(day)
  return `${at.day} ${MONTHS[at.month - 1]?.slice(0, 3)}`
}

/** `31 July` */
export function dayAndLongMonth(day: string): string {
  const at = partsOf(day)
  return `${at.day} ${MONTHS[at.month - 1]}`
}
