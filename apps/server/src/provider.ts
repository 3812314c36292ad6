import type { Clock } from '@garner/db'
import type { Config } from './config.ts'
import { cannedVision } from './outbound/canned-vision.ts'
import { createVision, noVision, type Vision } from './outbound/vision.ts'

/** Who looks at photos: the configured provider, in demo mode without one the canned model, else nobody. */
export function createProvider(
  { vision, visionTimeoutMs, isDemo }: Pick<Config, 'vision' | 'visionTimeoutMs' | 'isDemo'>,
  clock: Clock,
): Vision {
  if (vision) return createVision({ ...vision, timeoutMs: visionTimeoutMs, clock })
  return isDemo ? cannedVision() : noVision()
}
