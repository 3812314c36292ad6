import type { Database } from '@garner/db'

/** Whether anyone, in any process, has committed something since. */
export interface ChangeCount {
  /** A number to compare; null where there is none. Errors: StoreUnavailable. */
  now(): Promise<number> | null
}

/**
 * On SQLite the file's own count, some microseconds away. On PostgreSQL it would be a round trip per question: there is
 * none, and messages tell.
 *
 * Asked once for all who ask in one callback of the event loop, as SQLite's snapshot is (packages/db): the next callback
 * may answer a person who has been told of a commit meanwhile.
 */
export function changeCountOf(db: Database): ChangeCount {
  if (db.dialect !== 'sqlite') return { now: () => null }
  let asked: Promise<number> | null = null
  const forget = () => {
    asked = null
  }
  return {
    now() {
      if (asked) return asked
      asked = db.changeCounter()
      // After all promises that are ready by then, those that follow from this one included.
      queueMicrotask(() => process.nextTick(forget))
      return asked
    },
  }
}
