import { availableParallelism } from 'node:os'
import { systemClock } from '@garner/db'
import sharp from 'sharp'
import { afterAll, describe, expect, test } from 'vitest'
import { inspect, inspectFile } from '../../apps/server/src/features/meals/photo/inspect.ts'
import { PictureError } from '../../apps/server/src/features/meals/photo/picture-error.ts'
import { createPictures } from '../../apps/server/src/features/meals/photo/pictures.ts'
import type { Normalised } from '../../apps/server/src/features/meals/photo/runners/normalise.ts'
import {
  caseNamed,
  casesOf,
  type PhotoCase,
  photoBytes,
  photoPath,
  type Rgb,
  type Stored,
} from './photo-cases.ts'

/**
 * Every case of the areas `format` and `privacy`, and those of `upload` that the reading of pictures decides: the real
 * files, the real threads. What is stored and sent is the very picture that is looked at here.
 */
const pictures = createPictures({ clock: systemClock(), cores: availableParallelism(), maxPx: 1600 })
afterAll(() => pictures.close())

/** Seen from outside only: health checks and uploads meanwhile, logs, the page, what the provider answers. */
const LEFT_TO_ROUTES = [
  ...['fmt-heic-off-thread', 'prv-logs', 'prv-logs-debug', 'prv-provider-error'],
  ...['upl-close-mid-batch', 'upl-proxy-limit', 'upl-slow-network', 'upl-fifty-parallel', 'upl-durable-202'],
]
/** Told below, each in its own way. */
const TOLD_BELOW = ['fmt-heic-memory', 'upl-over-size']
const cases = casesOf('format', 'privacy', 'upload').filter(({ input }) => input.files)

async function normalised(id: string, name: string): Promise<Normalised> {
  const path = photoPath(id, name)
  return pictures.normalise(path, await inspectFile(path))
}

/** The status that the upload is answered with: 202 when the picture is stored. */
async function statusOf(id: string, name: string): Promise<number> {
  try {
    await normalised(id, name)
    return 202
  } catch (error) {
    if (error instanceof PictureError) return error.status
    throw error
  }
}

describe('pictures as people really send them', () => {
  test('every case of these areas is told here or left to the routes', () => {
    const told = cases.filter(({ id }) => !LEFT_TO_ROUTES.includes(id)).map(({ id }) => id)
    const ids = casesOf('format', 'privacy', 'upload').map(({ id }) => id)
    expect([...told, ...TOLD_BELOW, ...LEFT_TO_ROUTES].sort()).toEqual(ids.sort())
  })

  test.for(cases.filter(({ id }) => !LEFT_TO_ROUTES.includes(id)))('$id: $what', async (one) => {
    const { assert } = one.expect
    const rssBefore = process.memoryUsage.rss()
    const startedMs = performance.now()
    const statuses: number[] = []
    for (const { name } of one.input.files!) statuses.push(await statusOf(one.id, name))
    if (assert.max_ms) expect(performance.now() - startedMs).toBeLessThanOrEqual(assert.max_ms)
    if (assert.rss_growth_mb_max) {
      expect((process.memoryUsage.rss() - rssBefore) / 1e6).toBeLessThanOrEqual(assert.rss_growth_mb_max)
    }
    expectStatuses(one, statuses)
    for (const [i, { name }] of one.input.files!.entries()) {
      if (statuses[i] !== 202) continue
      const wanted = assert.stored ?? assert.stored_each ?? sizeOf(assert.stored_list?.[i]) ?? {}
      await expectStored(await normalised(one.id, name), wanted)
    }
  })

  test('fmt-heic-memory: sixty HEICs leave no more memory behind than ten', async () => {
    const bound = caseNamed('fmt-heic-memory').expect.assert.rss_growth_mb_max!
    let afterTen = 0
    for (let i = 1; i <= 60; i++) {
      await normalised('fmt-heic', 'IMG_0300.HEIC')
      if (i === 10) afterTen = process.memoryUsage.rss()
    }
    expect((process.memoryUsage.rss() - afterTen) / 1e6).toBeLessThanOrEqual(bound)
  })

  test('upl-over-size: a byte over 25 MB is said before anything is read of it', () => {
    const start = photoBytes('fmt-octet-stream', 'plain.jpg')
    const padded = (bytes: number) => Uint8Array.from({ length: bytes }, (_, i) => start[i] ?? 0)
    expect(inspect(padded(25_000_000))).toMatchObject({ format: 'jpeg' })
    const over = () => inspect(padded(25_000_001))
    expect(over).toThrow(
      expect.objectContaining({ code: 'too_large', status: 413, message: expect.stringContaining('25 MB') }),
    )
  })

  test('fmt-heic-exif-rotation-only: the real phone of this kind', async () => {
    const { width, height, jpeg } = await normalised('real', 'samsung-s24fe.heic')
    expect([width, height]).toEqual([739, 1600])
    // The wall is brighter at the right once the phone is upright.
    expect(Math.abs((await pixelAt(jpeg, 3, 3))[0] - 139)).toBeLessThan(6)
    expect(Math.abs((await pixelAt(jpeg, 735, 3))[0] - 156)).toBeLessThan(6)
  })

  test('fmt-orientation: the letter F of all eight files stands upright', async () => {
    for (let i = 1; i <= 8; i++) {
      const { width, height, jpeg } = await normalised('real', `orientation-${i}.jpg`)
      expect([width, height]).toEqual([48, 80])
      const ink = await Promise.all(F_INK.map(([x, y]) => pixelAt(jpeg, x, y)))
      const paper = await Promise.all(F_PAPER.map(([x, y]) => pixelAt(jpeg, x, y)))
      expect(Math.max(...ink.flat()), `orientation-${i}.jpg`).toBeLessThan(60)
      expect(Math.min(...paper.flat()), `orientation-${i}.jpg`).toBeGreaterThan(200)
    }
  })
})

/** Stem, upper and lower bar of the F; the space between and beside the bars. */
const F_INK = [
  [8, 72],
  [40, 8],
  [24, 40],
] as const
const F_PAPER = [
  [40, 24],
  [40, 40],
  [24, 72],
] as const

function sizeOf(size: [number, number] | undefined): Stored | undefined {
  return size && { w: size[0], h: size[1] }
}

function expectStatuses({ id, expect: { assert, text } }: PhotoCase, statuses: number[]): void {
  // One unreadable file of a batch is refused, and the others are not.
  if (id === 'upl-one-bad-in-batch') {
    expect(statuses).toEqual([202, 415, 202, 202])
    return
  }
  for (const status of statuses)
    expect(assert.status_one_of ?? [assert.api_status ?? 202], text).toContain(status)
}

/** Nothing of a case that is about the picture may be left unlooked at: unknown words fail. */
async function expectStored({ jpeg, width, height }: Normalised, wanted: Stored): Promise<void> {
  const { format = 'jpeg', w, h, channels = 3, corners, centre, tolerance = 0, red_rises, ...rest } = wanted
  const { no_trailer, no_exif, no_xmp, no_orientation, must_not_contain = [], ...unknown } = rest
  expect(unknown).toEqual({})
  const found = await sharp(jpeg).metadata()
  expect(found).toMatchObject({ format, width, height, channels, space: 'srgb', depth: 'uchar' })
  if (w) expect([width, height]).toEqual([w, h])
  if (corners) {
    const at = { top_left: [3, 3], top_right: [width - 4, 3] } as const
    const low = { bottom_left: [3, height - 4], bottom_right: [width - 4, height - 4] } as const
    for (const [corner, [x, y]] of Object.entries({ ...at, ...low })) {
      const rgb = corners[corner as keyof typeof at]
      expectNear(await pixelAt(jpeg, x, y), rgb, corners.tolerance, corner)
    }
  }
  if (centre) expectNear(await pixelAt(jpeg, width >> 1, height >> 1), centre, tolerance, 'centre')
  if (red_rises) {
    const [left] = await pixelAt(jpeg, width / 6, height >> 1)
    const [right] = await pixelAt(jpeg, (width * 5) / 6, height >> 1)
    expect(right - left).toBeGreaterThanOrEqual(red_rises)
  }
  // True of every picture, whatever the case asks.
  const { exif, xmp, icc, iptc, orientation } = found
  expect({ exif, xmp, icc, iptc, orientation }).toEqual({})
  expect([...jpeg.subarray(-2)]).toEqual([0xff, 0xd9])
  expect(segmentsOf(jpeg)).not.toContain('APP1')
  for (const text of must_not_contain) expect(Buffer.from(jpeg).includes(text)).toBe(false)
  expect([no_trailer, no_exif, no_xmp, no_orientation]).not.toContain(false)
}

function expectNear(found: Rgb, wanted: Rgb, tolerance: number, where: string): void {
  for (let i = 0; i < 3; i++) {
    expect(Math.abs(found[i]! - wanted[i]!), `${where}: ${found} for ${wanted}`).toBeLessThanOrEqual(
      tolerance,
    )
  }
}

async function pixelAt(jpeg: Uint8Array, x: number, y: number): Promise<Rgb> {
  const { data, info } = await sharp(jpeg).raw().toBuffer({ resolveWithObject: true })
  const at = (Math.floor(y) * info.width + Math.floor(x)) * info.channels
  return [data[at]!, data[at + 1]!, data[at + 2]!]
}

/** The application segments in front of the scan. */
function segmentsOf(jpeg: Uint8Array): string[] {
  const found: string[] = []
  for (
    let at = 2;
    jpeg[at] === 0xff && jpeg[at + 1] !== 0xda;
    at += 2 + jpeg[at + 2]! * 256 + jpeg[at + 3]!
  ) {
    const marker = jpeg[at + 1]!
    if (marker >= 0xe0 && marker <= 0xef) found.push(`APP${marker - 0xe0}`)
  }
  return found
}
