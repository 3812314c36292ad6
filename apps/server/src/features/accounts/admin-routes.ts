import type { Clock, Database, Transaction } from '@garner/db'
import { Type } from 'typebox'
import { type App, operator } from '../../http.ts'
import { conflict, notFound } from '../../problem.ts'
import type { AccountRead } from './account-read.ts'
import type { Changed } from './changes.ts'
import { approve, type PersonRow, people, person, setStatus } from './people.ts'
import { AdminUser, AdminUserList } from './schemas.ts'

export interface AdminRouteOptions {
  db: Database
  clock: Clock
  ids: () => string
  read: AccountRead
  isDemo: boolean
  changed: (tx: Transaction, change: Changed) => void
}

const UserPath = Type.Object({ id: Type.String({ maxLength: 64 }) })
const one = { schema: { params: UserPath, response: { 200: AdminUser } } }

/** Accounts and nothing else: what people save is not the operator's to see. */
export function adminRoutes(app: App, { db, clock, ids, read, isDemo, changed }: AdminRouteOptions): void {
  app.get('/api/admin/users', { schema: { response: { 200: AdminUserList } } }, async (request, reply) => {
    operator(request)
    const rows = await read(() => people(db.read, { isDemo }))
    reply.header('cache-control', 'no-store')
    return { users: rows.map(shown) }
  })

  const decide = (id: string, change: (tx: Transaction) => Promise<void>): Promise<AdminUser> =>
    db.transaction(async (tx) => {
      if (!(await person(tx, id))) throw notFound()
      await change(tx)
      changed(tx, { kind: 'account', id })
      return shown((await person(tx, id))!)
    })

  app.post('/api/admin/users/:id/approve', one, async (request) => {
    operator(request)
    const { id } = request.params
    return decide(id, (tx) => approve(tx, id, { ids, nowMs: clock.nowMs() }))
  })

  app.post('/api/admin/users/:id/reject', one, async (request) => {
    const { userId } = operator(request)
    const { id } = request.params
    if (id === userId) throw conflict('own-account', 'You cannot turn yourself away.')
    return decide(id, (tx) => setStatus(tx, id, 'rejected', clock.nowMs()))
  })
}

function shown({ id, name, email, role, status, created_at }: PersonRow): AdminUser {
  return { id, name, email, role, status, asked_at: created_at }
}
