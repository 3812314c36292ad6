import { offsetMinutes, parseOffset, type Stamp } from './stamp.ts'

/**
 * Where the person is, as far as they said: an IANA zone (`Europe/Berlin`) or a fixed offset (`+02:00`). It is asked
 * only for what comes as an instant (satellites, file times, names in UTC), never for a clock's reading.
 */
export interface Where {
  zone?: string | undefined
  offset?: string | undefined
}

/** Making a formatter costs about a millisecond; people live in few zones. */
const formatters = new Map<string, Intl.DateTimeFormat>()
/** As many as there are zones, roughly: whoever sends made-up spellings must not fill the memory. */
const FORMATTERS_MAX = 600

/** Whether the text names a zone that this machine knows. */
export function isZone(text: string): boolean {
  return formatterFor(text) !== null
}

/**
 * What the clock on the wall shows at that instant. The offset is the zone's at that instant: in January the one of
 * January, whatever it is today.
 * Units: Unix ms. Shape: null when nobody said where, or the zone is unknown.
 */
export function wallClock(atMs: number, where: Where): Stamp | null {
  if (where.zone !== undefined) {
    const formatter = formatterFor(where.zone)
    return formatter && readZone(formatter, atMs)
  }
  const offset = parseOffset(where.offset ?? '')
  if (offset === null) return null
  const text = new Date(atMs + offsetMinutes(offset) * 60_000).toISOString()
  return {
    date: text.slice(0, 10),
    time: text.slice(11, 16),
    seconds: text.slice(17, 19),
    offset,
  }
}

function readZone(formatter: Intl.DateTimeFormat, atMs: number): Stamp {
  const part: Partial<Record<Intl.DateTimeFormatPartTypes, string>> = {}
  for (const { type, value } of formatter.formatToParts(atMs)) part[type] = value
  return {
    date: `${part.year}-${part.month}-${part.day}`,
    time: `${part.hour}:${part.minute}`,
    seconds: part.second!,
    offset: part.timeZoneName === 'GMT' ? '+00:00' : part.timeZoneName!.replace('GMT', ''),
  }
}

function formatterFor(zone: string): Intl.DateTimeFormat | null {
  const known = formatters.get(zone)
  if (known) return known
  try {
    const made = new Intl.DateTimeFormat('en-US', {
      ...{ timeZone: zone, hourCycle: 'h23', timeZoneName: 'longOffset' },
      ...{ year: 'numeric', month: '2-digit', day: '2-digit' },
      ...{ hour: '2-digit', minute: '2-digit', second: '2-digit' },
    })
    if (formatters.size >= FORMATTERS_MAX) formatters.clear()
    formatters.set(zone, made)
    return made
  } catch {
    return null
  }
}
