import { offsetOf, parseStamp, readingMs, type Stamp } from './stamp.ts'

/**
 * Offsets of zones that exist, in minutes, beside the whole hours from -12 to +14. A difference to the satellite
 * clock that is none of these is an old fix, not a zone: 10:17:28 is no place on earth, and 10:15 neither.
 */
const BROKEN_OFFSETS = new Set([...[-570, -210, -150, 210, 270, 330, 390, 570, 630], ...[345, 525, 765, 825]])
/**
 * 60 s: phones stamp the last fix, seconds old; a camera's clock is off by less than a minute. At 10 minutes an old
 * fix would pass for a zone every third time.
 */
const TOLERANCE_MS = 60_000

/**
 * The satellite stamp in Unix ms: a date and a time that are both in UTC, by the standard.
 * Shape: null when one of them is missing or impossible. A place without a time is no time.
 */
export function satelliteMs(gps: { dateStamp?: string; timeStamp?: readonly number[] }): number | null {
  const day = parseStamp(gps.dateStamp ?? '')
  const [hour, minute, second] = gps.timeStamp ?? []
  if (!day || hour === undefined || minute === undefined || second === undefined) return null
  const isTime = hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && second >= 0 && second < 61
  return isTime ? Date.parse(`${day.date}T00:00:00Z`) + ((hour * 60 + minute) * 60 + second) * 1000 : null
}

/** The offset that lies between a local reading and the satellites, or null when that is no zone. */
export function offsetBySatellite(stamp: Stamp, atMs: number): string | null {
  if (stamp.time === null) return null
  const apartMs = readingMs({ date: stamp.date, time: stamp.time, seconds: stamp.seconds }) - atMs
  const minutes = Math.round(apartMs / (15 * 60_000)) * 15
  if (Math.abs(apartMs - minutes * 60_000) > TOLERANCE_MS || !isOffsetOfAZone(minutes)) return null
  return offsetOf(minutes)
}

export function isOffsetOfAZone(minutes: number): boolean {
  if (BROKEN_OFFSETS.has(minutes)) return true
  return minutes % 60 === 0 && minutes >= -12 * 60 && minutes <= 14 * 60
}
