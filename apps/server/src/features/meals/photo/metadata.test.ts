import { assert, property, uint8Array } from 'fast-check'
import sharp from 'sharp'
import { describe, expect, test } from 'vitest'
import { NO_METADATA, readMetadata } from './metadata.ts'

const picture = () => sharp({ create: { width: 32, height: 24, channels: 3, background: '#a40' } })
const exif = {
  IFD0: { DateTime: '2026:08:05 09:00:00', Make: 'Case' },
  IFD2: { DateTimeOriginal: '2026:08:01 20:30:15', SubSecTimeOriginal: '094', OffsetTimeOriginal: '+02:00' },
  IFD3: {
    GPSLatitudeRef: 'N',
    GPSLatitude: '52/1 31/1 12/1',
    GPSDateStamp: '2026:08:01',
    GPSTimeStamp: '18/1 30/1 14/1',
  },
}
const read = async (made: Promise<Buffer>) => readMetadata(new Uint8Array(await made))
const wanted = {
  exif: {
    ...{ modifyDate: '2026:08:05 09:00:00', dateTimeOriginal: '2026:08:01 20:30:15' },
    ...{ subSecOriginal: '094', offsetOriginal: '+02:00' },
  },
  gps: { dateStamp: '2026:08:01', timeStamp: [18, 30, 14] },
}

describe('what a photo says about itself', () => {
  test.for(['jpeg', 'png', 'webp', 'avif'] as const)('EXIF in %s', async (format) => {
    expect(await read(picture().withExif(exif).toFormat(format).toBuffer())).toMatchObject(wanted)
  })

  test('orientation, where there is one', async () => {
    const turned = picture().withMetadata({ orientation: 6 })
    expect(await read(turned.jpeg().toBuffer())).toMatchObject({ orientation: 6 })
    expect(await read(picture().jpeg().toBuffer())).toEqual(NO_METADATA)
  })

  test('where it was taken is not read at all', async () => {
    const metadata = await read(picture().withExif(exif).jpeg().toBuffer())
    expect(JSON.stringify(metadata)).not.toMatch(/52|31|latitude|Case/i)
  })

  test('a text without an end is no date', async () => {
    const endless = { IFD2: { DateTimeOriginal: '2026:08:01 20:30:15'.padEnd(5000, ' and so on') } }
    expect((await read(picture().withExif(endless).jpeg().toBuffer())).exif).toEqual({})
  })

  test('damaged metadata is absent, and never an error', { timeout: 30_000 }, async () => {
    const [jpeg, webp] = [
      await picture().withExif(exif).jpeg().toBuffer(),
      await picture().withExif(exif).webp().toBuffer(),
    ]
    const damaged = property(uint8Array({ minLength: 1, maxLength: 30 }), (noise) => {
      for (const seed of [jpeg, webp]) {
        const file = new Uint8Array(seed)
        noise.forEach((value, i) => {
          file[2 + ((value * 31 + i * 97) % (file.length - 2))] = value
        })
        expect(Object.keys(readMetadata(file))).toEqual(Object.keys(NO_METADATA))
      }
    })
    assert(damaged, { seed: 4, numRuns: 300 })
    expect(readMetadata(new Uint8Array())).toEqual(NO_METADATA)
  })
})
