import type { Queryable, Transaction } from '@garner/db'
import { conflict, forbidden, HttpProblem } from '../../problem.ts'
import type { Making } from './people.ts'

/** Who belongs where. A person who was turned away belongs nowhere, whatever rows they still have. */
export interface Membership {
  role: 'owner' | 'member'
  showReads: boolean
}

export interface GroupRow {
  id: string
  name: string
  personal_of: string | null
  role: 'owner' | 'member'
  show_reads: number
}

export interface MemberName {
  id: string
  name: string
}

const MINE = `SELECT g.id, g.name, g.personal_of, m.role, m.show_reads
  FROM memberships m JOIN groups g ON g.id = m.group_id WHERE m.user_id = ?`
const MINE_IN_ORDER = `${MINE} ORDER BY g.personal_of IS NULL, m.joined_at_ms, g.id`

/** This person's part in the group; null when they have none, or there is no such group. */
export async function membership(q: Queryable, userId: string, groupId: string): Promise<Membership | null> {
  const row = await q.get<{ role: Membership['role']; show_reads: number }>(
    `SELECT m.role, m.show_reads FROM memberships m JOIN users u ON u.id = m.user_id
     WHERE m.group_id = ? AND m.user_id = ? AND u.status = 'approved'`,
    groupId,
    userId,
  )
  return row ? { role: row.role, showReads: row.show_reads === 1 } : null
}

/**
 * The group that a save without a group goes to: one's own, so that nothing is shown to others by leaving a field
 * out; for those without one, the group they have been in longest. Null for someone in no group.
 */
export async function defaultGroup(q: Queryable, userId: string): Promise<string | null> {
  const row = await q.get<{ id: string }>(`${MINE_IN_ORDER} LIMIT 1`, userId)
  return row?.id ?? null
}

export function groupsOf(q: Queryable, userId: string): Promise<GroupRow[]> {
  return q.all<GroupRow>(MINE_IN_ORDER, userId)
}

/** The groups that an approved person may read, the default one first; none for anyone else. */
export async function groupIdsOf(q: Queryable, userId: string): Promise<string[]> {
  const rows = await q.all<{ id: string }>(
    `SELECT g.id FROM memberships m JOIN groups g ON g.id = m.group_id JOIN users u ON u.id = m.user_id
     WHERE m.user_id = ? AND u.status = 'approved' ORDER BY g.personal_of IS NULL, m.joined_at_ms, g.id`,
    userId,
  )
  return rows.map((row) => row.id)
}

export function groupOf(q: Queryable, userId: string, groupId: string): Promise<GroupRow | undefined> {
  return q.get<GroupRow>(`${MINE} AND g.id = ?`, userId, groupId)
}

/** The approved members in the order they came. */
export function membersOf(q: Queryable, groupId: string): Promise<MemberName[]> {
  return q.all<MemberName>(
    `SELECT u.id, u.name FROM memberships m JOIN users u ON u.id = m.user_id
     WHERE m.group_id = ? AND u.status = 'approved' ORDER BY m.joined_at_ms, u.id`,
    groupId,
  )
}

export async function createGroup(
  tx: Transaction,
  { userId, name }: { userId: string; name: string },
  { ids, nowMs }: Making,
): Promise<string> {
  const id = ids()
  await tx.run('INSERT INTO groups (id, name, created_at_ms) VALUES (?, ?, ?)', id, name, nowMs)
  await tx.run(
    "INSERT INTO memberships (group_id, user_id, role, joined_at_ms) VALUES (?, ?, 'owner', ?)",
    id,
    userId,
    nowMs,
  )
  return id
}

export async function showReads(
  tx: Transaction,
  { userId, groupId, show }: { userId: string; groupId: string; show: boolean },
): Promise<void> {
  await tx.run(
    'UPDATE memberships SET show_reads = ? WHERE group_id = ? AND user_id = ?',
    show ? 1 : 0,
    groupId,
    userId,
  )
}

/**
 * Adds a person; `isNew` is false when they were in already.
 * Errors: 409 for a personal group; 404 when nobody approved is meant, whoever else may be.
 */
export async function addMember(
  tx: Transaction,
  { group, who, isDemo }: { group: GroupRow; who: { email: string } | { id: string }; isDemo: boolean },
  nowMs: number,
): Promise<{ member: MemberName; isNew: boolean }> {
  assertShared(group)
  const [column, value] = 'email' in who ? ['email', who.email.trim().toLowerCase()] : ['id', who.id]
  const member = await tx.get<MemberName>(
    `SELECT id, name FROM users WHERE ${column} = ? AND status = 'approved' AND demo = ?`,
    value,
    isDemo ? 1 : 0,
  )
  if (!member) throw nobodyThere()
  const { changes } = await tx.run(
    `INSERT INTO memberships (group_id, user_id, role, joined_at_ms) VALUES (?, ?, 'member', ?)
     ON CONFLICT DO NOTHING`,
    group.id,
    member.id,
    nowMs,
  )
  return { member, isNew: changes === 1 }
}

/**
 * Takes a person out; false when they were not in. A group whose owner leaves goes on with the member who has been
 * in it longest.
 * Errors: 403 for removing others without owning the group; 409 for a personal group, and for the last member,
 * whose going would leave a list that nobody can reach or delete.
 */
export async function removeMember(
  tx: Transaction,
  { group, askerId, userId }: { group: GroupRow; askerId: string; userId: string },
): Promise<boolean> {
  assertShared(group)
  if (askerId !== userId && group.role !== 'owner') {
    throw forbidden('Only the owner of a group may remove others from it. You may leave it yourself.')
  }
  if (askerId === userId && (await isAlone(tx, { groupId: group.id, userId }))) {
    throw conflict(
      'last-member',
      'You are the last one in this group, and its links would be lost to everyone.',
    )
  }
  const { changes } = await tx.run(
    'DELETE FROM memberships WHERE group_id = ? AND user_id = ?',
    group.id,
    userId,
  )
  await passOn(tx, group.id)
  return changes === 1
}

/** Groups in which this person is the only member, their personal one among them: they end with the account. */
export async function groupsThatEndWith(tx: Transaction, userId: string): Promise<string[]> {
  const rows = await tx.all<{ group_id: string }>(
    `SELECT group_id FROM memberships AS mine WHERE user_id = ? AND NOT EXISTS
       (SELECT 1 FROM memberships AS other WHERE other.group_id = mine.group_id AND other.user_id <> mine.user_id)`,
    userId,
  )
  return rows.map((row) => row.group_id)
}

/** Takes a person out of all their groups; those in `ended` go with them. */
export async function leaveAll(tx: Transaction, userId: string, ended: string[]): Promise<string[]> {
  const mine = await groupsOf(tx, userId)
  await tx.run('DELETE FROM memberships WHERE user_id = ?', userId)
  for (const id of ended) await tx.run('DELETE FROM groups WHERE id = ?', id)
  const left = mine.map((group) => group.id).filter((id) => !ended.includes(id))
  for (const id of left) await passOn(tx, id)
  return left
}

async function isAlone(
  q: Queryable,
  { groupId, userId }: { groupId: string; userId: string },
): Promise<boolean> {
  const other = await q.get('SELECT 1 FROM memberships WHERE group_id = ? AND user_id <> ?', groupId, userId)
  return other === undefined
}

/** A group without an owner gets one; with an owner, nothing changes. */
async function passOn(tx: Transaction, groupId: string): Promise<void> {
  await tx.run(
    `UPDATE memberships SET role = 'owner' WHERE group_id = ?
       AND user_id = (SELECT user_id FROM memberships WHERE group_id = ? ORDER BY joined_at_ms, user_id LIMIT 1)
       AND NOT EXISTS (SELECT 1 FROM memberships WHERE group_id = ? AND role = 'owner')`,
    groupId,
    groupId,
    groupId,
  )
}

function assertShared(group: GroupRow): void {
  if (group.personal_of === null) return
  throw conflict('personal-group', 'This group is only for you. Make a group to share with others.')
}

function nobodyThere(): HttpProblem {
  return new HttpProblem({
    type: 'no-such-person',
    title: 'Nobody by that name',
    status: 404,
    detail: 'Nobody with an approved account here has that address. They have to ask for an account first.',
  })
}
