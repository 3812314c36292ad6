/**
 * The first bytes of a file, read without ever reading past them. Thrown out of a parser, `HeadTooShort` says that
 * what it needs lies further on: with a part of the file in hand the caller comes back with all of it, with all of it
 * in hand the file is cut off.
 */
export class HeadTooShort extends Error {
  readonly code = 'HEAD_TOO_SHORT'
}

export class Head {
  readonly bytes: Uint8Array
  readonly #view: DataView

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  u8(at: number): number {
    return this.#view.getUint8(this.#check(at, 1))
  }

  u16(at: number): number {
    return this.#view.getUint16(this.#check(at, 2))
  }

  u16le(at: number): number {
    return this.#view.getUint16(this.#check(at, 2), true)
  }

  u24le(at: number): number {
    return this.u16le(at) + this.u8(at + 2) * 65_536
  }

  u32(at: number): number {
    return this.#view.getUint32(this.#check(at, 4))
  }

  u32le(at: number): number {
    return this.#view.getUint32(this.#check(at, 4), true)
  }

  /** Sizes beyond 2^53 become inexact, and are beyond any file just the same. */
  u64(at: number): number {
    return this.u32(at) * 2 ** 32 + this.u32(at + 4)
  }

  /** Byte for character. */
  text(at: number, length: number): string {
    this.#check(at, length)
    return String.fromCharCode(...this.bytes.subarray(at, at + length))
  }

  /** Whether the bytes at `at` spell `text`; false, not an error, where the head ends before. */
  spells(text: string, at = 0): boolean {
    return at + text.length <= this.bytes.length && this.text(at, text.length) === text
  }

  #check(at: number, length: number): number {
    if (at + length > this.bytes.length) throw new HeadTooShort()
    return at
  }
}
