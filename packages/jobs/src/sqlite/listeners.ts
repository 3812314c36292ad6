import { type FSWatcher, watch } from 'node:fs'
import type { Clock, Database } from '@garner/db'
import type { Listening } from '../store.ts'
import * as sql from './sql.ts'

interface Listener {
  wake: () => void
  /** Until when it rests; 0 while it is busy. */
  restsUntilMs: number
}

/** Between looks whether a commit shows: 63 ms in all, which syncs to slow disks take. A later one is polled for. */
const PAUSES_MS = [1, 2, 4, 8, 16, 32]

/**
 * Who is told that something may have become due: those at rest. Every commit, of any process, is written to the
 * write-ahead log beside the file, so a change of that log is the hint. It comes early: the log is written first, then
 * synced, and only then does the commit show to others. So it is looked for until it shows, a few times within the
 * time that a sync takes. The store's own transactions are told of while they are under way (`announce`); a database in
 * memory, which has no log, has no others.
 *
 * Only a hint (J2): where the log cannot be watched (a network file system, no watches left) nothing is lost but the
 * time until the next poll.
 */
export class Listeners {
  readonly #db: Database
  readonly #clock: Clock
  readonly #listeners = new Set<Listener>()
  #watcher: FSWatcher | null = null
  #isOffering = false
  /** The log was written to since it was last looked whether a commit shows. */
  #isHeard = false
  #isLooking = false
  #sleeping = new AbortController()
  #changeSeen = -1

  constructor({ db, clock }: { db: Database; clock: Clock }) {
    this.#db = db
    this.#clock = clock
  }

  async listen(wake: () => void): Promise<Listening> {
    const listener: Listener = { wake, restsUntilMs: 0 }
    this.#listeners.add(listener)
    await this.#watch()
    return {
      resting: async (forMs) => {
        listener.restsUntilMs = this.#clock.nowMs() + forMs
        if (this.#isHeard) this.#hear()
      },
      busy: async () => {
        listener.restsUntilMs = 0
      },
      close: async () => {
        this.#listeners.delete(listener)
        if (this.#listeners.size > 0) return
        this.#watcher?.close()
        this.#watcher = null
        this.#sleeping.abort('closed')
      },
    }
  }

  /**
   * Something becomes due with the transaction that is under way, if it is committed. Who rests in this process hears of
   * it now: transactions that come together share a commit, so a claim that is asked for in this moment finds the work
   * and is durable with it. If the transaction fails the claim finds nothing. Other processes hear of the commit.
   */
  announce(): void {
    this.#isOffering = true
    for (const one of this.#resting()) one.wake()
    this.#isOffering = false
  }

  /** Whether a transaction is being announced: what it brings cannot be seen by looking, only by claiming. */
  get isOffering(): boolean {
    return this.#isOffering
  }

  async #watch(): Promise<void> {
    const file = (await this.#db.read.get<{ file: string }>(sql.FILE_OF_DATABASE))!.file
    if (file === '' || this.#watcher || this.#listeners.size === 0) return
    try {
      // Looking makes the log, if nobody has made it yet.
      this.#changeSeen = await this.#db.changeCounter()
      if (this.#watcher || this.#listeners.size === 0) return
      // Not persistent: to wait for others' work is no reason for a process to stay.
      this.#watcher = watch(`${file}-wal`, { persistent: false }, () => this.#hear())
      this.#watcher.on('error', () => {})
    } catch {
      // Polling finds the same work.
    }
  }

  /** One commit is a dozen writes to the log, and while everybody is busy none of them is worth a look. */
  #hear(): void {
    this.#isHeard = true
    if (this.#resting().length === 0) return
    this.#sleeping.abort('heard')
    if (!this.#isLooking) void this.#look()
  }

  async #look(): Promise<void> {
    this.#isLooking = true
    let pauses = PAUSES_MS.values()
    try {
      while (this.#listeners.size > 0) {
        if (this.#isHeard) {
          this.#isHeard = false
          pauses = PAUSES_MS.values()
          await new Promise(setImmediate) // one look for all that is written in a turn of the event loop
        } else {
          const pause = pauses.next()
          if (pause.done) return
          this.#sleeping = new AbortController()
          await this.#clock.sleep(pause.value, this.#sleeping.signal)
        }
        const change = await this.#db.changeCounter()
        if (change === this.#changeSeen) continue
        this.#changeSeen = change
        for (const one of this.#resting()) one.wake()
      }
    } catch {
      // The database cannot be asked: who polls it is told why.
    } finally {
      this.#isLooking = false
    }
  }

  #resting(): Listener[] {
    const nowMs = this.#clock.nowMs()
    return [...this.#listeners].filter((one) => one.restsUntilMs > nowMs)
  }
}
