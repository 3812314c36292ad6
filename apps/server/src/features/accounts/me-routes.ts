import type { Database } from '@garner/db'
import type { App } from '../../http.ts'
import { unauthenticated } from '../../problem.ts'
import type { AccountRead } from './account-read.ts'
import type { Authenticator } from './authenticate.ts'
import type { Deletion } from './deletion.ts'
import { DEMO_PEOPLE } from './demo.ts'
import { defaultGroup } from './groups.ts'
import type { Identity } from './identity.ts'
import { isSetUp, person } from './people.ts'
import { DeleteMe, Me, Welcome } from './schemas.ts'
import type { SessionCookie } from './session-cookie.ts'

export interface MeRouteOptions {
  db: Database
  read: AccountRead
  isDemo: boolean
  identity: Identity
  authenticator: Authenticator
  cookie: SessionCookie
  deletion: Deletion
  /** Makes this person the admin when there is none; true when it did. */
  claimSetup: (userId: string) => Promise<boolean>
}

export function meRoutes(app: App, options: MeRouteOptions): void {
  const { db, read, isDemo, identity, authenticator, cookie, deletion, claimSetup } = options

  app.get(
    '/api/welcome',
    { schema: { response: { 200: Welcome } } },
    async (_request, reply): Promise<Welcome> => {
      reply.header('cache-control', 'no-store')
      return {
        setup_needed: !isDemo && !(await read(() => isSetUp(db.read))),
        demo: isDemo,
        demo_users: isDemo ? DEMO_PEOPLE.map(({ id, name }) => ({ id, name })) : [],
      }
    },
  )

  app.get('/api/me', { schema: { response: { 200: Me } } }, async (request, reply): Promise<Me> => {
    const { principal } = request
    if (!principal) throw unauthenticated()
    const { userId } = principal
    if (principal.status === 'pending' && !isDemo && !(await isSetUp(db.read))) await claimSetup(userId)
    const expiresAtMs = authenticator.expiryOf(request)
    if (expiresAtMs !== undefined) {
      const cookies = await identity.renewal(request, expiresAtMs)
      if (cookies.length > 0) reply.header('set-cookie', cookies)
    }
    const row = await read(() => person(db.read, userId))
    if (!row) throw unauthenticated()
    reply.header('cache-control', 'no-store')
    return {
      id: row.id,
      name: row.name,
      email: row.email,
      role: row.role,
      status: row.status,
      default_group: await read(() => defaultGroup(db.read, userId)),
      demo: isDemo,
    }
  })

  app.delete('/api/me', { schema: { body: DeleteMe } }, async (request, reply) => {
    // Also someone who still waits, or was turned away, may take their account back.
    if (!request.principal) throw unauthenticated()
    const { userId, via } = request.principal
    await deletion.run(userId)
    if (via === 'session') reply.header('set-cookie', cookie.expired())
    return reply.code(204).send()
  })
}
