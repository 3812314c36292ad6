import { describe, expect, test } from 'vitest'
import { LOOK_PX, lookOf } from './look.ts'
import { NO_METADATA } from './metadata.ts'
import { captureStampOf, isSamePhoto } from './same-photo.ts'

const lookWith = (seed: number) =>
  lookOf(
    Uint8Array.from({ length: LOOK_PX * LOOK_PX * 3 }, (_, i) => (Math.floor(i / 24) * seed) % 251),
    { width: 4, height: 3 },
  )
const [look, otherLook] = [lookWith(37), lookWith(59)]
const noon = { digest: 'a', look, captureStamp: '2026-08-01T12:00:00.100' }

describe('one photo or two', () => {
  test('the same bytes are the same photo, whatever else', () => {
    expect(isSamePhoto(noon, { ...noon, look: null, captureStamp: 'x' })).toBe(true)
  })

  test('a copy without its stamp, or with the first one’s, is the same photo', () => {
    expect(isSamePhoto(noon, { ...noon, digest: 'b', captureStamp: null })).toBe(true)
    expect(isSamePhoto({ ...noon, captureStamp: null }, { ...noon, digest: 'b' })).toBe(true)
    expect(isSamePhoto(noon, { ...noon, digest: 'b' })).toBe(true)
  })

  test('two exposures are two photos, alike as they may be: nobody’s second cup of coffee is swallowed', () => {
    expect(isSamePhoto(noon, { ...noon, digest: 'b', captureStamp: '2026-08-01T12:00:00.200' })).toBe(false)
  })

  test('another look is another photo, also with the same stamp', () => {
    expect(isSamePhoto(noon, { ...noon, digest: 'b', look: otherLook })).toBe(false)
  })

  test('without a look only the bytes can say it', () => {
    expect(isSamePhoto({ ...noon, look: null }, { ...noon, digest: 'b', look: null })).toBe(false)
  })
})

describe('the capture stamp', () => {
  const stampOf = (exif: object) => captureStampOf({ ...NO_METADATA, exif })
  test.for([
    [{ dateTimeOriginal: '2026:08:01 09:26:39', subSecOriginal: '094772' }, '2026-08-01T09:26:39.094772'],
    [{ dateTimeOriginal: '2026:08:01 09:26:39', subSecOriginal: '1 ' }, '2026-08-01T09:26:39.1'],
    [{ dateTimeOriginal: '2026:08:01 09:26:39' }, '2026-08-01T09:26:39'],
    [{ createDate: '2026:08:01 09:26:39' }, null],
    [{ dateTimeOriginal: '0000:00:00 00:00:00' }, null],
    [{ dateTimeOriginal: '2026:08:01' }, null],
    [{}, null],
  ] as const)('%o', ([exif, wanted]) => {
    expect(stampOf(exif)).toBe(wanted)
  })
})
