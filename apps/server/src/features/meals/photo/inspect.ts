import { open } from 'node:fs/promises'
import { Head, HeadTooShort } from './header/head.ts'
import { brandFamily, heifHeader } from './header/heif.ts'
import { reasonFor } from './header/refused.ts'
import { gifSize, jpegSize, pngSize, type Size, webpSize } from './header/size.ts'
import { PictureError } from './picture-error.ts'

/**
 * What a file is, from its first bytes, before anything is decoded: the declared type and the name's ending are what
 * somebody claims, and a few kilobytes can unpack to gigabytes. Takes microseconds, so it runs where the upload comes in.
 */
export type PictureFormat = 'jpeg' | 'png' | 'gif' | 'webp' | 'avif' | 'heic'

export interface Inspection extends Size {
  format: PictureFormat
  /** The container itself turns or mirrors the picture (HEIC and AVIF): EXIF's orientation does not count then. */
  isTransformed: boolean
}

/** 25 MB, in the decimal megabytes that people and phones count in: four times what a phone's best photo takes. */
export const BYTES_MAX = 25_000_000
/** 100 megapixels: phones have 50; decoded, these would fill 300 MB. */
export const PIXELS_MAX = 100_000_000
/** Covers the metadata of nearly all photos; where it does not, the file is read whole. */
const HEAD_BYTES = 256 * 1024

/**
 * `bytes` is the file, or its first part while the rest is still to come.
 * Errors: PictureError `too_large`, `too_many_pixels` (413), `not_a_picture`, `svg`, `raw`, `video`, `other_format`
 * (415), `undecodable` (400); HeadTooShort when only a part was given and the size lies further on.
 */
export function inspect(bytes: Uint8Array, { isWhole = true } = {}): Inspection {
  if (bytes.length > BYTES_MAX) throw new PictureError('too_large')
  try {
    const found = recognise(new Head(bytes))
    const { width, height } = found
    if (width === 0 || height === 0) throw new PictureError('undecodable')
    if (width * height > PIXELS_MAX) throw new PictureError('too_many_pixels')
    return found
  } catch (error) {
    if (error instanceof HeadTooShort && isWhole) throw new PictureError('undecodable', error)
    throw error
  }
}

/** The same for a file on disk, of which only the first part is read where that is enough. Errors: the file system's too. */
export async function inspectFile(path: string): Promise<Inspection> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    if (size > BYTES_MAX) throw new PictureError('too_large')
    const first = Math.min(size, HEAD_BYTES)
    try {
      return inspect(await readFrom(file, first), { isWhole: first === size })
    } catch (error) {
      if (!(error instanceof HeadTooShort)) throw error
      return inspect(await readFrom(file, size))
    }
  } finally {
    await file.close()
  }
}

async function readFrom(file: Awaited<ReturnType<typeof open>>, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length)
  const { bytesRead } = await file.read(bytes, 0, length, 0)
  return bytes.subarray(0, bytesRead)
}

function recognise(head: Head): Inspection {
  if (head.spells('\xff\xd8\xff')) return { format: 'jpeg', isTransformed: false, ...jpegSize(head) }
  if (head.spells('\x89PNG\r\n\x1a\n')) return { format: 'png', isTransformed: false, ...pngSize(head) }
  if (head.spells('GIF87a') || head.spells('GIF89a')) {
    return { format: 'gif', isTransformed: false, ...gifSize(head) }
  }
  if (head.spells('RIFF') && head.spells('WEBP', 8)) {
    return { format: 'webp', isTransformed: false, ...webpSize(head) }
  }
  const family = brandFamily(head)
  if (family === 'raw' || family === 'video') throw new PictureError(family)
  if (family === 'heif') return recogniseHeif(head)
  throw new PictureError(reasonFor(head))
}

function recogniseHeif(head: Head): Inspection {
  const { width, height, codec, isTransformed } = heifHeader(head)
  // HEIF holds many codecs; with JPEG, AVC or VVC inside it comes from no camera and has no decoder here.
  if (codec === 'other') throw new PictureError('other_format')
  return { format: codec === 'av1' ? 'avif' : 'heic', isTransformed, width, height }
}
