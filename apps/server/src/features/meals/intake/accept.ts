import type { Around, Clock, Database, Queryable, Transaction } from '@garner/db'
import { type JobStore, QueueFull } from '@garner/jobs'
import { type Answer, answerOnce, type GivenAnswer, type Operation, replay } from '../../../idempotency.ts'
import type { Objects } from '../../../outbound/objects.ts'
import { forbidden, unavailable } from '../../../problem.ts'
import { describeJob } from '../describe-photo.ts'
import { diaryChanged } from '../diary.ts'
import type { Normalised, Taken } from '../photo/index.ts'
import { type Arrival, type Duplicate, findDuplicate } from './duplicates.ts'
import { blobKeyOf, ENTRY_COLUMNS, type EntryRow, waitingCount } from './entry.ts'
import { Turns } from './turns.ts'

/**
 * Accepts a photo that has been read and checked: duplicates, the bound, the picture, its bytes, its row.
 *
 * Promises. A photo is answered 202 only once its bytes and, in one transaction, its entry, its job and the remembered
 * answer are synced to disk (J1). Duplicates and the bound are looked at in that very transaction, so of ten copies at
 * once one is accepted, whichever processes they reach. Whatever is refused leaves neither row nor bytes.
 * Both are looked at before the picture is read, too: reading it is the dear part, and most repeats end there. Copies
 * that reach this process together wait for the first of them, since only its end says whether they are repeats.
 *
 * Killed before the bytes are written: nothing is there. Killed between bytes and row: an orphan that no row leads to,
 * swept within the hour; the client, whose connection broke, sends the photo again, and it is new. Killed after the
 * commit: everything is there; the same request again gets the first answer by its key, or is told that it is a repeat.
 * A commit that landed and was reported as failed is recognised by its row; a photo that a row leads to is never removed.
 */
export interface AcceptDeps {
  db: Database
  clock: Clock
  ids: () => string
  jobs: JobStore<Transaction>
  objects: Objects
  around: Around
  isApproved: (query: Queryable, userId: string) => Promise<boolean>
  maxPending: number
  onWork: () => void
  onChange: () => void
}

export interface Photo {
  userId: string
  digest: string
  captureStamp: string | null
  taken: Taken & { time: string }
  since: string | null
  isForced: boolean
  operation: Operation | null
  /** Reads the picture. Errors: HttpProblem for a picture that cannot be. */
  normalise: () => Promise<Normalised>
}

/** 2 s: what waits is done in turns of about that. */
const FULL_RETRY_MS = 2_000
/** As far as the clocks of two servers may be apart. */
const CLOCKS_APART_MS = 60_000
/** Bytes that have lain for longer without their row may have been swept meanwhile (sweep.ts): then no row is made. */
export const ROW_AFTER_BYTES_MS = 5 * 60_000

/** The repeat that was seen a moment ago is none any more: its meal was just deleted. */
class NoRepeat extends Error {}

export class Acceptance {
  readonly #deps: AcceptDeps
  readonly #turns = new Turns()
  /** Photos on their way from here to the queue, by person: they count as if they were in it. */
  readonly #underWay = new Map<string, number>()

  constructor(deps: AcceptDeps) {
    this.#deps = deps
  }

  /** Errors: QueueFull, OperationConflict, StoreUnavailable, HttpProblem. */
  accept(photo: Photo): Promise<GivenAnswer> {
    return this.#turns.take(`${photo.userId} ${photo.digest}`, () => this.#inTurn(photo))
  }

  async #inTurn(photo: Photo): Promise<GivenAnswer> {
    const { db } = this.#deps
    const known = photo.operation && (await replay(db.read, photo.operation))
    if (known) return known
    const twin = await findDuplicate(db.read, arrivalOf(photo, null))
    if (twin?.duplicate === 'same-photo') {
      const repeat = await this.#asRepeat(photo, null)
      if (repeat) return repeat
    }
    // Of the same minute: a repeat either way, and only its look says of which kind. Told before the bound is looked at.
    const picture = twin?.duplicate === 'same-minute' ? await photo.normalise() : null
    if (picture) {
      const repeat = await this.#asRepeat(photo, picture.look)
      if (repeat) return repeat
    }
    await this.#assertRoom(photo.userId)
    this.#count(photo.userId, 1)
    try {
      return await this.#take(photo, picture ?? (await photo.normalise()))
    } finally {
      this.#count(photo.userId, -1)
    }
  }

  /** The answer to a repeat; null when it is new as far as can be seen. */
  async #asRepeat(photo: Photo, look: string | null): Promise<GivenAnswer | null> {
    const arrival = arrivalOf(photo, look)
    if (!(await findDuplicate(this.#deps.db.read, arrival))) return null
    try {
      return await this.#answering(photo, async (tx) => {
        const duplicate = await findDuplicate(tx, arrival)
        if (!duplicate) throw new NoRepeat()
        return this.#repeatAnswer(tx, photo, duplicate)
      })
    } catch (error) {
      if (error instanceof NoRepeat) return null
      throw error
    }
  }

  /** Errors: QueueFull. A photo under way may still turn out to be none; who is refused for it comes again. */
  async #assertRoom(userId: string): Promise<void> {
    const waiting = await waitingCount(this.#deps.db.read, userId)
    this.#assertBelowBound(waiting + (this.#underWay.get(userId) ?? 0))
  }

  #assertBelowBound(pending: number): void {
    const { maxPending: limit } = this.#deps
    if (pending >= limit)
      throw new QueueFull({ scope: 'tenant', limit, pending, retryAfterMs: FULL_RETRY_MS })
  }

  #count(userId: string, by: number): void {
    const count = (this.#underWay.get(userId) ?? 0) + by
    if (count === 0) this.#underWay.delete(userId)
    else this.#underWay.set(userId, count)
  }

  async #take(photo: Photo, picture: Normalised): Promise<GivenAnswer> {
    const { clock, ids, objects, around } = this.#deps
    const comparedAtMs = clock.nowMs()
    const repeat = await this.#asRepeat(photo, picture.look)
    if (repeat) return repeat
    const row = entryRow(photo, picture, { id: ids(), jobId: ids(), nowMs: comparedAtMs })
    const blob = row.blob!
    const putAtMs = clock.monotonicMs()
    try {
      await around('photo.after-write', () => objects.put(blob, picture.jpeg))
    } catch (error) {
      await objects.remove(blob).catch(() => {})
      throw asStorage(error)
    }
    const since = { acceptedSinceMs: comparedAtMs - CLOCKS_APART_MS }
    let given: GivenAnswer
    try {
      given = await this.#answering(photo, async (tx) => {
        const duplicate = await findDuplicate(tx, arrivalOf(photo, picture.look), since)
        if (duplicate) return this.#repeatAnswer(tx, photo, duplicate)
        if (clock.monotonicMs() - putAtMs > ROW_AFTER_BYTES_MS) throw tooLate()
        return this.#insert(tx, row)
      })
    } catch (error) {
      const landed = await this.#landed(row)
      if (landed === 'unknown') throw error // Its bytes are kept; if there is no row, the sweep will find them.
      if (landed === null) {
        await objects.remove(blob).catch(() => {})
        throw error
      }
      given = landed
    }
    if (!given.isReplay && given.status === 202) return around('submit.after-commit', () => given)
    await objects.remove(blob).catch(() => {})
    return given
  }

  /** Whether the row is there after all, though its transaction is said to have failed. */
  async #landed(row: EntryRow): Promise<GivenAnswer | null | 'unknown'> {
    const { db } = this.#deps
    try {
      const found = await db.read.get('SELECT 1 FROM photo_entries WHERE id = ?', row.id)
      if (!found) return null
      const { body } = acceptedAnswer(row, await waitingCount(db.read, row.user_id))
      return { status: 202, body, isReplay: false }
    } catch {
      return 'unknown'
    }
  }

  /** One transaction, behind the second look at the account and at the remembered answer. */
  #answering(photo: Photo, work: (tx: Transaction) => Promise<Answer>): Promise<GivenAnswer> {
    const { db, clock, isApproved, onWork, onChange, around } = this.#deps
    return db.transaction(async (tx) => {
      await tx.takeTurn(turnOf(photo.userId))
      if (!(await isApproved(tx, photo.userId))) throw forbidden('This account may not log photos any more.')
      const given = await answerOnce(tx, { operation: photo.operation, nowMs: clock.nowMs() }, () => work(tx))
      if (given.status !== 202 || given.isReplay) return given
      await around('submit.before-commit', () => {})
      tx.afterCommit(onWork)
      tx.afterCommit(onChange)
      return given
    })
  }

  async #insert(tx: Transaction, row: EntryRow): Promise<Answer> {
    this.#assertBelowBound(await waitingCount(tx, row.user_id))
    await this.#deps.jobs.submit(tx, describeJob({ id: row.job_id, userId: row.user_id, entryId: row.id }))
    await tx.run(INSERT, ...ENTRY_COLUMNS.map((name) => row[name]))
    await diaryChanged(tx, row.user_id)
    return acceptedAnswer(row, await waitingCount(tx, row.user_id))
  }

  async #repeatAnswer(tx: Transaction, { userId }: Photo, found: Duplicate): Promise<Answer> {
    const { duplicate, id, date, time, isMeal } = found
    const body = {
      ...{ queued: false, skipped: true, duplicate, ...(isMeal ? { meal_id: id } : { entry_id: id }) },
      ...{ date, time, pending: await waitingCount(tx, userId) },
    }
    return { status: 200, body: JSON.stringify(body), thing: id }
  }
}

const INSERT = `INSERT INTO photo_entries (${ENTRY_COLUMNS.join(', ')})
  VALUES (${ENTRY_COLUMNS.map(() => '?').join(', ')})`

function arrivalOf(
  { userId, digest, captureStamp, taken, since, isForced }: Photo,
  look: string | null,
): Arrival {
  const mark = { digest, look, captureStamp }
  return { userId, mark, date: taken.date, time: taken.time, utcOffset: taken.offset, since, isForced }
}

function entryRow(
  { userId, digest, captureStamp, taken, isForced }: Photo,
  { look, width, height }: Normalised,
  { id, jobId, nowMs }: { id: string; jobId: string; nowMs: number },
): EntryRow {
  return {
    ...{ id, user_id: userId, job_id: jobId, state: 'waiting', reason: null },
    ...{ date: taken.date, time: taken.time, seconds: taken.seconds, utc_offset: taken.offset },
    ...{ time_source: taken.source, is_guess: taken.guess ? 1 : 0 },
    ...{ digest, look, capture_stamp: captureStamp, blob: blobKeyOf({ userId, id }), width, height },
    ...{ is_forced: isForced ? 1 : 0, is_deleted: 0, attempts: 0, failed_calls: 0, last_error: null },
    ...{ next_try_at_ms: null, accepted_at_ms: nowMs, ended_at_ms: null },
  }
}

/** One at a time changes what a person has waiting or logged: no unique key says what looks alike. */
export function turnOf(userId: string): string {
  return `photos of ${userId}`
}

export function acceptedAnswer(row: Pick<EntryRow, 'id' | 'date' | 'time'>, pending: number): Answer {
  const { id, date, time } = row
  const body = { queued: true, pending, entry: { id, state: 'queued', date, time } }
  return { status: 202, body: JSON.stringify(body), thing: id }
}

function tooLate(): Error {
  return unavailable('The photo took too long to store; it is not saved. Send it again.', FULL_RETRY_MS)
}

/** A full or failing disk is the server's trouble, and the same photo may be sent again. */
export function asStorage(error: unknown): unknown {
  const isOfTheDisk = typeof (error as NodeJS.ErrnoException).errno === 'number'
  if (!isOfTheDisk) return error
  return unavailable(
    'The photo cannot be stored right now; nothing was saved. Try again in a moment.',
    10_000,
  )
}
