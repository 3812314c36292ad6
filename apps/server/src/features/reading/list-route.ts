import { BudgetSpent, LoadLate, LoadTimedOut, VersionBehind } from '@garner/cache'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Principal } from '../../principal.ts'
import { badRequest, forbidden, HttpProblem, notAMember, retryAfter } from '../../problem.ts'
import { decodeCursor } from './cursor.ts'
import { notYet } from './links.ts'
import { type ListAnswer, type ListReads, NotYet } from './list-reads.ts'
import type { ListQuery } from './schemas.ts'

/** `GET /api/bookmarks` between HTTP and list-reads.ts: who may, what is asked, and what an answer says of itself. */
export interface ListRouteDeps {
  lists: ListReads
  /** Of a list read: the groups that the person may read, their default one first. */
  groupsOf: (request: FastifyRequest) => ReadonlySet<string>
  monotonicMs: () => number
  /** Up to this age a copy is served as it is. */
  freshMs: number
}

type Request = FastifyRequest<{ Querystring: ListQuery }>

/** Errors: 400, 403; and those of `ListReads.read`. */
export async function readList(
  { lists, groupsOf, monotonicMs }: ListRouteDeps,
  who: Principal,
  request: Request,
): Promise<ListAnswer> {
  const { query } = request
  const groups = groupsOf(request)
  const [first = null] = groups
  const group = query.group ?? first
  if (group === null) throw forbidden('You are in no group yet, so there is no list to show.', 'not-a-member')
  if (!groups.has(group)) throw notAMember()
  const after = query.after === undefined ? undefined : decodeCursor(query.after)
  if (query.after !== undefined && !after) {
    throw badRequest('after is not a place in a list; take it from `next`.', [
      { path: 'after', message: 'is not a cursor' },
    ])
  }
  return lists.read({
    group,
    asking: who.userId,
    unread: query.unread ?? false,
    mine: query.mine ?? false,
    q: query.q ?? '',
    after,
    limit: query.limit ?? 50,
    newestFirst: query.sort === '-saved_at',
    minVersion: minVersion(request),
    etag: request.headers['if-none-match'],
    askedAtMs: monotonicMs(),
  })
}

export function sendList(reply: FastifyReply, answer: ListAnswer, { freshMs }: ListRouteDeps): FastifyReply {
  const { body, etag, version, isCached, ageMs } = answer
  reply.header('etag', etag)
  reply.header('x-garner-version', version)
  reply.header('cache-control', 'private, no-cache')
  reply.header('cache-status', cacheStatus(answer, freshMs))
  reply.header('vary', 'cookie, authorization, x-demo-user')
  if (isCached) reply.header('age', Math.floor(ageMs / 1000))
  if (body === null) return reply.code(304).send()
  return reply.type('application/json; charset=utf-8').send(body)
}

/** RFC 9211. A negative `ttl` is how a client knows that the copy is older than it should be, and `Age` says by how much. */
function cacheStatus({ result, ageMs, isCached }: ListAnswer, freshMs: number): string {
  if (!isCached) return result === 'coalesced' ? 'garner; fwd=bypass; collapsed' : 'garner; fwd=bypass'
  const ttl = Math.floor((freshMs - ageMs) / 1000)
  if (result === 'hit') return `garner; hit; ttl=${Math.max(0, ttl)}`
  if (result === 'stale') return `garner; hit; ttl=${Math.min(-1, ttl)}; detail=stale`
  return result === 'coalesced' ? 'garner; fwd=miss; collapsed' : 'garner; fwd=miss; stored'
}

/** What a reader is told who could not be served in time. Saving is something else, and still works. */
export function refusalOf(error: unknown): unknown {
  if (error instanceof NotYet || error instanceof VersionBehind) return notYet()
  if (error instanceof BudgetSpent || error instanceof LoadLate || error instanceof LoadTimedOut)
    return busy(error.retryAfterMs)
  return error
}

export function busy(retryAfterMs: number): HttpProblem {
  return new HttpProblem(
    {
      type: 'busy',
      title: 'Busy right now',
      status: 503,
      detail:
        'More lists are being read than the database is allowed to be asked for. Saving still works; look again in a moment.',
    },
    retryAfter(retryAfterMs),
  )
}

function minVersion(request: FastifyRequest): number {
  const text = request.headers['x-garner-min-version']
  if (text === undefined) return 0
  if (typeof text !== 'string' || !/^\d{1,15}$/.test(text))
    throw badRequest('X-Garner-Min-Version must be a whole number.')
  return Number(text)
}
