import { readFile } from 'node:fs/promises'
import sharp from 'sharp'
import { readMetadata } from '../features/meals/photo/metadata.ts'
import type { PictureSource, Pictures } from '../features/meals/photo/pictures.ts'
import { normalise } from '../features/meals/photo/runners/normalise.ts'
import { type Described, type Vision, type VisionCall, VisionError } from '../outbound/vision.ts'

/** What tests of photos have in common: pictures of plates, the form they are sent in, and a model that does as told. */

/** A JPEG that looks like nothing but itself: coloured patches that follow from `n`. */
export async function plate(n: number, { quality = 90, px = 64 } = {}): Promise<Uint8Array<ArrayBuffer>> {
  const [w, h] = [px, (px * 3) / 4]
  const cells = Array.from({ length: 48 }, (_, i) => hashOf(n * 48 + i))
  const pixels = new Uint8Array(w * h * 3)
  for (let y = 0, at = 0; y < h; y++) {
    for (let x = 0; x < w; x++, at += 3) {
      const cell = cells[Math.floor((y * 6) / h) * 8 + Math.floor((x * 8) / w)]!
      pixels.set([cell & 255, (cell >> 8) & 255, (cell >> 16) & 255], at)
    }
  }
  const jpeg = await sharp(pixels, { raw: { width: w, height: h, channels: 3 } })
    .jpeg({ quality })
    .toBuffer()
  return new Uint8Array(jpeg)
}

/** Pictures read in the test's own process: the same code without the third of a second that opening another takes. */
export function picturesHere(maxPx = 1600): Pictures {
  const bytesOf = async (source: PictureSource) =>
    typeof source === 'string' ? new Uint8Array(await readFile(source)) : source
  return {
    readMetadata: async (source) => readMetadata(await bytesOf(source)),
    normalise: async (source, { format }) => normalise({ source, format, maxPx, orientation: 1 }),
    close: async () => {},
  }
}

function hashOf(n: number): number {
  let x = (n + 1) * 0x9e3779b1
  x = Math.imul(x ^ (x >>> 15), 0x85ebca6b)
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35)
  return (x ^ (x >>> 16)) >>> 0
}

export interface Form {
  headers: { 'content-type': string }
  payload: Buffer
}

/** A form as browsers send it. Fields come first unless `photoFirst`. */
export function formOf(
  photo: Uint8Array | null,
  fields: Record<string, string> = {},
  { name = 'photo', fileName = 'photo.jpg', photoFirst = false } = {},
): Form {
  const boundary = 'a-boundary-that-is-in-no-picture'
  const parts = Object.entries(fields).map(([field, value]) =>
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${field}"\r\n\r\n${value}\r\n`),
  )
  if (photo) {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${name}"; filename="${fileName}"\r\nContent-Type: application/octet-stream\r\n\r\n`
    const part = Buffer.concat([Buffer.from(head), photo, Buffer.from('\r\n')])
    if (photoFirst) parts.unshift(part)
    else parts.push(part)
  }
  const payload = Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)])
  return { headers: { 'content-type': `multipart/form-data; boundary=${boundary}` }, payload }
}

const NUTRIENTS = { energy_kcal: 386, protein_g: 14, carbohydrate_g: 31, fat_g: 22, fiber_g: 9 }
export const TOAST: Described = {
  outcome: 'estimated',
  seen: {
    description: 'Avocado toast with a fried egg',
    isFood: true,
    items: [{ food: 'avocado toast with a fried egg', serving: '1 plate', grams: 210, nutrients: NUTRIENTS }],
  },
}

type Script = (call: VisionCall & { photo: Uint8Array; number: number }) => Promise<Described> | Described

/** A model whose answers a test writes. It keeps its bill: whatever it answers is billed, and what `bill` says. */
export class ScriptedVision implements Vision {
  isConfigured = true
  script: Script = () => TOAST
  onResume: (providerId: string) => Promise<Described> | Described = () => {
    throw new VisionError('unreachable')
  }
  calls = 0
  billed = 0
  readonly operations: string[] = []
  readonly photos: Uint8Array[] = []
  readonly resumed: string[] = []

  async describe(photo: Uint8Array, call: VisionCall): Promise<Described> {
    const number = ++this.calls
    this.operations.push(call.operationId)
    this.photos.push(photo)
    const described = await this.script({ ...call, photo, number })
    this.billed++
    return described
  }

  async resume(providerId: string): Promise<Described> {
    this.resumed.push(providerId)
    return this.onResume(providerId)
  }

  async test() {
    return { finding: 'works' as const, detail: '' }
  }

  parked() {
    return null
  }

  async close() {}
}
