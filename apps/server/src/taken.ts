/**
 * When a photo was taken: the rules, for whoever has the file in hand. The browser reads the times before an upload
 * and the server reads them again, so both run these very lines and agree to the letter. Pure: no clock, no files, no
 * network.
 */
export type { PhotoMetadata } from './features/meals/photo/metadata.ts'
export { inTakenOrder } from './features/meals/photo/taken/order.ts'
export { shiftBatch } from './features/meals/photo/taken/shift.ts'
export {
  type Doubt,
  resolveTaken,
  type Taken,
  type TakenSource,
} from './features/meals/photo/taken/taken.ts'
export { wallClock } from './features/meals/photo/taken/zone.ts'
