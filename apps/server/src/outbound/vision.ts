/** The vision model as the rest of Garner knows it; `vision/` is what it is made of. */
export {
  type Described,
  type Parked,
  type ParkReason,
  type Seen,
  type SeenItem,
  type SeenNutrients,
  type UnusableReason,
  type Vision,
  type VisionCall,
  VisionError,
  type VisionErrorCode,
  type VisionTest,
} from './vision/vision.ts'
