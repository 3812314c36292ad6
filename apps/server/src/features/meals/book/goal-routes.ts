import { type App, approved } from '../../../http.ts'
import { VISION_ALLOWANCE } from '../allowance.ts'
import type { BookDeps } from './book.ts'
import { goalsOf, putGoals } from './goals.ts'
import { PutGoals, type VisionAllowance } from './schemas.ts'

/** `/api/goals` and `/api/allowance`: what a person aims at, and how many estimates are left today. */
export function goalRoutes(app: App, deps: BookDeps): void {
  const { db, nowMs, jobs, vision } = deps

  app.get('/api/goals', async (request, reply) => {
    const { userId } = approved(request)
    reply.header('cache-control', 'private, no-cache')
    return goalsOf(db.read, userId)
  })

  app.put('/api/goals', { schema: { body: PutGoals } }, async (request) => {
    const { userId } = approved(request)
    return db.transaction(async (tx) => {
      tx.afterCommit(deps.onChange)
      return putGoals(tx, { userId, goals: request.body, nowMs: nowMs() })
    })
  })

  app.get('/api/allowance', async (request, reply) => {
    const { userId } = approved(request)
    reply.header('cache-control', 'private, no-cache')
    const { used, reserved, unknown, resetsAtMs } = await jobs.allowance({
      tenant: userId,
      ...VISION_ALLOWANCE,
    })
    const parked = vision.parked()
    return {
      ...{ limit: deps.aiDailyLimit, used, reserved, unknown },
      resets_at: new Date(resetsAtMs).toISOString(),
      provider: !vision.isConfigured ? 'none' : parked ? 'parked' : 'ready',
      provider_reason: parked?.reason ?? null,
      provider_until: parked && parked.untilMs !== null ? new Date(parked.untilMs).toISOString() : null,
    } satisfies VisionAllowance
  })
}
