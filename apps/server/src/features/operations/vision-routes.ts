import { type App, operator } from '../../http.ts'
import type { Vision } from '../../outbound/vision.ts'

/** What the operator sees of the vision provider: never its key, never its own words. */
export type SeenVision = Pick<Vision, 'isConfigured' | 'parked' | 'test'>

/**
 * Asks the provider about a picture whose content is known, as `garner check` does; one paid call, bounded by its own
 * deadline. It goes through
 * although the provider is parked: the operator asks because something was changed, and if it works, photos go on.
 */
export function registerVision(
  app: App,
  { vision, onWork }: { vision: SeenVision; onWork: () => void },
): void {
  app.post('/api/admin/vision/test', async (request) => {
    operator(request)
    const { finding, detail } = await vision.test(new AbortController().signal)
    if (finding === 'works') onWork()
    return { finding, detail, ...toVision(vision) }
  })
}

/** `until`: when the next call is let through by itself. */
export function toVision({ isConfigured, parked }: SeenVision): Record<string, unknown> {
  const now = parked()
  return {
    configured: isConfigured,
    parked: now && { reason: now.reason, since: iso(now.sinceMs), until: iso(now.untilMs) },
  }
}

function iso(ms: number): string {
  return new Date(ms).toISOString()
}
