import type { Around, Clock, Database } from '@garner/db'
import { type App, approved } from '../../http.ts'
import { answerOnce, operationOf, sendAnswer } from '../../idempotency.ts'
import { estimateUnderWay, type RequestDeps, requestEstimate } from './estimate-meal.ts'

export interface EstimateDeps extends RequestDeps {
  db: Database
  clock: Clock
  around: Around
  onWork: () => void
  onChange: () => void
}

/** `POST /api/meals/:id/estimate`: estimate again, which uses the allowance. */
export function registerEstimates(app: App, deps: EstimateDeps): void {
  const { db, clock, around } = deps

  app.post<{ Params: { id: string } }>('/api/meals/:id/estimate', async (request, reply) => {
    const who = approved(request)
    const meal = { id: request.params.id, userId: who.userId }
    const operation = operationOf(request, who.userId, { estimate: meal.id })
    const underWay = await estimateUnderWay(db.read, deps, meal)
    const answer = await around('submit.after-commit', () =>
      db.transaction(async (tx) => {
        const given = await answerOnce(tx, { operation, nowMs: clock.nowMs() }, async () => {
          const job = await requestEstimate(tx, deps, { ...meal, underWay })
          const body = JSON.stringify({ queued: true, meal_id: meal.id, job: { id: job } })
          return { status: 202, body, thing: meal.id }
        })
        await around('submit.before-commit', () => {})
        tx.afterCommit(deps.onWork)
        tx.afterCommit(deps.onChange)
        return given
      }),
    )
    return sendAnswer(reply, answer)
  })
}
