import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Static, type TSchema, Type } from 'typebox'
import type { App } from '../../http.ts'
import { forbidden } from '../../problem.ts'
import { authProblem } from './auth-problems.ts'
import type { Identity } from './identity.ts'
import { assertOwnOrigin } from './origin.ts'
import { plainName } from './plain-text.ts'

/**
 * `/api/auth/*`: the part of Better Auth that Garner uses, each with the fields it takes. What is not listed does
 * not exist here: an update of the library adds no door by itself.
 */
export interface AuthRouteOptions {
  identity: Identity
  isDemo: boolean
  baseUrl: string | undefined
  /** Called after an account was made, before its answer is sent. */
  onSignUp: (userId: string) => Promise<void>
  /** Called after sessions or a name may have changed, before the answer is sent. */
  onEnded: () => void
}

const closed = { additionalProperties: false }
const Email = Type.String({ minLength: 3, maxLength: 320 })
const NewPassword = Type.String({ minLength: 8, maxLength: 128 })
/** Of any length: someone mistyping must be told that the pair is wrong, not that it is too short. */
const OldPassword = Type.String({ minLength: 1, maxLength: 128 })

const SignUp = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 80 }),
    email: Email,
    password: NewPassword,
    rememberMe: Type.Optional(Type.Boolean()),
  },
  closed,
)
const SignIn = Type.Object(
  { email: Email, password: OldPassword, rememberMe: Type.Optional(Type.Boolean()) },
  closed,
)
const ChangePassword = Type.Object(
  {
    currentPassword: OldPassword,
    newPassword: NewPassword,
    revokeOtherSessions: Type.Optional(Type.Boolean()),
  },
  closed,
)
const UpdateUser = Type.Object({ name: Type.String({ minLength: 1, maxLength: 80 }) }, closed)

export function authRoutes(app: App, options: AuthRouteOptions): void {
  const { identity, onSignUp, onEnded } = options
  const call = async (request: FastifyRequest, { path, body }: { path: string; body: object }) => {
    const answer = await identity.call(request, { path, body })
    onEnded()
    return answer
  }

  const before = async (request: FastifyRequest) => {
    if (options.isDemo) {
      throw forbidden('In demo mode nobody signs in: the header X-Demo-User says who you are.', 'demo-mode')
    }
    // Also without a session: another site's page must not sign a person in as someone else.
    assertOwnOrigin(request, options)
  }
  const post = <S extends TSchema>(
    path: string,
    body: S,
    handler: (request: FastifyRequest, body: Static<S>) => Promise<Response>,
  ) =>
    app.post(`/api/auth${path}`, { onRequest: before, schema: { body } }, async (request, reply) =>
      passOn(reply, await handler(request, request.body as Static<S>)),
    )
  const postNothing = (path: string) =>
    app.post(`/api/auth${path}`, { onRequest: before }, async (request, reply) =>
      passOn(reply, await call(request, { path, body: {} })),
    )

  post('/sign-up/email', SignUp, async (request, body) => {
    const name = plainName(body.name)
    const answer = await identity.call(request, { path: '/sign-up/email', body: { ...body, name } })
    if (answer.ok) {
      const { user } = (await answer.clone().json()) as { user: { id: string } }
      await onSignUp(user.id)
    }
    return answer
  })
  post('/sign-in/email', SignIn, (request, body) => identity.call(request, { path: '/sign-in/email', body }))
  post('/change-password', ChangePassword, (request, body) =>
    call(request, { path: '/change-password', body }),
  )
  post('/update-user', UpdateUser, (request, { name }) =>
    call(request, { path: '/update-user', body: { name: plainName(name) } }),
  )
  postNothing('/sign-out')
  postNothing('/revoke-other-sessions')
  app.get('/api/auth/get-session', { onRequest: before }, async (request, reply) =>
    passOn(reply, await identity.call(request, { path: '/get-session' })),
  )
}

async function passOn(reply: FastifyReply, answer: Response): Promise<FastifyReply> {
  if (!answer.ok) throw await authProblem(answer)
  const cookies = answer.headers.getSetCookie()
  if (cookies.length > 0) reply.header('set-cookie', cookies)
  return reply
    .code(answer.status)
    .header('cache-control', 'no-store')
    .type('application/json; charset=utf-8')
    .send(await answer.text())
}
