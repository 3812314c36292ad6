/**
 * Text of a page before its charset is known: runs of bytes (as Latin-1 strings, one character a byte) and
 * character references, which are code points already. Every charset of the web but UTF-16 leaves markup bytes
 * alone, so a page can be taken apart first and only the few wanted texts decoded, once the charset is known.
 */
export class RawText {
  readonly #parts: (string | number)[] = []
  #length = 0

  /** Titles are cut at 500 characters; 16 KiB of raw text is plenty and keeps a title that never ends small. */
  static readonly MAX = 16 * 1024

  bytes(latin1: string): void {
    if (this.#length >= RawText.MAX) return
    const part = latin1.slice(0, RawText.MAX - this.#length)
    this.#length += part.length
    // A slice of a 64 KiB chunk keeps the chunk alive; a copy of the few bytes does not.
    const copy = Buffer.from(part, 'latin1').toString('latin1')
    // Joined to what came before: a character of several bytes may have been cut between two pieces.
    const last = this.#parts.at(-1)
    if (typeof last === 'string') this.#parts[this.#parts.length - 1] = last + copy
    else this.#parts.push(copy)
  }

  codePoint(code: number): void {
    if (this.#length >= RawText.MAX) return
    this.#length++
    this.#parts.push(code)
  }

  get isBlank(): boolean {
    return this.#parts.every((part) => typeof part === 'string' && /^[\t\n\f\r ]*$/.test(part))
  }

  /** The bytes alone: what tells one charset from another. */
  evidence(): Buffer {
    return Buffer.from(this.#parts.filter((part) => typeof part === 'string').join(''), 'latin1')
  }

  decode(decode: (bytes: Buffer) => string): string {
    return this.#parts
      .map((part) =>
        typeof part === 'number' ? String.fromCodePoint(part) : decode(Buffer.from(part, 'latin1')),
      )
      .join('')
  }

  /** For what is ASCII by nature: attribute names, charset labels, numbers. */
  latin1(): string {
    return this.decode((bytes) => bytes.toString('latin1'))
  }

  /** The same text, up to the first line break or `<`: all that can be trusted of a title that never ends. */
  firstLine(): RawText {
    const line = new RawText()
    let hasText = false
    for (const part of this.#parts) {
      if (typeof part === 'number') line.codePoint(part)
      else {
        const text = hasText ? part : part.trimStart()
        const end = text.search(/[\r\n<]/)
        line.bytes(end < 0 ? text : text.slice(0, end))
        if (end >= 0) break
      }
      hasText = true
    }
    return line
  }
}
