import type { Around, Database, Transaction } from '@garner/db'
import type { FastifyBaseLogger } from 'fastify'
import { forgetAnswersOf } from '../../idempotency.ts'
import { conflict, HttpProblem } from '../../problem.ts'
import type { Changed } from './changes.ts'
import { groupsOf, groupsThatEndWith, leaveAll } from './groups.ts'
import { person, takePerson } from './people.ts'
import { takeTurnOnGroup } from './turns.ts'

/**
 * Deleting an account: queue first, photos next, rows last, and the person's own row last of all.
 *
 * Each part may be done again. Cut after the queue, or after the photos: the account and its rows are still there,
 * the person is told so (500, or a lost connection) and deletes again, which finishes. The rows go in one
 * transaction, together with everything of theirs in the other features, so there is never half a person. In that
 * order because a job without its account is discarded when it is claimed, but a photo whose row is gone would be
 * seen by nobody but the sweep.
 */
export interface Purges {
  /** Everything of this person in the queue, dead entries too. */
  queue: (userId: string) => Promise<void>
  photos?: (userId: string) => Promise<void>
  /**
   * The rows of the other features, and once more the queue: something may have been saved since.
   * `endedGroups` are the groups that nobody else is in; they go with the account.
   */
  rows: (tx: Transaction, userId: string, endedGroups: string[]) => Promise<void>
}

export interface DeletionOptions {
  db: Database
  around: Around
  purges: Purges
  isDemo: boolean
  changed: (tx: Transaction, change: Changed) => void
  logger: FastifyBaseLogger
}

export class Deletion {
  readonly #options: DeletionOptions

  constructor(options: DeletionOptions) {
    this.#options = options
  }

  /**
   * Errors: 409 for the last admin while there are others, before anything is touched: nobody could let anyone in
   * any more. StoreUnavailable, also before. 500 when a part failed; the account is still there, and a repeat finishes.
   */
  async run(userId: string): Promise<void> {
    const { db, around, purges, logger } = this.#options
    await db.transaction((tx) => this.#assertMayGo(tx, userId))
    let part = 'queue'
    try {
      await purges.queue(userId)
      await around('purge.after-queue', () => {})
      part = 'photos'
      await purges.photos?.(userId)
      await around('purge.after-photos', () => {})
      part = 'rows'
      await db.transaction((tx) => this.#deleteRows(tx, userId))
    } catch (error) {
      if (error instanceof HttpProblem) throw error
      const { name, code } = error as { name?: string; code?: string }
      logger.error({ user: userId, part, kind: name, code }, 'account not deleted')
      throw new HttpProblem({
        type: 'deletion-incomplete',
        title: 'The account is not deleted yet',
        status: 500,
        detail:
          'A part of your account could not be deleted, so the account is still there. Delete it again to finish.',
      })
    }
  }

  async #deleteRows(tx: Transaction, userId: string): Promise<void> {
    const { db, purges, changed } = this.#options
    for (const id of (await groupsOf(tx, userId)).map((group) => group.id).sort())
      await takeTurnOnGroup(tx, id)
    await takePerson(tx, userId, db.dialect)
    await this.#assertMayGo(tx, userId)
    const ended = await groupsThatEndWith(tx, userId)
    await purges.rows(tx, userId, ended)
    await forgetAnswersOf(tx, userId)
    for (const id of await leaveAll(tx, userId, ended)) changed(tx, { kind: 'group', id })
    await tx.run('DELETE FROM users WHERE id = ?', userId)
    changed(tx, { kind: 'account', id: userId })
  }

  async #assertMayGo(tx: Transaction, userId: string): Promise<void> {
    const who = await person(tx, userId)
    if (who?.role !== 'admin') return
    await tx.takeTurn('admins')
    const others = await tx.get<{ people: number; admins: number }>(
      `SELECT count(*) AS people, count(*) FILTER (WHERE role = 'admin' AND status = 'approved') AS admins
       FROM users WHERE id <> ? AND demo = ?`,
      userId,
      this.#options.isDemo ? 1 : 0,
    )
    if (others!.people === 0 || others!.admins > 0) return
    throw conflict(
      'last-admin',
      'You run this Garner, and there are others in it. They have to delete their accounts before you can delete yours.',
    )
  }
}
