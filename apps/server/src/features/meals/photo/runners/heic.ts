import { PIXELS_MAX } from '../inspect.ts'
import { PictureError } from '../picture-error.ts'
import {
  CHANNEL_INTERLEAVED,
  CHROMA_RGB,
  CHROMA_RGBA,
  COLORSPACE_RGB,
  ERROR_OK,
  type Libheif,
  loadLibheif,
  SUBERROR_SECURITY_LIMIT,
} from './libheif.ts'
import { tiffOf } from './tiff.ts'

/**
 * Decodes HEIC: the one picture format of phones that the image library cannot read, for want of an HEVC decoder.
 *
 * Promises: the primary picture of the file, turned as the container says, in 8 bits, with its colour profile; at
 * most PIXELS_MAX pixels, whatever the header said.
 * Assumes it has a thread of its own: a decode blocks for seconds, and the memory of a WebAssembly module grows and
 * never shrinks. `heapBytes` tells when it has grown too much; the thread is then replaced (picture-threads.ts).
 */
export class HeicDecoder {
  readonly #heif: Libheif = loadLibheif()
  readonly #sideMax: number

  /** `pixelsMax`: more than a picture may have, by what its data says and not its header. */
  constructor({ pixelsMax = PIXELS_MAX } = {}) {
    this.#sideMax = Math.floor(Math.sqrt(pixelsMax))
  }

  get heapBytes(): number {
    return this.#heif.HEAPU8.length
  }

  /**
   * The picture as a TIFF (tiff.ts), shrunk by a whole number of times to no less than `longestPx`: of a decoded
   * picture of 12 megapixels 36 MB would be copied and passed on, of its half 9 MB are.
   * `orientation` is written into the TIFF, for what the container does not say.
   * Errors: PictureError `undecodable`, `too_many_pixels`. Anything else has broken the module: replace the thread.
   */
  decode(
    bytes: Uint8Array,
    { longestPx, orientation }: { longestPx: number; orientation: number },
  ): Uint8Array<ArrayBuffer> {
    const scope = new Scope(this.#heif)
    try {
      return this.#decode(scope, bytes, { longestPx, orientation })
    } finally {
      scope.giveBack()
    }
  }

  #decode(
    scope: Scope,
    bytes: Uint8Array,
    { longestPx, orientation }: { longestPx: number; orientation: number },
  ): Uint8Array<ArrayBuffer> {
    const heif = this.#heif
    const fileAt = scope.own(heif._malloc(bytes.length), heif._free)
    heif.HEAPU8.set(bytes, fileAt)
    const context = scope.own(heif._heif_context_alloc(), heif._heif_context_free)
    heif._heif_context_set_maximum_image_size_limit(context, this.#sideMax)
    scope.call((error) =>
      heif._heif_context_read_from_memory_without_copy(error, context, fileAt, bytes.length, 0),
    )
    const primary = scope.filled(
      (error, out) => heif._heif_context_get_primary_image_handle(error, context, out),
      heif._heif_image_handle_release,
    )
    const channels = heif._heif_image_handle_has_alpha_channel(primary) ? 4 : 3
    const chroma = channels === 4 ? CHROMA_RGBA : CHROMA_RGB
    const image = scope.filled(
      (error, out) => heif._heif_decode_image(error, primary, out, COLORSPACE_RGB, chroma, 0),
      heif._heif_image_release,
    )
    const size = {
      width: heif._heif_image_get_width(image, CHANNEL_INTERLEAVED),
      height: heif._heif_image_get_height(image, CHANNEL_INTERLEAVED),
    }
    const strideAt = scope.own(heif._malloc(8), heif._free)
    const at = heif._heif_image_get_plane_readonly2(image, CHANNEL_INTERLEAVED, strideAt)
    const stride = heif.HEAPU32[strideAt / 4]!
    const by = Math.max(1, Math.floor(Math.max(size.width, size.height) / longestPx))
    const width = Math.max(1, Math.floor(size.width / by))
    const height = Math.max(1, Math.floor(size.height / by))
    const plane = heif.HEAPU8.subarray(at, at + stride * size.height)
    const icc = scope.profile(primary)
    return tiffOf({ width, height, channels, icc, orientation }, (pixels) =>
      shrink({ from: plane, stride, channels, by }, { to: pixels, width, height }),
    )
  }
}

/** The mean of each square of `by` by `by` pixels; what is left over at the right and lower edge goes. */
function shrink(
  { from, stride, channels, by }: { from: Uint8Array; stride: number; channels: number; by: number },
  { to, width, height }: { to: Uint8Array; width: number; height: number },
): void {
  const rowBytes = width * channels
  if (by === 1) {
    for (let y = 0; y < height; y++) to.set(from.subarray(y * stride, y * stride + rowBytes), y * rowBytes)
    return
  }
  const sums = new Uint32Array(rowBytes)
  const count = by * by
  for (let y = 0; y < height; y++) {
    sums.fill(0)
    for (let row = 0; row < by; row++) {
      let at = (y * by + row) * stride
      for (let x = 0; x < rowBytes; x += channels) {
        for (let column = 0; column < by; column++) {
          for (let channel = 0; channel < channels; channel++) sums[x + channel]! += from[at++]!
        }
      }
    }
    for (let x = 0; x < rowBytes; x++) to[y * rowBytes + x] = (sums[x]! + (count >> 1)) / count
  }
}

/** What one decode holds of the module's memory: all of it is given back, in reverse, however the decode ends. */
class Scope {
  readonly #heif: Libheif
  readonly #errorAt: number
  readonly #held: (() => void)[] = []

  constructor(heif: Libheif) {
    this.#heif = heif
    this.#errorAt = this.own(heif._malloc(16), heif._free)
  }

  own(at: number, giveBack: (at: number) => void): number {
    if (at === 0) throw new PictureError('undecodable')
    this.#held.push(() => giveBack(at))
    return at
  }

  /** Runs a function that fills an error. Errors: PictureError. */
  call(run: (error: number) => void): void {
    run(this.#errorAt)
    const [code, subcode] = this.#heif.HEAPU32.subarray(this.#errorAt / 4)
    if (code === ERROR_OK) return
    throw new PictureError(subcode === SUBERROR_SECURITY_LIMIT ? 'too_many_pixels' : 'undecodable', {
      heif: { code, subcode },
    })
  }

  /** Runs a function that fills a pointer, which is then held. */
  filled(run: (error: number, out: number) => void, giveBack: (at: number) => void): number {
    const out = this.own(this.#heif._malloc(8), this.#heif._free)
    this.call((error) => run(error, out))
    return this.own(this.#heif.HEAPU32[out / 4]!, giveBack)
  }

  profile(handle: number): Uint8Array | null {
    const size = this.#heif._heif_image_handle_get_raw_color_profile_size(handle)
    if (size === 0) return null
    const at = this.own(this.#heif._malloc(size), this.#heif._free)
    this.call((error) => this.#heif._heif_image_handle_get_raw_color_profile(error, handle, at))
    return this.#heif.HEAPU8.slice(at, at + size)
  }

  giveBack(): void {
    for (const giveBack of this.#held.reverse()) giveBack()
  }
}
