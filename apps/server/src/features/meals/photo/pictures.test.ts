import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { systemClock } from '@garner/db'
import sharp from 'sharp'
import { afterAll, describe, expect, test } from 'vitest'
import { inspect, type PictureFormat } from './inspect.ts'
import { NO_METADATA } from './metadata.ts'
import { PictureError } from './picture-error.ts'
import { absentIfBad, createPictures, type PictureSource } from './pictures.ts'
import { boxOf, withProperties } from './testing/heif.ts'

/** Real threads, real decoders: what the cases of tests/cases do not hold. */
const pictures = createPictures({ clock: systemClock(), cores: 2, maxPx: 1600 })
const folder = mkdtempSync(join(tmpdir(), 'garner-pictures-'))
afterAll(async () => {
  await pictures.close()
  rmSync(folder, { recursive: true, force: true })
})

type Bytes = Uint8Array<ArrayBuffer>
const own = (buffer: Uint8Array): Bytes => new Uint8Array(buffer)
const normalised = (bytes: Bytes) => pictures.normalise(bytes, inspect(bytes))
const cases = fileURLToPath(new URL('../../../../../../tests/cases/photos/', import.meta.url))
const caseFile = (name: string) => own(readFileSync(join(cases, name)))

/** Red, green, blue, yellow from the top left on, 96 by 64. */
const CORNERS = ['#dc1e1e', '#1eb41e', '#1e1edc', '#e6dc28']
function quad() {
  const quarter = (colour: string) => ({
    create: { width: 48, height: 32, channels: 3 as const, background: colour },
  })
  return sharp({ create: { width: 96, height: 64, channels: 3, background: 'black' } }).composite(
    CORNERS.map((colour, i) => ({ input: quarter(colour), left: (i % 2) * 48, top: i < 2 ? 0 : 32 })),
  )
}

/** The colours of the corners in words, row by row. */
async function cornersOf(jpeg: Uint8Array): Promise<string> {
  const { data, info } = await sharp(jpeg).raw().toBuffer({ resolveWithObject: true })
  const at = (x: number, y: number) => {
    const [r, g, b] = data.subarray((y * info.width + x) * 3)
    if (r! > 180 && g! > 180) return 'yellow'
    return r! > 150 ? 'red' : g! > 150 ? 'green' : b! > 150 ? 'blue' : `(${r} ${g} ${b})`
  }
  const [right, low] = [info.width - 4, info.height - 4]
  return [at(3, 3), at(right, 3), at(3, low), at(right, low)].join(' ')
}
const UPRIGHT = 'red green blue yellow'
const TURNED_RIGHT = 'blue red yellow green'

describe('orientation is applied exactly once', () => {
  test.for(['jpeg', 'png', 'webp'] as const)('EXIF’s, in %s', async (format) => {
    const file = await quad().toFormat(format).withMetadata({ orientation: 6 }).toBuffer()
    const { jpeg, width, height } = await normalised(own(file))
    expect([width, height, await cornersOf(jpeg)]).toEqual([64, 96, TURNED_RIGHT])
  })

  test('AVIF: EXIF alone', async () => {
    const file = own(
      await quad()
        .avif()
        .withExif({ IFD0: { Make: 'Case' } })
        .toBuffer(),
    )
    expect(inspect(file)).toMatchObject({ format: 'avif', isTransformed: false })
    // sharp writes "upright" here (and turns in the container instead); phones write what they mean.
    const tag = Buffer.from([0x12, 1, 3, 0, 1, 0, 0, 0])
    file[Buffer.from(file).indexOf(tag) + tag.length] = 6
    expect(await pictures.readMetadata(file)).toMatchObject({ orientation: 6 })
    const { jpeg, width, height } = await normalised(file)
    expect([width, height, await cornersOf(jpeg)]).toEqual([64, 96, TURNED_RIGHT])
  })

  test('AVIF: the container’s turn, beside the same in EXIF', async () => {
    const file = own(await quad().avif().withMetadata({ orientation: 6 }).toBuffer())
    expect(inspect(file)).toMatchObject({ format: 'avif', isTransformed: true })
    const { jpeg, width, height } = await normalised(file)
    expect([width, height, await cornersOf(jpeg)]).toEqual([64, 96, TURNED_RIGHT])
  })

  const heic = caseFile('fmt-heic-exif-rotation-only/IMG_0303.HEIC')
  test.for([
    ['EXIF alone', [], TURNED_RIGHT],
    ['the container’s quarter to the right, beside the same in EXIF', [boxOf('irot', [3])], TURNED_RIGHT],
    ['the container’s quarter to the left, against EXIF', [boxOf('irot', [1])], 'green yellow red blue'],
    ['the container’s half turn, against EXIF', [boxOf('irot', [2])], 'yellow blue green red'],
    ['the container’s word that nothing is to be turned, against EXIF', [boxOf('irot', [0])], UPRIGHT],
    ['the container’s mirror, against EXIF', [boxOf('imir', [1])], 'green red yellow blue'],
  ] as const)('HEIC: %s', async ([, properties, wanted]) => {
    const file = withProperties(heic, [...properties])
    expect(inspect(file)).toMatchObject({ format: 'heic', isTransformed: properties.length > 0 })
    const { jpeg, width } = await normalised(file)
    expect(await cornersOf(jpeg)).toBe(wanted)
    expect(width).toBe(wanted.startsWith('blue') || wanted.startsWith('green yellow') ? 64 : 96)
  })
})

describe('every kind of picture becomes an sRGB JPEG of three channels', () => {
  const plain = async (jpeg: Uint8Array) => {
    const { data, info } = await sharp(jpeg).raw().toBuffer({ resolveWithObject: true })
    return { channels: info.channels, rgb: [...data.subarray(0, 3)] }
  }
  const flat = (background: object | string, channels: 3 | 4 = 3) =>
    sharp({ create: { width: 40, height: 30, channels, background: background as string } })

  test('16 bits', async () => {
    const deep = await flat('#c85014').toColourspace('rgb16').png().toBuffer()
    expect((await sharp(deep).metadata()).depth).toBe('ushort')
    const { channels, rgb } = await plain((await normalised(own(deep))).jpeg)
    expect(channels).toBe(3)
    rgb.forEach((value, i) => {
      expect(Math.abs(value - [200, 80, 20][i]!)).toBeLessThan(6)
    })
  })

  test('grey, and 16 bits of grey', async () => {
    for (const space of ['b-w', 'grey16']) {
      const grey = await flat('#808080').toColourspace(space).png().toBuffer()
      const { channels, rgb } = await plain((await normalised(own(grey))).jpeg)
      expect([channels, ...rgb.map((value) => Math.abs(value - 128) < 4)]).toEqual([3, true, true, true])
    }
  })

  test('transparent: white behind it, as it was seen, and not black', async () => {
    const clear = await flat({ r: 200, g: 0, b: 0, alpha: 0 }, 4).png().toBuffer()
    expect(await plain((await normalised(own(clear))).jpeg)).toEqual({ channels: 3, rgb: [255, 255, 255] })
  })

  test('wide colours are brought into sRGB by their profile', async () => {
    const wide = await flat('#ff0000').withIccProfile('p3').png().toBuffer()
    const stored = await sharp((await normalised(own(wide))).jpeg).metadata()
    expect([stored.icc, stored.space]).toEqual([undefined, 'srgb'])
    const { rgb } = await plain((await normalised(own(wide))).jpeg)
    expect(rgb[0]! > 240 && rgb[1]! < 20 && rgb[2]! < 20, String(rgb)).toBe(true)
  })

  test('wide colours of a HEIC too: its profile comes along', async () => {
    const [plainHeic, withP3] = await Promise.all([
      sharp((await normalised(caseFile('fmt-heic-several/IMG_0304.HEIC'))).jpeg)
        .raw()
        .toBuffer(),
      displayP3(),
    ])
    const heic = caseFile('fmt-heic-exif-rotation-only/IMG_0303.HEIC')
    const wide = withProperties(heic, [
      boxOf('irot', [0]),
      boxOf('colr', [...Buffer.from('prof'), ...withP3]),
    ])
    const [red, green, blue] = (await plain((await normalised(wide)).jpeg)).rgb
    expect([...plainHeic.subarray(0, 3)]).toEqual([220, 30, 30])
    // Red in Display P3 is redder than red in sRGB.
    expect([red! > 230, green! < 20, blue! < 30], `${red} ${green} ${blue}`).toEqual([true, true, true])
  })

  test.for(['gif', 'webp'] as const)('animated %s: the first frame', async (format) => {
    const frames = Buffer.concat(
      await Promise.all(['#dc1e1e', '#1eb41e', '#1e1edc'].map((c) => flat(c).raw().toBuffer())),
    )
    const animated = sharp(frames, { raw: { width: 40, height: 90, channels: 3, pageHeight: 30 } })
    const file = await animated.toFormat(format, { delay: [100, 100, 100] }).toBuffer()
    expect((await sharp(file).metadata()).pages).toBe(3)
    const { jpeg, width, height } = await normalised(own(file))
    expect([width, height, await cornersOf(jpeg)]).toEqual([40, 30, 'red red red red'])
  })

  test('long and narrow, and smaller than the limit', async () => {
    const long = await sharp({ create: { width: 3200, height: 2, channels: 3, background: 'red' } })
      .png()
      .toBuffer()
    expect(await normalised(own(long))).toMatchObject({ width: 1600, height: 1 })
    const dot = await sharp({ create: { width: 1, height: 1, channels: 3, background: 'red' } })
      .png()
      .toBuffer()
    expect(await normalised(own(dot))).toMatchObject({ width: 1, height: 1, look: null })
  })
})

async function displayP3(): Promise<Uint8Array> {
  const picture = sharp({ create: { width: 8, height: 8, channels: 3, background: 'red' } })
  return (await sharp(await picture.withIccProfile('p3').png().toBuffer()).metadata()).icc!
}

describe('what cannot be read is refused, and the threads live', () => {
  const formats: PictureFormat[] = ['jpeg', 'png', 'webp', 'gif', 'avif']
  test.for(formats)('%s that is cut off', async (format) => {
    const noise = sharp({
      create: {
        width: 200,
        height: 200,
        channels: 3,
        background: 'red',
        noise: { type: 'gaussian', mean: 128, sigma: 60 },
      },
    })
    const file = own(await noise.toFormat(format === 'heic' ? 'jpeg' : format).toBuffer())
    const cut = file.slice(0, Math.floor(file.length * 0.6))
    await expect(normalised(cut)).rejects.toMatchObject({ code: 'undecodable', status: 400 })
    expect(await normalised(file)).toMatchObject({ width: 200, height: 200 })
  })

  test('HEIC that is cut off, or whose data is noise', async () => {
    const whole = caseFile('real/samsung-s24fe.heic')
    const cut = whole.slice(0, 700_000)
    await expect(normalised(cut)).rejects.toMatchObject({ code: 'undecodable' })
    const small = caseFile('fmt-heic/IMG_0300.HEIC')
    const empty = small.slice()
    empty.fill(0, empty.length - 300)
    await pictures
      .normalise(empty, inspect(empty))
      .catch((error) => expect(error).toMatchObject({ code: 'undecodable' }))
    expect(await normalised(small)).toMatchObject({ width: 64, height: 64 })
  })

  test('more pixels than the limit are not decoded, whoever forgot to look first', async () => {
    const bomb = join(cases, 'fmt-pixel-bomb/bomb.png')
    const lie = { format: 'png', width: 1, height: 1, isTransformed: false } as const
    await expect(pictures.normalise(bomb, lie)).rejects.toMatchObject({ code: 'undecodable' })
  })

  test('a file that is not there is a fault of ours, and not of the picture', async () => {
    const missing = join(folder, 'missing.jpg')
    const read = (source: PictureSource) =>
      pictures.normalise(source, { format: 'jpeg', width: 1, height: 1, isTransformed: false })
    await expect(read(missing)).rejects.toThrow(/had a fault.*ENOENT/)
  })
})

describe('metadata that takes its reader down, or keeps it busy', () => {
  test('is absent, and the picture may still be fine; a full line is told, and so is a fault', async () => {
    const failed = (code: 'undecodable' | 'too_slow' | 'busy') =>
      absentIfBad(Promise.reject(new PictureError(code)))
    expect([await failed('undecodable'), await failed('too_slow')]).toEqual([NO_METADATA, NO_METADATA])
    await expect(failed('busy')).rejects.toMatchObject({ code: 'busy' })
    await expect(absentIfBad(Promise.reject(new Error('a fault')))).rejects.toThrow('a fault')
  })
})

describe('paths and bytes', () => {
  test('give the same picture, and the caller keeps its bytes', async () => {
    const bytes = own(await quad().jpeg().toBuffer())
    const path = join(folder, 'quad.jpg')
    writeFileSync(path, bytes)
    const [fromBytes, fromPath] = [await normalised(bytes), await pictures.normalise(path, inspect(bytes))]
    expect(fromPath).toEqual(fromBytes)
    expect(bytes.length).toBeGreaterThan(0)
    expect(await pictures.readMetadata(path)).toEqual(await pictures.readMetadata(bytes))
  })
})
