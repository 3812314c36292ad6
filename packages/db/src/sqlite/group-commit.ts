import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Clock } from '../clock.ts'
import type { Transaction } from '../database.ts'
import { StoreUnavailable, TransactionClosed } from '../errors.ts'
import { unavailable } from './errors.ts'

/**
 * Group commit: transactions that arrive together share one BEGIN, one COMMIT and so one sync to disk.
 *
 * Promises. A transaction's promise resolves only after the COMMIT that holds it has returned, and with
 * `synchronous=FULL` that is after the sync. They run one after the other, and one that fails takes nothing of the
 * others with it. No two interleave.
 *
 * A batch begins without savepoints: each would make SQLite copy every page that its transaction touches, a third
 * of the cost of a small one. One that fails before it has written is simply left out. One that fails after it has
 * written undoes the batch, and the others of it run again, from then on each in its savepoint. So a transaction's
 * function may run twice, and only its last run counts; those that cannot (`runsOnce`) get a batch with savepoints.
 *
 * Assumes. One batch at a time on one connection that nobody else writes with. Other processes may write to the
 * same file; they are waited for without blocking the event loop, `busyMs` at most.
 *
 * Cut anywhere before COMMIT returns: the file holds nothing of the batch, or all of it (the WAL frame with the
 * commit mark decides); nobody was told yes; SQLite notices at the next open; the person sees a lost connection
 * and repeats the save under its Idempotency-Key. If COMMIT itself fails, all of the batch are told
 * StoreUnavailable and the batch is rolled back.
 */
export interface GroupCommitOptions {
  db: DatabaseSync
  clock: Clock
  transaction: (seal: Seal) => Transaction
  /** Runs the COMMIT; the seam for slow and failing disks. */
  commit: (effect: () => void) => void | Promise<void>
  /** Throws StoreUnavailable when the file on disk is no longer the one that was opened. */
  assertSameFile: () => void
  busyMs: number
}

/** What a transaction and its batch know of each other. */
export interface Seal {
  /** Why it may not be used any more. */
  closed: string | null
  /** Set by the first statement that the database could not run: from then on all of it has failed. */
  failed: StoreUnavailable | null
  /** Whether it has run a statement that may have written. */
  hasWritten: boolean
  hooks: (() => void)[]
}

interface Waiting {
  work: (tx: Transaction) => Promise<unknown>
  runsOnce: boolean
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}

interface Done {
  waiting: Waiting
  value: unknown
  hooks: (() => void)[]
}

/** A batch as its watch sees it. Nearly all are over before their watch has to sleep. */
interface Watched {
  isOver: boolean
  sleeping?: AbortController
}

/** 512: at about 40 µs a transaction the write lock is held for 20 ms; more makes a second process wait visibly. */
const BATCH_MAX = 512
/** A transaction open this long is a bug (it awaits something that is not the database); the others go on. */
const OPEN_MAX_MS = 5_000

/**
 * How long to sleep before looking at another process's lock again. 1, not more and more: it is held for a few
 * milliseconds at a time, and who sleeps longer than the other one's pauses finds it taken again each time.
 */
const LOCK_POLL_MS = 1

export class GroupCommit {
  readonly #options: GroupCommitOptions
  #queue: Waiting[] = []
  #running: Promise<void> | null = null
  #closed = false
  #lastCommitMs = 0
  #giveUp: (error: TransactionClosed) => void = () => {}
  readonly #beginNow: StatementSync
  readonly #commit: StatementSync
  readonly #savepoint: StatementSync
  readonly #release: StatementSync
  readonly #rollbackOne: StatementSync

  constructor(options: GroupCommitOptions) {
    this.#options = options
    // IMMEDIATE, so that a lock held by another process shows at the begin and not in the middle of a batch.
    this.#beginNow = options.db.prepare('BEGIN IMMEDIATE')
    this.#commit = options.db.prepare('COMMIT')
    this.#savepoint = options.db.prepare('SAVEPOINT one')
    this.#release = options.db.prepare('RELEASE one')
    this.#rollbackOne = options.db.prepare('ROLLBACK TO one')
  }

  submit<T>(work: (tx: Transaction) => Promise<T>, runsOnce = false): Promise<T> {
    if (this.#closed) return Promise.reject(new StoreUnavailable('closed', 'starting a transaction'))
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ work, runsOnce, resolve: resolve as (value: unknown) => void, reject })
      this.#running ??= this.#drain()
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#running
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      await this.#gather()
      await this.#batch()
    }
    this.#running = null
  }

  /**
   * Lets requests that have already arrived join: one turn of the event loop always; further turns, while more
   * keep coming, only when the disk is slow enough that a sync saved is worth more than the turns (1 ms).
   * Without it, clients that answer in step split into two half batches that take turns waiting for the disk.
   */
  async #gather(): Promise<void> {
    let seen: number
    let turns = 0
    do {
      seen = this.#queue.length
      await new Promise(setImmediate)
      turns++
    } while (
      this.#lastCommitMs > 1 &&
      this.#queue.length > seen &&
      this.#queue.length < BATCH_MAX &&
      turns < 50
    )
  }

  async #batch(): Promise<void> {
    const { clock, commit, assertSameFile } = this.#options
    try {
      assertSameFile()
      await this.#begin()
    } catch (error) {
      for (const waiting of this.#queue.splice(0)) waiting.reject(error)
      return
    }
    let done: Done[] = []
    const watched: Watched = { isOver: false }
    void this.#watch(watched)
    try {
      let isCareful = this.#queue[0]!.runsOnce
      for (let n = 0; n < BATCH_MAX && this.#queue.length > 0; n++) {
        if (this.#queue[0]!.runsOnce && !isCareful) break
        const one = await this.#runOne(this.#queue.shift()!, isCareful)
        if (one === 'undo') {
          this.#rollback()
          this.#queue.unshift(...done.map(({ waiting }) => waiting))
          done = []
          isCareful = true
          await this.#begin()
        } else if (one !== 'refused') done.push(one)
      }
      assertSameFile()
      const startedMs = clock.monotonicMs()
      await commit(() => this.#commit.run())
      this.#lastCommitMs = clock.monotonicMs() - startedMs
    } catch (error) {
      this.#rollback()
      const refusal = unavailable(error, 'committing') ?? error
      for (const { waiting } of done) waiting.reject(refusal)
      return
    } finally {
      watched.isOver = true
      watched.sleeping?.abort('over')
    }
    for (const { waiting, value, hooks } of done) {
      waiting.resolve(value)
      for (const hook of hooks) callHook(hook)
    }
  }

  /** Errors: StoreUnavailable when another process has held the write lock for longer than `busyMs`. */
  async #begin(): Promise<void> {
    const { clock, busyMs } = this.#options
    const untilMs = clock.monotonicMs() + busyMs
    for (;;) {
      try {
        this.#beginNow.run()
        return
      } catch (error) {
        const refusal = unavailable(error, 'waiting for the write lock')
        if (!refusal) throw error
        if (refusal.reason !== 'busy' || clock.monotonicMs() >= untilMs) throw refusal
        await clock.sleep(LOCK_POLL_MS)
      }
    }
  }

  /**
   * One transaction, in its savepoint if `isCareful`. Its failure is its own, and it has been told: `refused` when
   * nothing of it is there, `undo` when only undoing the batch takes away what it wrote.
   */
  async #runOne(waiting: Waiting, isCareful: boolean): Promise<Done | 'refused' | 'undo'> {
    const { db, transaction } = this.#options
    const seal: Seal = { closed: null, failed: null, hasWritten: false, hooks: [] }
    try {
      if (isCareful) this.#savepoint.run()
      const value = await this.#watched(waiting.work(transaction(seal)))
      if (seal.failed) throw seal.failed
      seal.closed = 'it has ended'
      if (isCareful) this.#release.run()
      return { waiting, value, hooks: seal.hooks }
    } catch (error) {
      seal.closed ??= error instanceof TransactionClosed ? 'it was open for too long' : 'it has failed'
      waiting.reject(unavailable(error, 'running a transaction') ?? error)
      // A full or failing disk makes SQLite roll back everything: then the whole batch has failed.
      if (!db.isTransaction) throw error
      if (!isCareful) return seal.hasWritten ? 'undo' : 'refused'
      this.#rollbackOne.run()
      this.#release.run()
      return 'refused'
    }
  }

  /** `work`, unless the watch gives it up first; its late end is then nobody's business. */
  #watched<T>(work: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#giveUp = reject
      work.then(resolve, reject)
    })
  }

  /**
   * Statements on SQLite end within microtasks, so a batch is over within a turn or two of the event loop. One
   * that is not waits for something that is not the database: its transaction is given up after OPEN_MAX_MS.
   */
  async #watch(batch: Watched): Promise<void> {
    await new Promise(setImmediate)
    while (!batch.isOver) {
      const giveUp = this.#giveUp
      batch.sleeping ??= new AbortController()
      await this.#options.clock.sleep(OPEN_MAX_MS, batch.sleeping.signal)
      if (!batch.isOver && this.#giveUp === giveUp) {
        giveUp(new TransactionClosed(`it was open for more than ${OPEN_MAX_MS} ms`))
      }
    }
  }

  #rollback(): void {
    const { db } = this.#options
    if (db.isTransaction) db.exec('ROLLBACK')
  }
}

/** The transaction is durable: a hint that fails is worth a warning, and is nobody's failure. */
function callHook(hook: () => void): void {
  try {
    hook()
  } catch (error) {
    process.emitWarning(error as Error)
  }
}
