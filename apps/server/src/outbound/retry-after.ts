/**
 * The longest wait that a server may ask for. 6 h: long enough for a maintenance window or an hourly quota;
 * a day would make "again tomorrow" out of one confused header, and dates in 2099 have been seen.
 */
export const RETRY_AFTER_MAX_MS = 6 * 60 * 60 * 1000

/**
 * Reads a Retry-After header: seconds or an HTTP date.
 * Units: milliseconds from `nowMs`, 0..RETRY_AFTER_MAX_MS; undefined when absent or unreadable.
 */
export function parseRetryAfter(text: string | undefined, nowMs: number): number | undefined {
  const value = text?.trim()
  if (!value) return undefined
  const waitMs = /^\d+$/.test(value) ? Number(value) * 1000 : dateMs(value) - nowMs
  if (Number.isNaN(waitMs)) return undefined
  return Math.min(Math.max(0, waitMs), RETRY_AFTER_MAX_MS)
}

/** Only what looks like an HTTP date: `Date.parse` alone takes "-5" for a year. */
function dateMs(value: string): number {
  return /^[A-Za-z]{3,9},? .*\d{2}:\d{2}:\d{2}/.test(value) ? Date.parse(value) : Number.NaN
}
