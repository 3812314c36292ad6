import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Database, ManualClock, migrate, systemClock, type Transaction } from '@garner/db'
import { openSqlite } from '@garner/db/sqlite'
import { describeJobStore, type StoreUnderTest } from '../../testing/job-store.suite.ts'
import type { Bounds } from '../rank.ts'
import { createSqliteStore, jobsMigrations } from './store.ts'

interface Opened {
  databases: Database[]
  options: { bounds: Bounds; retryAfterMs: number }
  cleanUp?: () => void
}

async function prepared({ databases, options, cleanUp }: Opened): Promise<StoreUnderTest<Transaction>> {
  const clock = new ManualClock()
  const [db, other] = databases as [Database, Database?]
  await migrate(db, [jobsMigrations], clock)
  await db.transaction((tx) => tx.run('CREATE TABLE caller_rows (n INTEGER PRIMARY KEY, text TEXT NOT NULL)'))
  return {
    store: createSqliteStore({ db, clock, ...options }),
    second: other && createSqliteStore({ db: other, clock, ...options }),
    clock,
    caller: {
      async write(tx, text) {
        await tx.run('INSERT INTO caller_rows (text) VALUES (?)', text)
      },
      async rows() {
        const rows = await db.read.all<{ text: string }>('SELECT text FROM caller_rows ORDER BY n')
        return rows.map((one) => one.text)
      },
    },
    async close() {
      for (const one of databases) await one.close()
      cleanUp?.()
    },
  }
}

describeJobStore({
  name: 'SQLite in memory',
  open: (options) => {
    const db = openSqlite({ path: ':memory:', clock: systemClock() })
    return prepared({ databases: [db], options })
  },
})

describeJobStore({
  name: 'SQLite on a file, through two connections',
  open: (options) => {
    const dir = mkdtempSync(join(tmpdir(), 'garner-jobs-'))
    const path = join(dir, 'jobs.sqlite')
    // The databases wait for each other's locks in real time, while the store's clock stands still.
    const databases = [1, 2].map(() => openSqlite({ path, clock: systemClock() }))
    return prepared({ databases, options, cleanUp: () => rmSync(dir, { recursive: true }) })
  },
})
