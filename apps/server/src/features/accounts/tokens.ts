import { createHash } from 'node:crypto'
import type { Clock, Database, Queryable, Transaction } from '@garner/db'
import type { FastifyBaseLogger } from 'fastify'
import type { Principal } from '../../principal.ts'
import { conflict } from '../../problem.ts'

/**
 * API tokens: for scripts and for saving from elsewhere. A token is 256 random bits, shown once; the database keeps
 * its SHA-256, which is enough for a secret that cannot be guessed (a slow hash protects guessable ones).
 * Revoking deletes the row, and the next request is refused.
 */
export const TOKEN_PREFIX = 'garner_'
/** Enough to tell tokens apart in a list, and 30 of 256 bits: nothing to guess the rest from. */
const START_CHARS = TOKEN_PREFIX.length + 5
/** 50: more than a person's devices and scripts; keeps the list and the table bounded. */
const TOKENS_MAX = 50
/** A minute: the list says "used today", and a token in a busy script costs one write a minute, not one a request. */
const USE_NOTED_EVERY_MS = 60_000

export interface TokenRow {
  id: string
  name: string
  start: string
  created_at_ms: number
  last_used_at_ms: number | null
}

interface OwnerRow {
  id: string
  name: string
  role: Principal['role']
  status: Principal['status']
  token_id: string
  last_used_at_ms: number | null
}

export interface ApiTokensOptions {
  db: Database
  clock: Clock
  ids: () => string
  randomBytes: (n: number) => Uint8Array
  logger: FastifyBaseLogger
}

const COLUMNS = 'id, name, start, created_at_ms, last_used_at_ms'

export class ApiTokens {
  readonly #options: ApiTokensOptions
  readonly #noting = new Set<string>()

  constructor(options: ApiTokensOptions) {
    this.#options = options
  }

  /** Whose token it is; null when it was revoked or never was. Notes the use now and then, in the background. */
  async owner(q: Queryable, token: string): Promise<OwnerRow | null> {
    const row = await q.get<OwnerRow>(
      `SELECT u.id, u.name, u.role, u.status, t.id AS token_id, t.last_used_at_ms
       FROM api_tokens t JOIN users u ON u.id = t.user_id WHERE t.hash = ?`,
      hashOf(token),
    )
    if (!row) return null
    this.#noteUse(row.token_id, row.last_used_at_ms)
    return row
  }

  list(q: Queryable, userId: string): Promise<TokenRow[]> {
    return q.all<TokenRow>(
      `SELECT ${COLUMNS} FROM api_tokens WHERE user_id = ? ORDER BY created_at_ms, id`,
      userId,
    )
  }

  /** Errors: 409 when the person has 50 already. */
  async create(
    tx: Transaction,
    { userId, name }: { userId: string; name: string },
  ): Promise<TokenRow & { token: string }> {
    const { clock, ids, randomBytes } = this.#options
    await tx.takeTurn(`tokens ${userId}`)
    const held = await tx.get<{ n: number }>('SELECT count(*) AS n FROM api_tokens WHERE user_id = ?', userId)
    if (held!.n >= TOKENS_MAX) {
      throw conflict(
        'too-many-tokens',
        `You have ${TOKENS_MAX} tokens already; revoke one that is no longer used.`,
      )
    }
    const token = TOKEN_PREFIX + Buffer.from(randomBytes(32)).toString('base64url')
    const row: TokenRow = {
      id: ids(),
      name,
      start: token.slice(0, START_CHARS),
      created_at_ms: clock.nowMs(),
      last_used_at_ms: null,
    }
    await tx.run(
      'INSERT INTO api_tokens (id, user_id, name, start, hash, created_at_ms) VALUES (?, ?, ?, ?, ?, ?)',
      row.id,
      userId,
      name,
      row.start,
      hashOf(token),
      row.created_at_ms,
    )
    return { ...row, token }
  }

  /** False when there is no such token of this person. */
  async revoke(tx: Transaction, { userId, id }: { userId: string; id: string }): Promise<boolean> {
    const { changes } = await tx.run('DELETE FROM api_tokens WHERE id = ? AND user_id = ?', id, userId)
    return changes === 1
  }

  /** Behind the answer: a write that fails or is late must not cost anyone their request. */
  #noteUse(id: string, lastUsedAtMs: number | null): void {
    const { db, clock, logger } = this.#options
    const nowMs = clock.nowMs()
    if (lastUsedAtMs !== null && nowMs - lastUsedAtMs < USE_NOTED_EVERY_MS) return
    if (this.#noting.has(id)) return
    this.#noting.add(id)
    db.transaction((tx) => tx.run('UPDATE api_tokens SET last_used_at_ms = ? WHERE id = ?', nowMs, id))
      .catch((error: { code?: string }) =>
        logger.warn({ token: id, code: error.code }, 'use of a token not noted'),
      )
      .finally(() => this.#noting.delete(id))
  }
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url')
}
