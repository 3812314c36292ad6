/**
 * Everything that can be wrong with a picture, in one list. Routes answer with `status` and `message`; whoever stores
 * or counts a refusal stores `code`. Nobody reads the message but a person, and it says nothing of the picture, so it
 * may be logged.
 */
const KINDS = {
  too_large: [413, 'The file is larger than 25 MB.'],
  too_many_pixels: [413, 'The picture has more than 100 megapixels.'],
  not_a_picture: [415, 'This file is not a picture. Send a JPEG, PNG, WebP, GIF, HEIC or AVIF.'],
  svg: [415, 'This is a drawing (SVG), not a photo. Send a JPEG, PNG, WebP, GIF, HEIC or AVIF.'],
  raw: [
    415,
    'Raw camera files and TIFF are not read. Send a JPEG, PNG, WebP, GIF, HEIC or AVIF of the photo.',
  ],
  video: [415, 'This is a video, not a photo. Send a JPEG, PNG, WebP, GIF, HEIC or AVIF.'],
  other_format: [415, 'Pictures of this format are not read. Send a JPEG, PNG, WebP, GIF, HEIC or AVIF.'],
  undecodable: [400, 'The picture is incomplete or damaged: it could not be read to its end.'],
  too_slow: [400, 'The picture took too long to read.'],
  busy: [429, 'Many pictures are being read just now. Try again in a moment.'],
} as const satisfies Record<string, readonly [number, string]>

export type PictureErrorCode = keyof typeof KINDS

/** Errors: 400, 413, 415 are the picture's and final; 429 (`busy`) says the same picture may be sent again. */
export class PictureError extends Error {
  readonly code: PictureErrorCode
  readonly status: 400 | 413 | 415 | 429

  constructor(code: PictureErrorCode, cause?: unknown) {
    const [status, message] = KINDS[code]
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'PictureError'
    this.code = code
    this.status = status
  }
}
