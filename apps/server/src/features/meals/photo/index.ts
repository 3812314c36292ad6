/** What the meals feature knows of photos: everything here is free of HTTP, database and queue. */
export {
  BYTES_MAX,
  type Inspection,
  inspect,
  inspectFile,
  PIXELS_MAX,
  type PictureFormat,
} from './inspect.ts'
export type { PhotoMetadata } from './metadata.ts'
export { PictureError, type PictureErrorCode } from './picture-error.ts'
export { createPictures, type PictureSource, type Pictures } from './pictures.ts'
export type { Normalised } from './runners/normalise.ts'
export { captureStampOf, isSamePhoto, type PhotoMark } from './same-photo.ts'
export { type ClientFields, type ClientTime, readClientTime } from './taken/client-time.ts'
export { inTakenOrder } from './taken/order.ts'
export { shiftBatch } from './taken/shift.ts'
export {
  type Doubt,
  instantOf,
  resolveTaken,
  type Taken,
  type TakenInput,
  type TakenSource,
} from './taken/taken.ts'
export { isZone, type Where } from './taken/zone.ts'
