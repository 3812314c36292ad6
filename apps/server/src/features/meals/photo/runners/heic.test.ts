import { readFileSync } from 'node:fs'
import sharp from 'sharp'
import { describe, expect, test } from 'vitest'
import { HeicDecoder } from './heic.ts'

const caseFile = (name: string) =>
  new Uint8Array(readFileSync(new URL(`../../../../../../../tests/cases/photos/${name}`, import.meta.url)))
const several = caseFile('fmt-heic-several/IMG_0304.HEIC')
const whole = { longestPx: 1600, orientation: 1 }

describe('HEIC', () => {
  test('is shrunk by a whole number of times, to no less than asked for', async () => {
    const decoder = new HeicDecoder()
    const sizeAt = async (longestPx: number) => {
      const { width, height } = await sharp(decoder.decode(several, { ...whole, longestPx })).metadata()
      return [width, height]
    }
    expect(await sizeAt(1600)).toEqual([96, 64])
    expect(await sizeAt(49)).toEqual([96, 64])
    expect(await sizeAt(48)).toEqual([48, 32])
    expect(await sizeAt(20)).toEqual([24, 16])
    expect(await sizeAt(10)).toEqual([10, 7])
  })

  test('shrunk pixels are means: the corners keep their colours', async () => {
    const tiff = new HeicDecoder().decode(several, { ...whole, longestPx: 24 })
    const { data, info } = await sharp(tiff).raw().toBuffer({ resolveWithObject: true })
    const at = (x: number, y: number) => [
      ...data.subarray((y * info.width + x) * 3, (y * info.width + x) * 3 + 3),
    ]
    const [red, green, blue, yellow] = [at(0, 0), at(23, 0), at(0, 15), at(23, 15)]
    for (const [found, wanted] of [
      [red, [220, 30, 30]],
      [green, [30, 180, 30]],
      [blue, [30, 30, 220]],
      [yellow, [230, 220, 40]],
    ] as const) {
      for (let i = 0; i < 3; i++) expect(Math.abs(found![i]! - wanted[i]!)).toBeLessThan(6)
    }
  })

  test('with more pixels than the limit is not decoded, by what the data says', () => {
    expect(() => new HeicDecoder({ pixelsMax: 60 * 60 }).decode(several, whole)).toThrow(
      expect.objectContaining({ code: 'too_many_pixels', status: 413 }),
    )
    expect(new HeicDecoder({ pixelsMax: 96 * 96 }).decode(several, whole).length).toBeGreaterThan(96 * 64 * 3)
  })

  test('all that a picture took is given back, also by one that fails', () => {
    const decoder = new HeicDecoder()
    const cut = several.slice(0, 1200)
    for (let i = 0; i < 20; i++) decoder.decode(several, whole)
    const { heapBytes } = decoder
    for (let i = 0; i < 3000; i++) {
      decoder.decode(several, whole)
      expect(() => decoder.decode(cut, whole)).toThrow()
    }
    expect(decoder.heapBytes).toBe(heapBytes)
  })
})
