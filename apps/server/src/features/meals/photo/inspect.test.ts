import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { assert, property, uint8Array } from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HeadTooShort } from './header/head.ts'
import { inspect, inspectFile } from './inspect.ts'
import { PictureError } from './picture-error.ts'
import { boxOf, heic } from './testing/heif.ts'

const bytes = (...parts: (string | number[] | Uint8Array)[]) =>
  new Uint8Array(
    Buffer.concat(
      parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))),
    ),
  )
const be16 = (value: number) => [value >> 8, value & 255]
const be32 = (value: number) => [...be16(value >>> 16), ...be16(value & 0xffff)]

const sof = (width: number, height: number, marker = 0xc0) => [
  0xff,
  marker,
  0,
  17,
  8,
  ...be16(height),
  ...be16(width),
  3,
]
const app1 = (length: number) => [0xff, 0xe1, ...be16(length + 2), ...new Array(length).fill(0)]
const jpeg = (...parts: number[][]) => bytes([0xff, 0xd8], ...parts)
const png = (width: number, height: number) =>
  bytes('\x89PNG\r\n\x1a\n', be32(13), 'IHDR', be32(width), be32(height), [8, 2, 0, 0, 0])

const codeOf = (file: Uint8Array) => {
  try {
    return inspect(file).format
  } catch (error) {
    if (error instanceof PictureError) return error.code
    throw error
  }
}

describe('what a file is, by its bytes', () => {
  test.for([
    ['jpeg', jpeg(app1(10), sof(640, 480)), 'jpeg', 640, 480],
    ['progressive jpeg', jpeg(sof(640, 480, 0xc2)), 'jpeg', 640, 480],
    [
      'jpeg with filling between segments',
      jpeg([0xff, 0xff, 0xff, 0xd0, 0xff, 0x01], sof(640, 480)),
      'jpeg',
      640,
      480,
    ],
    ['jpeg whose tables come first', jpeg([0xff, 0xc4, 0, 4, 0, 0], sof(640, 480)), 'jpeg', 640, 480],
    ['png', png(20, 30), 'png', 20, 30],
    ['gif', bytes('GIF89a', [20, 1, 30, 0]), 'gif', 276, 30],
    [
      'webp, lossy',
      bytes('RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a', [20, 0x40, 30, 0]),
      'webp',
      20,
      30,
    ],
    ['webp, lossless', bytes('RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f', [19, 0x40, 7, 0]), 'webp', 20, 30],
    ['webp, extended', bytes('RIFF\0\0\0\0WEBPVP8X\0\0\0\0\x10\0\0\0', [19, 0, 0, 29, 0, 0]), 'webp', 20, 30],
    ['heic', heic(), 'heic', 96, 64],
  ] as const)('%s', ([, file, format, width, height]) => {
    expect(inspect(file)).toEqual({ format, width, height, isTransformed: false })
  })

  test('a container that turns the picture says so; one that crops it does not turn it', () => {
    const irot = boxOf('irot', [1])
    expect(inspect(heic({ properties: [irot] }))).toMatchObject({ isTransformed: true })
    expect(inspect(heic({ properties: [boxOf('imir', [0])] }))).toMatchObject({ isTransformed: true })
    expect(inspect(heic({ properties: [boxOf('clap', new Array(32).fill(0))] }))).toMatchObject({
      isTransformed: false,
    })
    // Another item's rotation is not the primary's.
    expect(inspect(heic({ unused: [irot] }))).toMatchObject({ isTransformed: false })
  })
})

describe('what is refused, with the right word', () => {
  test.for([
    ['II*\0', 'raw'],
    ['MM\0*', 'raw'],
    ['FUJIFILMCCD-RAW 0201', 'raw'],
    ['IIU\0', 'raw'],
    ['\0\0\0\x18ftypcrx \0\0\0\x01crx isom', 'raw'],
    ['\0\0\0\x18ftypisom\0\0\0\x01isommp42', 'video'],
    ['\0\0\0\x14ftypqt  \0\0\0\0qt  ', 'video'],
    ['\x1a\x45\xdf\xa3', 'video'],
    ['RIFF\0\0\0\0AVI LIST', 'video'],
    ['RIFF\0\0\0\0WAVEfmt ', 'not_a_picture'],
    ['\xff\x0a', 'other_format'],
    ['%PDF-1.7', 'other_format'],
    ['BM', 'other_format'],
    ['<svg width="1">', 'svg'],
    ['\xef\xbb\xbf\n <?xml version="1.0"?><!-- a --><s:svg>', 'svg'],
    ['<\0s\0v\0g\0 \0', 'svg'],
    ['<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY x "y">]>', 'svg'],
    ['<html><body>Not found</body></html>', 'not_a_picture'],
    ['oops', 'not_a_picture'],
    ['', 'not_a_picture'],
    ['\x1f\x8b', 'not_a_picture'],
  ])('%j is %s', ([text, code]) => {
    expect(codeOf(bytes(text!))).toBe(code)
  })

  test('each refusal has the status of the contract, and a sentence that names what is accepted or the limit', () => {
    const error = (file: Uint8Array) => {
      try {
        inspect(file)
      } catch (caught) {
        return caught as PictureError
      }
      throw new Error('not refused')
    }
    expect(error(bytes('II*\0'))).toMatchObject({
      status: 415,
      message: expect.stringMatching(/Raw.*JPEG.*HEIC/),
    })
    expect(error(bytes('<svg>'))).toMatchObject({ status: 415, message: expect.stringContaining('SVG') })
    expect(error(png(12_000, 9_000))).toMatchObject({
      status: 413,
      message: expect.stringContaining('100 megapixels'),
    })
    expect(error(jpeg(app1(4)))).toMatchObject({
      status: 400,
      message: expect.stringContaining('incomplete'),
    })
  })

  test('HEIF around another codec', () => {
    expect(codeOf(heic({ configuration: 'avcC' }))).toBe('other_format')
  })
})

describe('limits, from the header alone', () => {
  test('100 megapixels pass, one row more does not', () => {
    expect(codeOf(png(10_000, 10_000))).toBe('png')
    expect(codeOf(png(10_000, 10_001))).toBe('too_many_pixels')
    expect(codeOf(png(4_294_967_295, 4_294_967_295))).toBe('too_many_pixels')
    expect(codeOf(heic({ width: 12_000, height: 9_000 }))).toBe('too_many_pixels')
  })

  test('a picture without any pixel', () => {
    expect(codeOf(png(0, 10))).toBe('undecodable')
    expect(codeOf(jpeg(sof(640, 0)))).toBe('undecodable')
  })
})

/** A good HEIC with bytes between its first box and the next. */
function inFront(content: number[]): Uint8Array {
  const file = heic()
  const first = file[3]!
  return bytes(file.subarray(0, first), content, file.subarray(first))
}

describe('files that end early, or lie', () => {
  test('cut anywhere within its header a file is incomplete; with more to come it is asked for', () => {
    for (const file of [jpeg(app1(10), sof(640, 480)), png(20, 30), heic()]) {
      for (let length = 12; length < Math.min(file.length, 300); length++) {
        const part = file.subarray(0, length)
        expect(['undecodable', inspect(file).format]).toContain(codeOf(part))
        try {
          expect(inspect(part, { isWhole: false })).toEqual(inspect(file))
        } catch (error) {
          expect(error).toBeInstanceOf(HeadTooShort)
        }
      }
    }
  })

  test.for([
    ['no frame before the scan', jpeg([0xff, 0xda, 0, 2])],
    ['the end before anything', jpeg([0xff, 0xd9])],
    ['a segment without room for its own length', jpeg([0xff, 0xe1, 0, 1])],
    ['bytes between segments', jpeg(app1(4), [1, 2, 3])],
    ['a box that is smaller than its header', inFront([0, 0, 0, 4, 0, 0, 0, 8, ...Buffer.from('free')])],
    ['a box of no size at all', inFront([0, 0, 0, 1, ...Buffer.from('free'), 0, 0, 0, 0, 0, 0, 0, 0])],
    ['thousands of empty boxes', inFront(new Array(20_001).fill([0, 0, 0, 8, 102, 114, 101, 101]).flat())],
  ] as const)('%s', ([, file]) => {
    expect(codeOf(file)).toBe('undecodable')
  })

  test('any bytes are answered with a picture or a PictureError', () => {
    const seeds = [
      jpeg(app1(10), sof(640, 480)),
      png(20, 30),
      heic(),
      heic({ properties: [boxOf('irot', [1])] }),
    ]
    const damaged = property(uint8Array({ minLength: 1, maxLength: 40 }), (noise) => {
      for (const seed of seeds) {
        const file = Uint8Array.from(seed)
        noise.forEach((value, i) => {
          file[4 + ((value * 31 + i * 97) % (file.length - 4))] = value
        })
        expect(codeOf(file)).toEqual(expect.any(String))
      }
    })
    assert(damaged, { seed: 4, numRuns: 500 })
  })
})

describe('files on disk', () => {
  let folder = ''
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'garner-inspect-'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const fileWith = (content: Uint8Array) => {
    const path = join(folder, 'photo')
    writeFileSync(path, content)
    return path
  }

  test('a size behind 300 KB of metadata is found all the same', async () => {
    const far = jpeg(...new Array(5).fill(app1(65_000)), sof(640, 480))
    expect(await inspectFile(fileWith(far))).toMatchObject({ format: 'jpeg', width: 640 })
    const cut = far.subarray(0, 290_000)
    await expect(inspectFile(fileWith(cut))).rejects.toMatchObject({ code: 'undecodable' })
  })

  test('a byte over 25 MB is refused for its size, not for what it is', async () => {
    const large = new Uint8Array(25_000_001)
    await expect(inspectFile(fileWith(large))).rejects.toMatchObject({ code: 'too_large', status: 413 })
    await expect(inspectFile(fileWith(large.subarray(1)))).rejects.toMatchObject({ code: 'not_a_picture' })
  })
})
