import type { MigrationSet, Queryable, Transaction } from '@garner/db'
import { type Json, OperationConflict, payloadHash } from '@garner/jobs'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { foldersOf } from './migrations.ts'
import { badRequest } from './problem.ts'

/**
 * Idempotency-Key: a creating request that is sent again gets the first answer and makes nothing new.
 *
 * Promises: the answer is kept in the transaction that does the work, so there is never one without the other.
 * Of two racing repeats the second one waits for the turn of its key, and sees the first one's answer. Cut before the commit: nothing is there, and a repeat does the work. Cut after it, with the
 * answer lost on its way: the person's client repeats under the same key and gets that answer.
 */

/** The server's own tables, beside those of its features. */
export const serverMigrations: MigrationSet = {
  name: 'server',
  dir: foldersOf(import.meta.url),
}

/** 7 days, as for operations of jobs: longer than a phone with an unsent save stays offline. */
export const KEPT_MS = 7 * 24 * 3_600_000

export interface Operation {
  userId: string
  key: string
  /** Method and path pattern: under another route the same key is a conflict. */
  route: string
  payload: Json
}

export interface Answer {
  status: number
  /** JSON, byte for byte what is sent. */
  body: string
  /** The id of what was made, so that deleting it forgets the answer too. */
  thing: string
}

export type GivenAnswer = Omit<Answer, 'thing'> & { isReplay: boolean }

/**
 * The operation that a request names by its Idempotency-Key; null when it names none.
 * `payload` is everything that decides the effect: the body, and the ids in the path.
 * Errors: 400 for a key that is not 1 to 255 visible ASCII characters.
 */
export function operationOf(request: FastifyRequest, userId: string, payload: Json): Operation | null {
  const key = request.headers['idempotency-key']
  if (key === undefined) return null
  if (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw badRequest('Idempotency-Key must be 1 to 255 visible ASCII characters.')
  }
  return { userId, key, route: `${request.method} ${request.routeOptions.url}`, payload }
}

/**
 * The answer that was given under this key; null when it is new.
 * Errors: OperationConflict (409) when the key was used for another payload or route.
 */
export async function replay(q: Queryable, operation: Operation): Promise<GivenAnswer | null> {
  const row = await q.get<{ route: string; payload_hash: string; status: number; body: string }>(
    'SELECT route, payload_hash, status, body FROM idempotency WHERE user_id = ? AND key = ?',
    operation.userId,
    operation.key,
  )
  if (!row) return null
  if (row.route !== operation.route || row.payload_hash !== payloadHash(operation.payload)) {
    throw new OperationConflict(operation.key)
  }
  return { status: row.status, body: row.body, isReplay: true }
}

/** Keeps the answer, in the transaction that made it true. */
export async function remember(
  tx: Transaction,
  { userId, key, route, payload }: Operation,
  { status, body, thing, nowMs }: Answer & { nowMs: number },
): Promise<void> {
  await tx.run(
    `INSERT INTO idempotency (user_id, key, route, payload_hash, status, body, thing, created_at_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    userId,
    key,
    route,
    payloadHash(payload),
    status,
    body,
    thing,
    nowMs,
  )
}

/**
 * `work`, or the answer it gave the first time. Without an operation it is simply done.
 * Errors: OperationConflict; whatever `work` throws, and then nothing is kept.
 */
export async function answerOnce(
  tx: Transaction,
  { operation, nowMs }: { operation: Operation | null; nowMs: number },
  work: () => Promise<Answer>,
): Promise<GivenAnswer> {
  const first = operation && (await firstAnswer(tx, operation))
  if (first) return first
  const answer = await work()
  if (operation) await remember(tx, operation, { ...answer, nowMs })
  return { status: answer.status, body: answer.body, isReplay: false }
}

/** As `replay`, behind everybody who is at work under the same key. */
export async function firstAnswer(tx: Transaction, operation: Operation): Promise<GivenAnswer | null> {
  // Asked together: the second is read once the turn has come.
  const turn = tx.takeTurn(`answer ${operation.userId} ${operation.key}`)
  const [, first] = await Promise.all([turn, replay(tx, operation)])
  return first
}

/** When a thing is deleted: an answer that describes it must not outlive it. */
export async function forgetThing(tx: Transaction, thing: string): Promise<void> {
  await tx.run('DELETE FROM idempotency WHERE thing = ?', thing)
}

/** When an account is deleted. */
export async function forgetAnswersOf(tx: Transaction, userId: string): Promise<void> {
  await tx.run('DELETE FROM idempotency WHERE user_id = ?', userId)
}

/** Drops answers older than 7 days, and says how many. Their repeats would be new requests. */
export async function sweep(tx: Transaction, nowMs: number): Promise<number> {
  const { changes } = await tx.run('DELETE FROM idempotency WHERE created_at_ms < ?', nowMs - KEPT_MS)
  return changes
}

/** Sends an answer, marked when it is a repeat's. */
export function sendAnswer(reply: FastifyReply, { status, body, isReplay }: GivenAnswer): FastifyReply {
  if (isReplay) reply.header('idempotency-replayed', 'true')
  return reply.code(status).type('application/json; charset=utf-8').send(body)
}
