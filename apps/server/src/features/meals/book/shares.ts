import { hash } from 'node:crypto'
import type { Queryable, Transaction } from '@garner/db'
import { badRequest, conflict } from '../../../problem.ts'
import { cleanLine } from '../../../text.ts'
import { dateOf } from '../photo/taken/stamp.ts'
import { isDay } from './day.ts'
import type { CreateShare, Share } from './schemas.ts'

/**
 * Links that show somebody's days to people without an account.
 *
 * Promises: whoever has the token sees the days of its share until it ends or is stopped, and nobody else does. The
 * token is 32 random bytes and is seen once, in the answer that made it; here is only its SHA-256, so a stolen
 * database opens no link. (Plain SHA-256 and no slow hash: there is nothing to guess in 256 random bits.) What a
 * share shows is read at each opening, so a meal that was moved or deleted is gone from it at once.
 * Cut while it is made: there is no share, or one whose token nobody has, which is listed and can be stopped.
 */
export interface ShareRow {
  id: string
  user_id: string
  name: string
  from_date: string | null
  to_date: string | null
  with_photos: number
  expires_at_ms: number
  views: number
  last_view_at_ms: number | null
  created_at_ms: number
}

const DAY_MS = 24 * 3_600_000
/** A month, unless its maker says. */
const LASTS_MS = 30 * DAY_MS
/** A year: a link that is forgotten ends by itself. */
const LASTS_MAX_MS = 366 * DAY_MS
/** More links than anybody looks after are links that nobody looks after. */
export const SHARES_MAX = 50
/** Ended links are listed for a month, for whoever wonders why theirs shows nothing. */
const KEPT_MS = 30 * DAY_MS

/** What is stored of a share: checked and clean. */
export interface NewShare {
  name: string
  from: string | null
  to: string | null
  withPhotos: boolean
  expiresAtMs: number
}

/** Errors: 400 naming the bad field. */
export function newShare(body: CreateShare, nowMs: number): NewShare {
  const { from = null, to = null, expires_at, photos = true } = body
  for (const [path, day] of Object.entries({ from, to })) {
    if (day !== null && !isDay(day)) throw badField(path, 'A date as YYYY-MM-DD, such as 2026-08-01.')
  }
  if (from !== null && to !== null && from > to) throw badField('to', 'The last day is before the first.')
  const expiresAtMs = expires_at === undefined ? nowMs + LASTS_MS : instantOf(expires_at)
  if (expiresAtMs === null) {
    throw badField('expires_at', 'A time with its offset, such as 2026-09-12T00:00:00Z.')
  }
  if (expiresAtMs <= nowMs || expiresAtMs > nowMs + LASTS_MAX_MS) {
    throw badField('expires_at', 'A link ends in the next 366 days.')
  }
  return { name: cleanLine(body.name ?? ''), from, to, withPhotos: photos, expiresAtMs }
}

export async function createShare(
  tx: Transaction,
  {
    id,
    userId,
    token,
    share,
    nowMs,
  }: { id: string; userId: string; token: string; share: NewShare; nowMs: number },
): Promise<ShareRow> {
  // So that the bound also holds for links that are made at the same time.
  await tx.takeTurn(`shares ${userId}`)
  const { live } = (await tx.get<{ live: number }>(
    'SELECT count(*) AS live FROM shares WHERE user_id = ? AND expires_at_ms > ?',
    userId,
    nowMs,
  ))!
  if (Number(live) >= SHARES_MAX) {
    throw conflict('too-many-shares', `You have ${SHARES_MAX} links already. Stop one of them first.`)
  }
  await tx.run(
    `INSERT INTO shares (id, user_id, hash, name, from_date, to_date, with_photos, expires_at_ms, created_at_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ...[id, userId, hashOf(token), share.name, share.from, share.to],
    ...[share.withPhotos ? 1 : 0, share.expiresAtMs, nowMs],
  )
  return (await tx.get<ShareRow>('SELECT * FROM shares WHERE id = ?', id))!
}

/** Newest first; those that have ended too, for a month. */
export async function listShares(query: Queryable, userId: string): Promise<ShareRow[]> {
  return query.all<ShareRow>(
    'SELECT * FROM shares WHERE user_id = ? ORDER BY created_at_ms DESC, id DESC',
    userId,
  )
}

/** Answers whether this person had such a share. From the commit on its link is dead. */
export async function stopShare(
  tx: Transaction,
  { id, userId }: { id: string; userId: string },
): Promise<boolean> {
  const { changes } = await tx.run('DELETE FROM shares WHERE id = ? AND user_id = ?', id, userId)
  return changes > 0
}

/**
 * The share that a token opens now; undefined for one that ended, was stopped or never was. One question to the
 * database whatever the token is, and nothing that is compared sign by sign: time tells nothing about the token.
 */
export async function openShare(
  query: Queryable,
  { token, nowMs }: { token: string; nowMs: number },
): Promise<ShareRow | undefined> {
  return query.get<ShareRow>(
    'SELECT * FROM shares WHERE hash = ? AND expires_at_ms > ?',
    hashOf(token),
    nowMs,
  )
}

export async function countView(
  tx: Transaction,
  { id, nowMs }: { id: string; nowMs: number },
): Promise<void> {
  await tx.run('UPDATE shares SET views = views + 1, last_view_at_ms = ? WHERE id = ?', nowMs, id)
}

/** Drops links that ended a month ago, and says how many. */
export async function sweepShares(tx: Transaction, nowMs: number): Promise<number> {
  return (await tx.run('DELETE FROM shares WHERE expires_at_ms < ?', nowMs - KEPT_MS)).changes
}

export function toShare(row: ShareRow): Share {
  return {
    ...{ id: row.id, name: row.name, from: row.from_date, to: row.to_date },
    expires_at: new Date(row.expires_at_ms).toISOString(),
    photos: row.with_photos === 1,
    created_at: new Date(row.created_at_ms).toISOString(),
    views: row.views,
    last_view_at: row.last_view_at_ms === null ? null : new Date(row.last_view_at_ms).toISOString(),
  }
}

function hashOf(token: string): string {
  return hash('sha256', token, 'hex')
}

/** Unix ms of an ISO 8601 instant with its offset, or null. Date.parse would take 30 February for 2 March. */
function instantOf(text: string): number | null {
  const found = /^(\d{4})-(\d\d)-(\d\d)T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/.exec(text)
  if (!found || dateOf(Number(found[1]), Number(found[2]), Number(found[3])) === null) return null
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? null : ms
}

function badField(path: string, message: string): Error {
  return badRequest(`${path}: ${message}`, [{ path, message }])
}
