import type { FastifyReply, FastifyRequest } from 'fastify'
import { type App, approved } from '../../../http.ts'
import { answerOnce, forgetThing, operationOf, sendAnswer } from '../../../idempotency.ts'
import { badRequest, forbidden, notFound } from '../../../problem.ts'
import type { BookDeps } from './book.ts'
import { isDay } from './day.ts'
import { type CreatedShare, CreateShare, type ShareList } from './schemas.ts'
import { sharedDays, sharedPhoto } from './shared-days.ts'
import { NO_SUCH_PAGE, PAGE_SECURITY, sharedPage } from './shared-page.ts'
import {
  countView,
  createShare,
  listShares,
  newShare,
  openShare,
  type ShareRow,
  stopShare,
  toShare,
} from './shares.ts'

/** 32: as much chance as a key has. Nobody guesses one. */
const TOKEN_BYTES = 32

/** `/api/shares`, for whoever shares, and `/s/:token`, for whoever was given the link. */
export function shareRoutes(app: App, deps: BookDeps): void {
  const { db, nowMs, ids, randomBytes, seal } = deps

  app.get('/api/shares', async (request, reply) => {
    const { userId } = approved(request)
    reply.header('cache-control', 'no-store')
    return { shares: (await listShares(db.read, userId)).map(toShare) } satisfies ShareList
  })

  app.post('/api/shares', { schema: { body: CreateShare } }, async (request, reply) => {
    const { userId, via } = approved(request)
    // Else a leaked token could make itself a link that outlives its revocation.
    if (via === 'token') throw forbidden('An API token cannot make a link. Sign in, and make it there.')
    const share = newShare(request.body, nowMs())
    const operation = operationOf(request, userId, request.body)
    const answer = await db.transaction((tx) =>
      answerOnce(tx, { operation, nowMs: nowMs() }, async () => {
        const token = Buffer.from(randomBytes(TOKEN_BYTES)).toString('base64url')
        const row = await createShare(tx, { id: ids(), userId, token, share, nowMs: nowMs() })
        const made: CreatedShare = { ...toShare(row), token, path: `/s/${token}` }
        // Sealed, so that the kept answer gives a token away no more than its hash does.
        return { status: 201, body: seal.close(JSON.stringify(made)), thing: row.id }
      }),
    )
    reply.header('cache-control', 'no-store')
    return sendAnswer(reply, { ...answer, body: seal.open(answer.body) })
  })

  app.delete<{ Params: { id: string } }>('/api/shares/:id', async (request, reply) => {
    const { userId } = approved(request)
    const { id } = request.params
    await db.transaction(async (tx) => {
      if (!(await stopShare(tx, { id, userId }))) throw notFound()
      await forgetThing(tx, id)
    })
    return reply.code(204).send()
  })

  // One pattern for all of it: an address of another shape is answered as a token that opens nothing is.
  app.get<{ Params: { '*': string } }>('/s/*', (request, reply) => open(deps, request, reply))
  app.get('/s', (request, reply) => open(deps, request, reply))
}

/**
 * Answers without an account. Whether a token is wrong, ended, stopped or its owner gone cannot be told from outside:
 * one body, one set of headers, and the same questions to the database.
 */
async function open(deps: BookDeps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  reply.headers({
    'cache-control': 'private, no-store',
    'referrer-policy': 'no-referrer',
    'x-robots-tag': 'noindex, nofollow',
    'content-security-policy': PAGE_SECURITY,
    'cross-origin-resource-policy': 'same-origin',
    vary: 'accept',
  })
  const [token = '', ...rest] = ((request.params as { '*'?: string })['*'] ?? '').split('/')
  const isPage = rest.length === 0
  const mealId = rest.length === 2 && rest[0] === 'photos' ? rest[1]! : null
  const share = await liveShare(deps, token)
  if (share && isPage) return showDays(deps, request, reply, { share, token })
  if (mealId !== null) {
    const blob = await sharedPhoto(deps.db.read, share, mealId)
    const jpeg = blob === undefined ? undefined : await deps.objects.get(blob)
    if (jpeg !== undefined) {
      return reply.type('image/jpeg').send(Buffer.from(jpeg.buffer, jpeg.byteOffset, jpeg.byteLength))
    }
  }
  if (wantsJson(request)) throw notFound()
  return reply.code(404).type('text/html; charset=utf-8').send(NO_SUCH_PAGE)
}

/** Of somebody who may still be here (J9): a share ends with its owner's account. */
async function liveShare(deps: BookDeps, token: string): Promise<ShareRow | undefined> {
  const share = await openShare(deps.db.read, { token, nowMs: deps.nowMs() })
  const isApproved = await deps.people.isApproved(deps.db.read, share?.user_id ?? '')
  return isApproved ? share : undefined
}

async function showDays(
  deps: BookDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  { share, token }: { share: ShareRow; token: string },
): Promise<FastifyReply> {
  const { before = null } = request.query as { before?: string | null }
  if (before !== null && (typeof before !== 'string' || !isDay(before))) {
    throw badRequest('before is a date as YYYY-MM-DD.', [{ path: 'before', message: 'is not a date' }])
  }
  // Counted before anything is shown: nobody looks unseen. A link preview that only asks for headers has not looked.
  if (request.method === 'GET') {
    await deps.db.transaction((tx) => countView(tx, { id: share.id, nowMs: deps.nowMs() }))
  }
  const owner = (await deps.people.namesOf(deps.db.read, [share.user_id])).get(share.user_id) ?? ''
  const photoAt = (id: string) => `/s/${token}/photos/${id}`
  const diary = await sharedDays(deps.db.read, share, { owner, before, photoAt })
  if (wantsJson(request)) return reply.type('application/json; charset=utf-8').send(JSON.stringify(diary))
  return reply.type('text/html; charset=utf-8').send(sharedPage(diary))
}

/** A browser names text/html, a script that wants data names JSON and no HTML. */
function wantsJson({ headers }: FastifyRequest): boolean {
  const accept = headers.accept ?? ''
  return accept.includes('application/json') && !accept.includes('text/html')
}
