/**
 * Plain text of what a model wrote, which may be what somebody wrote on a menu: no markup, no control characters, none
 * that turn the reading direction or hide, one space between words. Pure.
 * Shape: at most `max` UTF-16 units, never half a character; empty for anything but a text.
 */
export function plainText(value: unknown, max: number): string {
  if (typeof value !== 'string') return ''
  const clean = value
    .slice(0, RAW_MAX)
    .replace(/<[a-z!/?][^>]*(?:>|$)/gi, ' ')
    // Unpaired halves, controls, marks that hide or turn (bidi, zero width, tags), private use.
    .replace(/[\p{Cs}\p{Co}\p{Cn}]/gu, '')
    .replace(/\p{Cf}/gu, (c) => (c === ZERO_WIDTH_JOINER ? c : ''))
    .replace(/[\p{Cc}\p{Z}]+/gu, ' ')
    .trim()
  if (clean.length <= max) return clean
  const cut = clean.slice(0, max)
  return (/[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut).trim()
}

/** Joins emoji of one family; it hides nothing. */
const ZERO_WIDTH_JOINER = '\u200D'
/** 20,000: what is longer is no description; markup is not searched for in megabytes. */
const RAW_MAX = 20_000
