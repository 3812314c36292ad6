import { type App, operator } from '../../http.ts'
import type { Vision } from '../../outbound/vision.ts'

/** What the operator sees of the vision provider: never its key, never its own words. */
export interface VisionDeps {
  vision: Pick<Vision, 'isConfigured' | 'test'>
  /** Why no call is made just now, found by whichever worker; null when calls are made. */
  visionParked: () => Promise<{ reason: string; sinceMs: number; untilMs: number | null } | null>
  /** Photos that wait for the provider need not wait any longer. */
  onVisionWorks: () => Promise<void>
}

/**
 * Asks the provider about a picture whose content is known, as `garner check` does; one paid call, bounded by its own
 * deadline. It goes through although the provider is parked: the operator asks because something was changed, and if
 * it works, photos go on.
 */
export function registerVision(app: App, deps: VisionDeps): void {
  app.post('/api/admin/vision/test', async (request) => {
    operator(request)
    const { finding, detail } = await deps.vision.test(new AbortController().signal)
    if (finding === 'works') await deps.onVisionWorks()
    return { finding, detail, ...(await visionOverview(deps)) }
  })
}

/** `until`: when the next call is made by itself. */
export async function visionOverview({ vision, visionParked }: VisionDeps): Promise<Record<string, unknown>> {
  const parked = await visionParked()
  return {
    configured: vision.isConfigured,
    parked: parked && { reason: parked.reason, since: iso(parked.sinceMs), until: iso(parked.untilMs) },
  }
}

function iso(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}
