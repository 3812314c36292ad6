import type { PictureErrorCode } from '../picture-error.ts'
import type { Head } from './head.ts'

/**
 * What is recognised only to be refused with the right word. TIFF among them: every maker's raw format is a TIFF
 * inside, with a small preview in front that a decoder takes for the photo.
 */
const RAW = [
  ...['II*\0', 'MM\0*', 'II+\0', 'MM\0+', 'IIU\0', 'IIRO', 'IIRS', 'MMOR'],
  ...['FUJIFILMCCD-RAW', 'FOVb', '\0MRM', 'II\x1a\0\0\0HEAPCCDR'],
]
const OTHER = [
  'BM',
  '8BPS',
  '%PDF',
  '\xff\x0a',
  '\0\0\0\x0cJXL ',
  '\0\0\0\x0cjP  ',
  '\xff\x4f\xff\x51',
  '\0\0\x01\0',
]
const VIDEO = ['\x1a\x45\xdf\xa3', '\0\0\x01\xba', '\0\0\x01\xb3', 'FLV\x01']

/** The reason for which a file that is no accepted picture is refused. */
export function reasonFor(head: Head): PictureErrorCode {
  const startsWith = (mark: string) => head.spells(mark)
  if (RAW.some(startsWith)) return 'raw'
  if (VIDEO.some(startsWith) || (head.spells('RIFF') && head.spells('AVI ', 8))) return 'video'
  if (OTHER.some(startsWith)) return 'other_format'
  return isMarkup(head.bytes) ? 'svg' : 'not_a_picture'
}

/** SVG is text: it may start with blanks, a byte order mark, a declaration, comments, in UTF-8 or UTF-16. */
function isMarkup(bytes: Uint8Array): boolean {
  const text = String.fromCharCode(...bytes.subarray(0, 4096)).replaceAll('\0', '')
  return /^[\xef\xbb\xbf\xfe\xff\s]*</.test(text) && /<(?:\w+:)?svg[\s>]|<!DOCTYPE\s+svg/i.test(text)
}
