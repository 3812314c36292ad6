import type { Connection, Provider } from './vision/connect.ts'
import { Parking } from './vision/parking.ts'
import { type Vision, VisionError } from './vision/vision.ts'

/** The vision model as the rest of Garner knows it; `vision/` is what it is made of. */
export type { Provider } from './vision/connect.ts'
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

/** Behind any OpenAI-compatible endpoint (vision/connect.ts). Its client is loaded by the first call, or by `load`. */
export function createVision(provider: Provider): Vision {
  const parking = new Parking(provider.clock)
  let loading: Promise<Connection> | null = null
  // The client takes 0.3 s and 30 MB to load, which processes without photos do not need.
  const connection = () =>
    (loading ??= import('./vision/connect.ts').then(({ connect }) => connect(provider, parking)))
  return {
    isConfigured: true,
    describe: async (photo, call) => (await connection()).describe(photo, call),
    resume: async (providerId, call) => (await connection()).resume(providerId, call),
    test: async (signal) => (await connection()).test(signal),
    parked: () => parking.parked,
    async load() {
      await connection()
    },
    async close() {
      await (await loading)?.close()
    },
  }
}

/** Where no provider is set up. */
export function noVision(): Vision {
  const fail = async () => {
    throw new VisionError('not_configured')
  }
  return {
    isConfigured: false,
    describe: fail,
    resume: fail,
    test: async () => ({
      finding: 'not_configured',
      detail: 'No vision provider is set up: set GARNER_VISION_URL and GARNER_VISION_MODEL.',
    }),
    parked: () => null,
    close: async () => {},
  }
}
