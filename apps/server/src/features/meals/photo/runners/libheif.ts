import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

/**
 * The C functions of libheif that are used here, as its WebAssembly build exports them. A struct that C returns by
 * value comes through a pointer that is passed first; a pointer that C fills comes last or as documented below.
 * Licence: libheif and its decoder libde265 are LGPL-3.0. The build is a package of its own (libheif-js), loaded
 * unchanged from its own files at run time and not bundled, so that anyone can put another build in its place.
 * Source: libheif/heif.h of version 1.23.
 */
export interface Libheif {
  HEAPU8: Uint8Array<ArrayBuffer>
  HEAPU32: Uint32Array<ArrayBuffer>
  _malloc(size: number): number
  _free(at: number): void
  _heif_context_alloc(): number
  _heif_context_free(context: number): void
  /** Limits every picture that is decoded to `side` times `side` pixels, whatever its header says. */
  _heif_context_set_maximum_image_size_limit(context: number, side: number): void
  _heif_context_read_from_memory_without_copy(
    error: number,
    context: number,
    at: number,
    size: number,
    options: 0,
  ): void
  _heif_context_get_primary_image_handle(error: number, context: number, handleOut: number): void
  _heif_image_handle_has_alpha_channel(handle: number): number
  _heif_image_handle_get_raw_color_profile_size(handle: number): number
  _heif_image_handle_get_raw_color_profile(error: number, handle: number, bytesOut: number): void
  _heif_image_handle_release(handle: number): void
  _heif_decode_image(
    error: number,
    handle: number,
    imageOut: number,
    space: number,
    chroma: number,
    options: 0,
  ): void
  _heif_image_get_width(image: number, channel: number): number
  _heif_image_get_height(image: number, channel: number): number
  _heif_image_get_plane_readonly2(image: number, channel: number, strideOut: number): number
  _heif_image_release(image: number): void
}

export const COLORSPACE_RGB = 1
export const CHROMA_RGB = 10
export const CHROMA_RGBA = 11
export const CHANNEL_INTERLEAVED = 10
/** Of heif_error.code and heif_error.subcode. */
export const ERROR_OK = 0
export const SUBERROR_SECURITY_LIMIT = 1000

/** Compiles the module anew: about 50 ms, and 17 MB. What it prints goes nowhere: standard output is the program's. */
export function loadLibheif(): Libheif {
  const require = createRequire(import.meta.url)
  const create = require('libheif-js/libheif-wasm/libheif.js') as (options: object) => Libheif
  const wasmBinary = readFileSync(require.resolve('libheif-js/libheif-wasm/libheif.wasm'))
  return create({ wasmBinary, print: () => {}, printErr: () => {} })
}
