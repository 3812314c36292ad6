import type { Clock, Database, Queryable, Transaction } from '@garner/db'
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { type App, approved } from '../../http.ts'
import { answerOnce, operationOf, sendAnswer } from '../../idempotency.ts'
import { badRequest, notAMember, notFound } from '../../problem.ts'
import type { AccountRead } from './account-read.ts'
import type { Changed } from './changes.ts'
import {
  addMember,
  createGroup,
  type GroupRow,
  groupOf,
  groupsOf,
  membersOf,
  removeMember,
  showReads,
} from './groups.ts'
import { plainName } from './plain-text.ts'
import { AddMember, CreateGroup, EditMembership, GroupList, GroupSummary } from './schemas.ts'
import { takeTurnOnGroup } from './turns.ts'

export interface GroupCounts {
  links: number
  unread: number
}

export interface GroupRouteOptions {
  db: Database
  clock: Clock
  ids: () => string
  read: AccountRead
  isDemo: boolean
  /** How much is in each group for this person, from the feature that has it. A group left out counts as empty. */
  countsOf: (userId: string, groupIds: string[]) => Promise<Map<string, GroupCounts>>
  changed: (tx: Transaction, change: Changed) => void
  /** In the transaction that changes whose read marks the members of a group see. */
  marksShown: (tx: Transaction, groupId: string) => Promise<void>
}

const GroupPath = Type.Object({ id: Type.String({ maxLength: 64 }) })
const MemberPath = Type.Object({ id: Type.String({ maxLength: 64 }), user: Type.String({ maxLength: 64 }) })

const NOTHING: GroupCounts = { links: 0, unread: 0 }

export function groupRoutes(app: App, options: GroupRouteOptions): void {
  const { db, clock, ids, read, isDemo, countsOf, changed, marksShown } = options

  app.get(
    '/api/groups',
    { schema: { response: { 200: GroupList } } },
    async (request, reply): Promise<GroupList> => {
      const { userId } = approved(request)
      const mine = await read(() => groupsOf(db.read, userId))
      const counts = await countsOf(
        userId,
        mine.map((group) => group.id),
      )
      reply.header('cache-control', 'no-store')
      return {
        groups: await Promise.all(
          mine.map(async (group) => summary(db.read, group, counts.get(group.id) ?? NOTHING)),
        ),
      }
    },
  )

  app.post('/api/groups', { schema: { body: CreateGroup } }, async (request, reply) => {
    const { userId } = approved(request)
    const name = plainName(request.body.name)
    const operation = operationOf(request, userId, { name })
    const nowMs = clock.nowMs()
    const answer = await db.transaction((tx) =>
      answerOnce(tx, { operation, nowMs }, async () => {
        const id = await createGroup(tx, { userId, name }, { ids, nowMs })
        changed(tx, { kind: 'group', id })
        const made = await summary(tx, (await groupOf(tx, userId, id))!, NOTHING)
        return { status: 201, body: JSON.stringify(made), thing: id }
      }),
    )
    return sendAnswer(reply, answer)
  })

  app.patch(
    '/api/groups/:id',
    { schema: { params: GroupPath, body: EditMembership, response: { 200: GroupSummary } } },
    async (request): Promise<GroupSummary> => {
      const { userId } = approved(request)
      const groupId = request.params.id
      const group = await db.transaction(async (tx) => {
        await mine(tx, userId, groupId)
        await showReads(tx, { userId, groupId, show: request.body.show_reads })
        await marksShown(tx, groupId)
        changed(tx, { kind: 'group', id: groupId })
        return mine(tx, userId, groupId)
      })
      const counts = await countsOf(userId, [groupId])
      return summary(db.read, group, counts.get(groupId) ?? NOTHING)
    },
  )

  app.post(
    '/api/groups/:id/members',
    { schema: { params: GroupPath, body: AddMember } },
    async (request, reply) => {
      const { userId } = approved(request)
      const groupId = request.params.id
      const who = whoIsMeant(request, isDemo)
      const operation = operationOf(request, userId, { groupId, ...who })
      const nowMs = clock.nowMs()
      const answer = await db.transaction(async (tx) => {
        await takeTurnOnGroup(tx, groupId)
        // Before the repeat is looked up: who has left the group is told so, not what they once were answered.
        const group = await mine(tx, userId, groupId)
        return answerOnce(tx, { operation, nowMs }, async () => {
          const { member, isNew } = await addMember(tx, { group, who, isDemo }, nowMs)
          if (isNew) {
            changed(tx, { kind: 'group', id: groupId })
            changed(tx, { kind: 'account', id: member.id })
          }
          return { status: isNew ? 201 : 200, body: JSON.stringify(member), thing: groupId }
        })
      })
      return sendAnswer(reply, answer)
    },
  )

  app.delete('/api/groups/:id/members/:user', { schema: { params: MemberPath } }, async (request, reply) => {
    const { userId } = approved(request)
    const { id: groupId, user: leaverId } = request.params
    await db.transaction(async (tx) => {
      await takeTurnOnGroup(tx, groupId)
      const group = await mine(tx, userId, groupId)
      if (!(await removeMember(tx, { group, askerId: userId, userId: leaverId }))) throw notFound()
      await marksShown(tx, groupId)
      changed(tx, { kind: 'group', id: groupId })
      changed(tx, { kind: 'account', id: leaverId })
    })
    return reply.code(204).send()
  })
}

async function mine(q: Queryable, userId: string, groupId: string): Promise<GroupRow> {
  const group = await groupOf(q, userId, groupId)
  if (!group) throw notAMember()
  return group
}

function whoIsMeant(request: FastifyRequest, isDemo: boolean): { email: string } | { id: string } {
  const { email, user } = request.body as Static<typeof AddMember>
  if (user !== undefined && !isDemo) {
    throw badRequest('Outside demo mode people are added by their email.', [
      { path: 'user', message: 'is only for demo mode' },
    ])
  }
  if (email !== undefined && user === undefined) return { email }
  if (user !== undefined && email === undefined) return { id: user }
  throw badRequest(`Say who: ${isDemo ? 'either email or user' : 'email'}.`, [
    { path: isDemo ? 'user' : 'email', message: 'is missing' },
  ])
}

async function summary(q: Queryable, group: GroupRow, counts: GroupCounts): Promise<GroupSummary> {
  return {
    id: group.id,
    name: group.name,
    personal: group.personal_of !== null,
    role: group.role,
    show_reads: group.show_reads === 1,
    members: await membersOf(q, group.id),
    links: counts.links,
    unread: counts.unread,
  }
}
