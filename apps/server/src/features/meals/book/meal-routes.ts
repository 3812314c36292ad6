import { hash } from 'node:crypto'
import type { Json } from '@garner/jobs'
import { type App, approved } from '../../../http.ts'
import { answerOnce, operationOf, sendAnswer } from '../../../idempotency.ts'
import { badRequest } from '../../../problem.ts'
import { diaryVersion } from '../diary.ts'
import type { BookDeps } from './book.ts'
import { addDays, daysIn, isDay, type Span } from './day.ts'
import { goalsOf } from './goals.ts'
import { toMeal } from './meal.ts'
import { listDays } from './queries.ts'
import { type DayList, DaysQuery, EditMeal, WriteMeal } from './schemas.ts'
import { addMeal, deleteMeal, editMeal, writtenMeal } from './writes.ts'

/** A leap year: more than any page shows at once. */
const DAYS_MAX = 366
/** Part of every ETag: another shape of the same version is another answer. */
const SHAPE = 1

/** `/api/meals`: a person's own days, and meals written, changed and deleted by hand. */
export function mealRoutes(app: App, deps: BookDeps): void {
  const { db, nowMs } = deps

  app.get('/api/meals', { schema: { querystring: DaysQuery } }, async (request, reply) => {
    const { userId } = approved(request)
    const asked = askedSpan(request.query)
    // The version first: a change between the reads then shows as newer meals under an older version, which the reader
    // asks about again; the other way round it would be taken for seen.
    const version = await diaryVersion(db.read, userId)
    // With whose it is: in a browser that two people share, one's copy must not stand for the other's.
    const etag = `W/"${version}.${hash('sha256', userId, 'base64url').slice(0, 8)}.${SHAPE}"`
    reply.headers({
      etag,
      'x-garner-version': version,
      'cache-control': 'private, no-cache',
      vary: 'cookie, authorization, x-demo-user',
    })
    if (request.headers['if-none-match'] === etag) return reply.code(304).send()
    const { start_of_day } = await goalsOf(db.read, userId)
    const days = await listDays(db.read, userId, { ...asked, startOfDay: start_of_day })
    return { days, version } satisfies DayList
  })

  app.post('/api/meals', { schema: { body: WriteMeal } }, async (request, reply) => {
    const { userId } = approved(request)
    const meal = writtenMeal(request.body, nowMs())
    const operation = operationOf(request, userId, request.body as unknown as Json)
    const answer = await db.transaction((tx) =>
      answerOnce(tx, { operation, nowMs: nowMs() }, async () => {
        const row = await addMeal(tx, deps, { userId, meal })
        tx.afterCommit(deps.onChange)
        return { status: 201, body: JSON.stringify(toMeal(row)), thing: row.id }
      }),
    )
    return sendAnswer(reply, answer)
  })

  app.patch<{ Params: { id: string }; Body: EditMeal }>(
    '/api/meals/:id',
    { schema: { body: EditMeal } },
    async (request) => {
      const { userId } = approved(request)
      return db.transaction(async (tx) => {
        const edited = await editMeal(tx, deps, { id: request.params.id, userId, edit: request.body })
        tx.afterCommit(deps.onChange)
        return 'state' in edited ? edited : toMeal(edited)
      })
    },
  )

  app.delete<{ Params: { id: string } }>('/api/meals/:id', async (request, reply) => {
    const { userId } = approved(request)
    await db.transaction(async (tx) => {
      await deleteMeal(tx, deps, { id: request.params.id, userId })
      tx.afterCommit(deps.onChange)
    })
    return reply.code(204).send()
  })
}

/** The days that are asked for, both ends in it. Errors: 400 saying which of the three ways is meant. */
function askedSpan({ date, from, to, days, anchor }: DaysQuery): Pick<Span, 'first' | 'last'> {
  const ways = [date, from ?? to, days ?? anchor].filter((one) => one !== undefined)
  if (ways.length !== 1) throw badRequest('Ask for date, or for from and to, or for days and anchor.')
  for (const [path, day] of Object.entries({ date, from, to, anchor })) {
    if (day !== undefined && !isDay(day)) throw badField(path, 'A date as YYYY-MM-DD, such as 2026-08-29.')
  }
  if (date !== undefined) return { first: date, last: date }
  if (from !== undefined || to !== undefined) {
    if (from === undefined) throw badField('from', 'A range needs its first day.')
    if (to === undefined) throw badField('to', 'A range needs its last day.')
    if (to < from) throw badField('to', 'The last day is before the first.')
    if (daysIn({ first: from, last: to }) > DAYS_MAX)
      throw badField('to', `At most ${DAYS_MAX} days at once.`)
    return { first: from, last: to }
  }
  if (anchor === undefined) throw badField('anchor', 'Say which day is the last one.')
  const count = /^[1-9]\d{0,2}$/.test(days ?? '') ? Number(days) : 0
  if (count < 1 || count > DAYS_MAX) throw badField('days', `A whole number from 1 to ${DAYS_MAX}.`)
  return { first: addDays(anchor, 1 - count), last: anchor }
}

function badField(path: string, message: string): Error {
  return badRequest(`${path}: ${message}`, [{ path, message }])
}
