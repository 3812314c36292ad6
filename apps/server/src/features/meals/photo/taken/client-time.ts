import { dateOf, parseOffset, timeOf } from './stamp.ts'
import { type Taken, whyImplausible } from './taken.ts'

/** What a client sends beside the picture, as text. */
export interface ClientFields {
  date?: string | undefined
  time?: string | undefined
  offset?: string | undefined
}

export type ClientTime =
  | { ok: true; taken: Taken | null }
  | { ok: false; errors: { path: 'date' | 'time' | 'offset'; message: string }[] }

/** Before photography nobody took a photo; earlier years are slips of the keyboard. */
const FIRST_DATE = '1900-01-01'

/**
 * The client's own date and time: a person chose them, so they win over everything in the file, also over a stamp
 * that says something else.
 * Shape: `taken` null when neither was sent; every bad field is named, in one go. Padded only (`2026-08-01`, `09:05`):
 * 1-2-26 is read in two ways, and a year of five digits was once microseconds.
 */
export function readClientTime(fields: ClientFields, nowMs: number): ClientTime {
  const date = fields.date || undefined
  const time = fields.time || undefined
  const offset = fields.offset || undefined
  const problems = {
    date: dateProblem(date, { isNeeded: time !== undefined, nowMs }),
    time: timeProblem(time, { isNeeded: date !== undefined }),
    offset: offset !== undefined && parseOffset(offset) === null ? 'An offset such as +02:00.' : null,
  }
  const errors = (['date', 'time', 'offset'] as const).flatMap((path) => {
    const message = problems[path]
    return message === null ? [] : [{ path, message }]
  })
  if (errors.length > 0) return { ok: false, errors }
  if (date === undefined || time === undefined) return { ok: true, taken: null }
  return {
    ok: true,
    taken: {
      ...{ date, time, seconds: '', offset: parseOffset(offset ?? '') },
      ...{ source: 'client', guess: false, offsetIsDerived: false },
    },
  }
}

function dateProblem(text: string | undefined, about: { isNeeded: boolean; nowMs: number }): string | null {
  if (text === undefined) return about.isNeeded ? 'A time needs its date, as YYYY-MM-DD.' : null
  const found = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text)
  const date = found && dateOf(Number(found[1]), Number(found[2]), Number(found[3]))
  if (!date || date < FIRST_DATE) return 'A date as YYYY-MM-DD, such as 2026-08-01.'
  return whyImplausible(date, about.nowMs) === 'future' ? 'The date is more than a day ahead.' : null
}

function timeProblem(text: string | undefined, about: { isNeeded: boolean }): string | null {
  if (text === undefined) return about.isNeeded ? 'A date needs its time, as HH:MM.' : null
  const found = /^(\d\d):(\d\d)$/.exec(text)
  return found && timeOf(Number(found[1]), Number(found[2])) ? null : 'A time as HH:MM, such as 09:05.'
}
