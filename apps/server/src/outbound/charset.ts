import { isUtf8 } from 'node:buffer'
import chardet from 'chardet'
import iconv from 'iconv-lite'

/**
 * Which charset a page is in, and its bytes as text. What is declared is only believed when the title decodes
 * cleanly with it; what is undeclared is UTF-8 when it can be. Decoding goes through iconv-lite's tables:
 * the runtime's own euc-kr lacks the Windows extension, and says nothing, even when told to be strict.
 */

/** The standard's name of a charset (https://encoding.spec.whatwg.org/#names-and-labels) → iconv-lite's table. */
const TABLES: Record<string, string> = {
  'utf-8': 'utf8',
  gbk: 'gb18030',
  gb18030: 'gb18030',
  big5: 'big5hkscs',
  'euc-jp': 'eucjp',
  shift_jis: 'cp932',
  'euc-kr': 'cp949',
  'iso-8859-8-i': 'iso-8859-8',
  'x-mac-cyrillic': 'maccyrillic',
  'x-user-defined': 'windows-1252',
}
/** iconv-lite has no table for this one; the runtime's decoder is right about it. */
const BY_RUNTIME = new Set(['iso-2022-jp'])

/**
 * The standard's name for a label as written on the web; undefined when nobody knows it.
 * In a page that could be read up to here, "utf-16" is a lie that means UTF-8 (HTML standard, 13.2.3.2).
 */
export function charsetNamed(label: string): string | undefined {
  const name = canonical(label)
  return name?.startsWith('utf-16') ? 'utf-8' : name
}

/** As `charsetNamed`, for a header, where utf-16 can be true. */
export function canonical(label: string): string | undefined {
  let name: string
  try {
    name = new TextDecoder(label).encoding
  } catch {
    return undefined
  }
  if (name.startsWith('utf-16') || BY_RUNTIME.has(name)) return name
  return iconv.encodingExists(TABLES[name] ?? name) ? name : undefined
}

export function decodeAs(name: string, bytes: Buffer): string {
  if (BY_RUNTIME.has(name)) return new TextDecoder(name).decode(bytes)
  return iconv.decode(bytes, TABLES[name] ?? name, { stripBOM: false })
}

/** A decoder for a whole stream that is turned into UTF-8 before it is read; see `transcodedFrom`. */
export function streamDecoder(name: string): { write(bytes: Buffer): Buffer; end(): Buffer } {
  const decoder = new TextDecoder(name)
  return {
    write: (bytes) => Buffer.from(decoder.decode(bytes, { stream: true })),
    end: () => Buffer.from(decoder.decode()),
  }
}

/** Charsets whose bytes cannot be read as ASCII markup; the whole stream has to be decoded first. */
export function isOpaque(name: string): boolean {
  return name.startsWith('utf-16') || BY_RUNTIME.has(name)
}

/** The charset parameter of a Content-Type, as written; undefined when there is none. */
export function charsetOf(contentType: string): string | undefined {
  return /(?:^|[;\s])charset\s*=\s*["']?\s*([^\s"';,]+)/i.exec(contentType)?.[1]
}

const MULTI_BYTE = new Set(['gbk', 'gb18030', 'big5', 'euc-jp', 'euc-kr', 'shift_jis'])

/**
 * Text that is valid UTF-8 with this many characters beyond ASCII is UTF-8, whatever was declared. In a
 * single-byte charset one such sequence already reads as "Ã©". Two-byte charsets overlap with UTF-8: "联通" is
 * the famous accident. At 8 the chance that Chinese text passes for UTF-8 is below one in a million.
 */
const UTF8_SEQUENCES = { single: 1, multi: 8 }

/**
 * The charset of `evidence` (the title, or what stands in for it, without character references).
 * `declared`: labels in order of trust: header, meta, XML declaration. `sample`: the first part of the page.
 * Undefined when nothing decodes the evidence cleanly.
 */
export function chooseCharset(found: {
  declared: readonly string[]
  evidence: Buffer
  sample: Buffer
}): string | undefined {
  const { declared, evidence, sample } = found
  if (evidence.every((byte) => byte < 0x80 && byte !== 0x1b)) return 'utf-8'
  const sequences = isUtf8(evidence) ? evidence.filter((byte) => byte >= 0xc2).length : 0
  const isClean = (name: string) => !decodeAs(name, evidence).includes('\ufffd')
  for (const label of declared) {
    const name = charsetNamed(label)
    if (name === undefined) continue
    if (name !== 'utf-8' && sequences >= UTF8_SEQUENCES[MULTI_BYTE.has(name) ? 'multi' : 'single'])
      return 'utf-8'
    if (name === 'utf-8' ? sequences > 0 : isClean(name)) return name
  }
  if (sequences > 0) return 'utf-8'
  const detected = detect(evidence, sample)
  if (detected && isClean(detected)) return detected
  return isClean('windows-1252') ? 'windows-1252' : undefined
}

/**
 * Statistics over the bytes, believed only for scripts other than Latin, where letters beyond ASCII outnumber the
 * rest. Among the charsets for Latin letters it is a coin toss; there the web's own fallback is right more often.
 */
const CYRILLIC = ['windows-1251', 'koi8-r', 'iso-8859-5']
const DETECTABLE = new Set([
  ...CYRILLIC,
  ...['shift_jis', 'euc-jp', 'gb18030', 'big5', 'euc-kr', 'windows-1253', 'iso-8859-7', 'windows-1255'],
  ...['iso-8859-8', 'windows-1256', 'iso-8859-6', 'windows-874'],
])
/** Fewer bytes beyond ASCII than this are no statistics. */
const DETECT_MIN = 6

function detect(evidence: Buffer, sample: Buffer): string | undefined {
  const high = evidence.filter((byte) => byte >= 0x80).length
  const letters = evidence.toString('latin1').match(/[a-z]/gi)?.length ?? 0
  if (high < DETECT_MIN || high <= letters) return undefined
  const text = sample.toString('latin1').replace(/<[^>]*>/g, ' ')
  const results = chardet
    .analyse(Buffer.concat([evidence, Buffer.from(text.replace(/[a-z]+/gi, ''), 'latin1')]))
    .map(({ name, confidence }) => ({ name: canonical(name) ?? '', confidence }))
    .filter(({ name }) => DETECTABLE.has(name) && !decodeAs(name, evidence).includes('\ufffd'))
  const best = results[0]
  if (!best) return undefined
  // Two close calls that counting bytes gets wrong and one look at the text decides: prose is mostly small
  // letters, and Japanese has kana.
  if (CYRILLIC.includes(best.name)) return mostly(/\p{Ll}/gu, CYRILLIC, evidence)
  const tied = results.filter(({ confidence }) => confidence === best.confidence).map(({ name }) => name)
  return mostly(/[\u3040-\u30ff]/g, tied, evidence)
}

/** The charset that gives the most of `wanted`; the first of equals. */
function mostly(wanted: RegExp, names: readonly string[], evidence: Buffer): string | undefined {
  const counted = names.map((name) => ({ name, count: decodeAs(name, evidence).match(wanted)?.length ?? 0 }))
  return counted.reduce((best, one) => (one.count > best.count ? one : best)).name
}
