import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { ManualClock } from '../src/clock.ts'
import type { Database } from '../src/database.ts'
import { openSqlite, type SqliteOptions } from '../src/sqlite/database.ts'

/** A folder that goes with its test. */
export function temporaryDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'garner-db-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

/** A database that is closed with its test. */
export function opened(options: SqliteOptions): Database {
  const db = openSqlite(options)
  onTestFinished(() => db.close())
  return db
}

/** One turn of the event loop. */
export const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

export async function turns(count = 20): Promise<void> {
  for (let n = 0; n < count; n++) await turn()
}

/** Moves the clock on, a little at a time, until `work` has ended; answers how long that took by the clock. */
export async function driven(clock: ManualClock, work: Promise<unknown>, stepMs = 1): Promise<number> {
  const startedMs = clock.monotonicMs()
  let hasEnded = false
  const end = () => {
    hasEnded = true
  }
  work.then(end, end)
  for (let n = 0; !hasEnded; n++) {
    if (n > 100_000) throw new Error('It does not end, however far the clock is moved on.')
    await turn()
    if (!hasEnded) clock.advance(stepMs)
  }
  return clock.monotonicMs() - startedMs
}
