import { PictureError } from '../picture-error.ts'
import type { Head } from './head.ts'

/** Width and height as stored, before any turning. Units: pixels. */
export interface Size {
  width: number
  height: number
}

/** SOF0 to SOF15, without DHT (C4), JPG (C8) and DAC (CC), which share their range. */
const isFrame = (marker: number) =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
/** RSTn and TEM stand alone, without a length. */
const isAlone = (marker: number) => (marker >= 0xd0 && marker <= 0xd7) || marker === 0x01

/**
 * The size of a JPEG stands behind its metadata, which is walked over segment by segment and not searched: a preview
 * inside the metadata has a frame of its own. Errors: HeadTooShort; PictureError `undecodable`.
 */
export function jpegSize(head: Head): Size {
  let at = 2
  for (;;) {
    if (head.u8(at) !== 0xff) throw new PictureError('undecodable')
    const marker = head.u8(at + 1)
    if (marker === 0xff) at += 1
    else if (isAlone(marker)) at += 2
    else if (isFrame(marker)) return { height: head.u16(at + 5), width: head.u16(at + 7) }
    else {
      const length = head.u16(at + 2)
      // The scan has begun, or the file has ended, and no frame was told of.
      if (marker === 0xda || marker === 0xd9 || length < 2) throw new PictureError('undecodable')
      at += 2 + length
    }
  }
}

/** Errors: HeadTooShort; PictureError `undecodable`. */
export function pngSize(head: Head): Size {
  if (head.text(12, 4) !== 'IHDR') throw new PictureError('undecodable')
  return { width: head.u32(16), height: head.u32(20) }
}

/** The canvas of all frames. Errors: HeadTooShort. */
export function gifSize(head: Head): Size {
  return { width: head.u16le(6), height: head.u16le(8) }
}

/** Of the three kinds of WebP: lossy, lossless, and extended (animations, metadata). Errors as pngSize. */
export function webpSize(head: Head): Size {
  switch (head.text(12, 4)) {
    case 'VP8 ':
      return { width: head.u16le(26) & 0x3fff, height: head.u16le(28) & 0x3fff }
    case 'VP8L': {
      const bits = head.u32le(21)
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
    }
    case 'VP8X':
      return { width: head.u24le(24) + 1, height: head.u24le(27) + 1 }
    default:
      throw new PictureError('undecodable')
  }
}
