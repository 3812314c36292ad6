import { type Database, oneOf, type Queryable, type Transaction } from '@garner/db'
import type { AccountStatus } from './schemas.ts'

export interface PersonRow {
  id: string
  name: string
  email: string | null
  role: 'admin' | 'member'
  status: AccountStatus
  created_at: string
}

/** What a change needs from outside. */
export interface Making {
  ids: () => string
  nowMs: number
}

const COLUMNS = 'id, name, email, role, status, created_at'

export function person(q: Queryable, id: string): Promise<PersonRow | undefined> {
  return q.get<PersonRow>(`SELECT ${COLUMNS} FROM users WHERE id = ?`, id)
}

/**
 * Waits until nothing is being saved under this account, and lets nothing be saved until the transaction ends: rows that
 * refer to it would otherwise come between the look for them and the end of the account, and go uncounted. In SQLite
 * nobody else writes meanwhile anyway.
 */
export async function takePerson(tx: Transaction, id: string, dialect: Database['dialect']): Promise<void> {
  if (dialect === 'postgres') await tx.get('SELECT 1 FROM users WHERE id = ? FOR UPDATE', id)
}

/** Everyone, those who wait first. */
export function people(q: Queryable, { isDemo }: { isDemo: boolean }): Promise<PersonRow[]> {
  return q.all<PersonRow>(
    `SELECT ${COLUMNS} FROM users WHERE demo = ? ORDER BY status = 'pending' DESC, created_at, id`,
    isDemo ? 1 : 0,
  )
}

/** An account whose work may be done: re-read when a job is claimed, and again when it publishes. */
export async function isApproved(q: Queryable, userId: string): Promise<boolean> {
  const row = await q.get("SELECT 1 FROM users WHERE id = ? AND status = 'approved'", userId)
  return row !== undefined
}

/** Names by id, for the ids that exist. */
export async function namesOf(q: Queryable, userIds: string[]): Promise<Map<string, string>> {
  const wanted = oneOf(userIds)
  const rows = await q.all<{ id: string; name: string }>(
    `SELECT id, name FROM users WHERE id IN ${wanted.marks}`,
    ...wanted.values,
  )
  return new Map(rows.map(({ id, name }) => [id, name]))
}

export async function isSetUp(q: Queryable): Promise<boolean> {
  return (await q.get('SELECT 1 FROM setup')) !== undefined
}

/**
 * Makes this person the admin if nobody has been yet. Of several at once, the row that can only be there once lets
 * one in. Cut after the account was made and before this: the person waits with nobody to let them in, and their
 * next look at `/api/me` comes here again.
 */
export async function claimSetup(tx: Transaction, userId: string, making: Making): Promise<boolean> {
  const { changes } = await tx.run(
    'INSERT INTO setup (one, user_id) VALUES (1, ?) ON CONFLICT (one) DO NOTHING',
    userId,
  )
  if (changes === 0) return false
  await tx.run("UPDATE users SET role = 'admin' WHERE id = ?", userId)
  await approve(tx, userId, making)
  return true
}

/** Lets a person in and gives them the group that only they are in. Doing it again changes nothing. */
export async function approve(tx: Transaction, userId: string, making: Making): Promise<void> {
  await setStatus(tx, userId, 'approved', making.nowMs)
  await givePersonalGroup(tx, userId, making)
}

export async function setStatus(
  tx: Transaction,
  userId: string,
  status: AccountStatus,
  nowMs: number,
): Promise<void> {
  await tx.run(
    'UPDATE users SET status = ?, updated_at = ? WHERE id = ?',
    status,
    new Date(nowMs).toISOString(),
    userId,
  )
}

/** Not for demo people: they are in exactly the groups that the demo says. */
async function givePersonalGroup(tx: Transaction, userId: string, { ids, nowMs }: Making): Promise<void> {
  const id = ids()
  const { changes } = await tx.run(
    `INSERT INTO groups (id, name, personal_of, created_at_ms)
     SELECT ?, 'Only me', id, ? FROM users WHERE id = ? AND demo = 0
     ON CONFLICT (personal_of) DO NOTHING`,
    id,
    nowMs,
    userId,
  )
  if (changes === 0) return
  await tx.run(
    "INSERT INTO memberships (group_id, user_id, role, joined_at_ms) VALUES (?, ?, 'owner', ?)",
    id,
    userId,
    nowMs,
  )
}
