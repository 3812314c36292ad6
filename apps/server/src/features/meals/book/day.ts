import { dateOf, readingMs } from '../photo/taken/stamp.ts'

/**
 * Days of the calendar as text (`2026-08-29`). They sort as text, and no zone is ever involved: the only instants
 * here are noons of UTC, for counting.
 */
const FIRST_DAY = '1900-01-01'
/** Far enough for every diary; beyond 9999 a year has five digits and no longer sorts as text. */
const LAST_DAY = '2199-12-31'
const DAY_MS = 24 * 3_600_000

/** The days from `first` to `last`, both in it, as their person counts days. */
export interface Span {
  first: string
  last: string
  /** HH:MM. */
  startOfDay: string
}

/** Whether the text is a day of the calendar, zero-padded. */
export function isDay(text: string): boolean {
  const found = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text)
  const day = found && dateOf(Number(found[1]), Number(found[2]), Number(found[3]))
  return day !== null && day >= FIRST_DAY && day <= LAST_DAY
}

export function addDays(day: string, days: number): string {
  return new Date(middayMs(day) + days * DAY_MS).toISOString().slice(0, 10)
}

/** How many days a span has; 0 or less when it ends before it begins. */
export function daysIn({ first, last }: Pick<Span, 'first' | 'last'>): number {
  return (middayMs(last) - middayMs(first)) / DAY_MS + 1
}

/** The day that a local date and time belong to, for somebody whose day begins at `startOfDay`. */
export function dayOf({ date, time }: { date: string; time: string }, startOfDay: string): string {
  return time < startOfDay ? addDays(date, -1) : date
}

function middayMs(day: string): number {
  return readingMs({ date: day, time: '12:00', seconds: '' })
}
