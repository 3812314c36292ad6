import { canonical, charsetOf, isOpaque, streamDecoder } from './charset.ts'
import { HtmlHead } from './html-head.ts'
import { chooseTitle, type Titles } from './title.ts'

/**
 * One HTML answer from its first byte to its title: finds byte order marks, turns UTF-16 into UTF-8 on the way,
 * and keeps the first part for guessing a charset that nobody declared.
 */

/** 8 KiB: enough letters for statistics about them, little enough to keep for every page under way. */
const SAMPLE_MAX = 8 * 1024

export class PageReader {
  readonly head: HtmlHead
  readonly #headerLabel: string | undefined
  #start: Buffer | undefined = Buffer.alloc(0)
  #decoder: ReturnType<typeof streamDecoder> | undefined
  /** Set once the stream is UTF-8 beyond doubt: by a mark, or because it was decoded on the way. */
  #isUtf8 = false
  #sample: Buffer = Buffer.alloc(0)

  constructor(contentType: string) {
    this.#headerLabel = charsetOf(contentType)
    this.head = new HtmlHead({ isXml: /^application\/xhtml\+xml\b/i.test(contentType.trim()) })
  }

  write(bytes: Buffer): void {
    if (this.#start === undefined) {
      this.#read(bytes)
      return
    }
    this.#start = Buffer.concat([this.#start, bytes])
    // Four bytes hold any mark and the beginning of unmarked UTF-16.
    if (this.#start.length >= 4) this.#begin(this.#start)
  }

  /** The body is over, or nobody reads on. */
  end(): void {
    if (this.#start !== undefined) this.#begin(this.#start)
    if (this.#decoder) this.head.write(this.#decoder.end())
    this.head.end()
  }

  titles({ wasRedirected }: { wasRedirected: boolean }): Titles {
    return chooseTitle(this.head, {
      header: this.#isUtf8 ? 'utf-8' : this.#headerLabel,
      xml: /^\s*<\?xml[^>]*\sencoding\s*=\s*["']([\w.:-]+)["']/.exec(
        this.#sample.toString('latin1', 0, 200),
      )?.[1],
      sample: this.#sample,
      wasRedirected,
    })
  }

  /** Text outside of titles (an address in a refresh) is ASCII, or UTF-8. */
  #begin(start: Buffer): void {
    this.#start = undefined
    const [mark, charset] = byteOrder(start)
    const named = charset ?? (this.#headerLabel === undefined ? undefined : canonical(this.#headerLabel))
    const isLie = charset === undefined && named?.startsWith('utf-16') === true && startsAsAscii(start)
    if (named !== undefined && isOpaque(named) && !isLie) {
      this.#decoder = streamDecoder(named)
      this.#isUtf8 = true
    } else if (charset !== undefined) this.#isUtf8 = true
    this.#read(start.subarray(mark))
  }

  #read(bytes: Buffer): void {
    const read = this.#decoder ? this.#decoder.write(bytes) : bytes
    if (this.#sample.length < SAMPLE_MAX) {
      this.#sample = Buffer.concat([this.#sample, read.subarray(0, SAMPLE_MAX - this.#sample.length)])
    }
    this.head.write(read)
  }
}

/** The length of a byte order mark and the charset that it, or a first `<` in two bytes, stands for. */
function byteOrder(start: Buffer): [mark: number, charset: string | undefined] {
  const hex = start.toString('hex')
  if (hex.startsWith('efbbbf')) return [3, 'utf-8']
  if (hex.startsWith('fffe')) return [2, 'utf-16le']
  if (hex.startsWith('feff')) return [2, 'utf-16be']
  if (/^3c00..00/.test(hex)) return [0, 'utf-16le']
  if (/^003c00../.test(hex)) return [0, 'utf-16be']
  return [0, undefined]
}

/** A header that says UTF-16 of a page that is plainly not (`<!`, `<h`): two markup bytes in a row. */
function startsAsAscii(start: Buffer): boolean {
  return /^\s*<[!?a-z]/i.test(start.toString('latin1'))
}

/** Does a body without a type, or with a vague one, start like HTML? */
export function startsLikeHtml(start: Buffer): boolean {
  const text = start
    .toString('latin1')
    .replace(/\0/g, '')
    .replace(/^(ÿþ|þÿ|ï»¿)/, '')
  return /^\s*<(!doctype\s+html|html|head|title|meta|body|script|style|link|base|noscript|!--|div|p|h1|table|a|br|\?xml)/i.test(
    text,
  )
}

/** Files that servers call text/html because they know no better, by their first bytes. */
const FILE_STARTS = [
  '255044462d', // PDF
  ...['504b0304', '1f8b08', '52617221', '377abcaf'], // zip, gzip, rar, 7z
  ...['89504e47', '47494638', 'ffd8ff', '52494646'], // png, gif, jpeg, webp and wav
  ...['494433', '4f676753', '7f454c46'], // mp3, ogg, programs
]

export function isFile(start: Buffer): boolean {
  const hex = start.toString('hex', 0, 8)
  return FILE_STARTS.some((one) => hex.startsWith(one))
}
