import type { Clock, Database } from '@garner/db'
import { Type } from 'typebox'
import { type App, approved } from '../../http.ts'
import { answerOnce, forgetThing, operationOf, sendAnswer } from '../../idempotency.ts'
import { forbidden, notFound } from '../../problem.ts'
import type { Seal } from '../../seal.ts'
import type { AccountRead } from './account-read.ts'
import { plainName } from './plain-text.ts'
import { type ApiToken, ApiTokenList, CreateApiToken, type CreatedApiToken } from './schemas.ts'
import type { ApiTokens, TokenRow } from './tokens.ts'

export interface TokenRouteOptions {
  db: Database
  clock: Clock
  read: AccountRead
  tokens: ApiTokens
  seal: Seal
  /** Told when a token is no good any more, before its owner is. */
  onRevoked: () => void
}

const TokenPath = Type.Object({ id: Type.String({ maxLength: 64 }) })

export function tokenRoutes(app: App, options: TokenRouteOptions): void {
  const { db, clock, read, tokens, seal, onRevoked } = options

  app.get('/api/tokens', { schema: { response: { 200: ApiTokenList } } }, async (request, reply) => {
    const { userId } = approved(request)
    const rows = await read(() => tokens.list(db.read, userId))
    reply.header('cache-control', 'no-store')
    return { tokens: rows.map(shown) }
  })

  app.post('/api/tokens', { schema: { body: CreateApiToken } }, async (request, reply) => {
    const { userId, via } = approved(request)
    // Else a leaked token could make itself successors that outlive its revocation.
    if (via === 'token') throw forbidden('A token cannot make another one. Sign in, and make it there.')
    const name = plainName(request.body.name)
    const operation = operationOf(request, userId, { name })
    const nowMs = clock.nowMs()
    const answer = await db.transaction((tx) =>
      answerOnce(tx, { operation, nowMs }, async () => {
        const { token, ...row } = await tokens.create(tx, { userId, name })
        const made: CreatedApiToken = { ...shown(row), token }
        // Sealed, so that the kept answer gives a token away no more than its hash does.
        return { status: 201, body: seal.close(JSON.stringify(made)), thing: row.id }
      }),
    )
    reply.header('cache-control', 'no-store')
    return sendAnswer(reply, { ...answer, body: seal.open(answer.body) })
  })

  app.delete('/api/tokens/:id', { schema: { params: TokenPath } }, async (request, reply) => {
    const { userId } = approved(request)
    const { id } = request.params
    await db.transaction(async (tx) => {
      if (!(await tokens.revoke(tx, { userId, id }))) throw notFound()
      await forgetThing(tx, id)
    })
    onRevoked()
    return reply.code(204).send()
  })
}

function shown({ id, name, start, created_at_ms, last_used_at_ms }: TokenRow): ApiToken {
  return {
    id,
    name,
    start,
    created_at: new Date(created_at_ms).toISOString(),
    last_used_at: last_used_at_ms === null ? null : new Date(last_used_at_ms).toISOString(),
  }
}
