import { join } from 'node:path'
import sharp from 'sharp'

/** Photos to measure with: large shapes, small ones and grain, so that they compress as photos do. */
export async function paint(folder: string, count = 4): Promise<string[]> {
  const [width, height] = [4000, 3000]
  const paths: string[] = []
  for (let n = 0; n < count; n++) {
    const layers = await Promise.all(
      [20, 240, 2000].map((across, i) =>
        noise(across, n * 10 + i)
          .resize(width, height, { fit: 'fill' })
          .raw()
          .toBuffer(),
      ),
    )
    const [large, small, grain] = layers as [Buffer, Buffer, Buffer]
    const pixels = Buffer.alloc(width * height * 3)
    for (let at = 0; at < pixels.length; at++) {
      const value = large[at]! * 0.7 + (small[at]! - 128) * 0.35 + (grain[at]! - 128) * 0.12 + 30
      pixels[at] = Math.max(0, Math.min(255, value))
    }
    const path = join(folder, `photo-${n}.jpg`)
    const upright = sharp(pixels, { raw: { width, height, channels: 3 } })
    await upright
      .withMetadata({ orientation: n % 2 === 0 ? 1 : 6 })
      .jpeg({ quality: 90 })
      .toFile(path)
    paths.push(path)
  }
  return paths
}

/** The same noise for the same seed. */
function noise(across: number, seed: number) {
  const [width, height] = [across, (across * 3) / 4]
  const pixels = new Uint8Array(width * height * 3)
  let state = seed + 1
  for (let at = 0; at < pixels.length; at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    pixels[at] = state >>> 24
  }
  return sharp(pixels, { raw: { width, height, channels: 3 } })
}
