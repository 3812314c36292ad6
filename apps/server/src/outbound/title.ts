import { chooseCharset, decodeAs } from './charset.ts'
import type { HtmlHead } from './html-head.ts'
import { type Junk, junkKind } from './junk-titles.ts'
import type { RawText } from './raw-text.ts'

/** Longest title that is kept, in code points. 500: the longest honest ones (court cases, papers) are near 300. */
export const TITLE_MAX = 500

/** Line breaks, tabs and all other spaces. */
const SPACES = /[\s\u0085]+/g
/** Control characters, and zero-width ones that only break search. ZWJ and ZWNJ stay: emoji and Persian need them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is removed
const CONTROLS = /[\u0000-\u0008\u000e-\u001f\u007f-\u009f\u00ad\u200b\u2060-\u2064\ufeff\ufff9-\ufffb]/g
/** Turn the direction of everything behind them; even closed ones make "exe.pdf" of a program. */
const OVERRIDES = /[\u202d\u202e]/g
/** Nothing of these is seen: format characters, blank letters, marks without a base. */
const INVISIBLE = /[\p{Cf}\p{Cc}\p{Z}\p{M}\u2800\u3164\u115f\u1160\uffa0]/gu

/**
 * A title fit to be stored and shown, or null when nothing visible is left.
 * One line, trimmed, runs of spaces as one; no control or override characters, embeddings and isolates only in
 * pairs; never U+FFFD (something was decoded wrongly, and nobody can read it); at most TITLE_MAX code points.
 */
export function cleanTitle(text: string): string | null {
  if (/\ufffd/.test(text.toWellFormed()) || MOJIBAKE.test(text)) return null
  const line = pairedOnly(text.replace(OVERRIDES, '').replace(SPACES, ' ').replace(CONTROLS, ''))
    .replace(SPACES, ' ')
    .trim()
  if (line.replace(INVISIBLE, '') === '') return null
  const points = [...line]
  if (points.length <= TITLE_MAX) return line
  return `${pairedOnly(points.slice(0, TITLE_MAX - 1).join('')).trimEnd()}…`
}

/** U+FFFD that was stored once as UTF-8 and read once as something else. */
const MOJIBAKE = /\u00ef\u00bf\u00bd|锟斤拷/

/** Removes embeddings and isolates that are not closed, and closers of nothing. */
function pairedOnly(text: string): string {
  if (!/[\u202a-\u202c\u2066-\u2069]/.test(text)) return text
  const characters = [...text]
  const open: number[] = []
  const drop = new Set<number>()
  characters.forEach((character, at) => {
    if (/[\u202a\u202b\u2066-\u2068]/.test(character)) open.push(at)
    else if (character === '\u202c' || character === '\u2069') {
      const opener = characters[open.at(-1) ?? -1]
      const isOwn = opener !== undefined && (character === '\u2069') === opener >= '\u2066'
      if (isOwn) open.pop()
      else drop.add(at)
    }
  })
  for (const at of open) drop.add(at)
  return characters.filter((_, at) => !drop.has(at)).join('')
}

export interface Titles {
  /** The best usable title, or null. */
  title: string | null
  /** What the page turned out to be instead of itself. */
  junk: Junk | undefined
}

/**
 * The title of a page: the title element, then og:title, then twitter:title; the first that can be used.
 * `declared`: charset labels of the header (or the one that the stream was decoded with), then of the XML
 * declaration; those of meta tags go between. `wasRedirected`: a login page at the end of a redirect is not the page.
 */
export function chooseTitle(
  head: HtmlHead,
  found: { header: string | undefined; xml: string | undefined; sample: Buffer; wasRedirected: boolean },
): Titles {
  const sources = [head.title, head.ogTitle, head.twitterTitle].filter((one) => one !== undefined)
  const declared = [found.header, ...head.charsetLabels, found.xml].filter((one) => one !== undefined)
  // Each text by itself: one broken preview title must not spoil the good one beside it.
  const read = (raw: RawText) => {
    const charset = chooseCharset({ declared, evidence: raw.evidence(), sample: found.sample })
    return charset === undefined ? null : cleanTitle(raw.decode((bytes) => decodeAs(charset, bytes)))
  }
  const siteName = head.siteName ? read(head.siteName) : null
  let junk: Junk | undefined
  for (const source of sources) {
    const title = read(source)
    if (title === null || isAddress(title) || isSiteNameOnly(title, siteName)) continue
    const kind = junkKind(title)
    if (kind === undefined || (kind === 'login' && !found.wasRedirected)) return { title, junk: undefined }
    junk ??= kind
    // The whole answer is a wall: what else it says of itself is not about the page either.
    if (kind !== 'empty') break
  }
  return { title: null, junk }
}

/** Shorteners and frameworks put the address where the title belongs. */
function isAddress(title: string): boolean {
  return /^(https?:\/\/|www\.)\S+$/i.test(title)
}

const SEPARATOR = '[-–—|·•:»«/\\\\~]'

/**
 * " - ExampleTube": a separator and the name of the site, the title itself missing. With the site's name known,
 * it has to be that name; unknown, only a separator in front tells ("Title |" has merely lost its site).
 */
function isSiteNameOnly(title: string, siteName: string | null): boolean {
  if (new RegExp(`^${SEPARATOR}+$`).test(title)) return true
  const behind = new RegExp(`^${SEPARATOR}\\s+(.+)$`).exec(title)?.[1]
  const before = new RegExp(`^(.+)\\s+${SEPARATOR}$`).exec(title)?.[1]
  const rest = behind ?? before
  if (rest === undefined) return false
  if (siteName !== null) return rest.trim().toLowerCase() === siteName.toLowerCase()
  return behind !== undefined && !new RegExp(`\\s${SEPARATOR}\\s`).test(behind)
}
