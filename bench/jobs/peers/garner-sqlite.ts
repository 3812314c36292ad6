import { DatabaseSync } from 'node:sqlite'
import { migrate, systemClock } from '@garner/db'
import { openSqlite } from '@garner/db/sqlite'
import { createSqliteStore, jobsMigrations } from '@garner/jobs/sqlite'
import { fileAt, freshFile } from '../lib/place.ts'
import { type Backend, BOUNDS, CREATE_EFFECT, garnerPeer, garnerVersion, REMAINING } from './garner.ts'

const FILE = 'garner.db'
const clock = systemClock()

async function open() {
  const db = openSqlite({ path: fileAt(FILE), clock })
  return { db, store: createSqliteStore({ db, clock, bounds: BOUNDS }) }
}

export const sqliteBackend: Backend = {
  name: 'garner-sqlite',
  server: 'none',
  perCall: 1000,
  open,
  async describe() {
    const db = openSqlite({ path: freshFile('garner-describe.db'), clock })
    const { version } = (await db.read.get<{ version: string }>('SELECT sqlite_version() AS version'))!
    await db.transaction((tx) => tx.run('CREATE TABLE t (n INTEGER)'))
    const { journal_mode: journal } = (await db.read.get<{ journal_mode: string }>('PRAGMA journal_mode'))!
    // Asked of a connection that the library has opened, since the setting is the connection's and not the file's.
    const { synchronous } = (await db.read.get<{ synchronous: number }>('PRAGMA synchronous'))!
    await db.close()
    const isSynced = synchronous >= 2
    const durability = `${journal}, synchronous=${isSynced ? 'FULL' : synchronous}`
    return { version: garnerVersion(), backend: `sqlite ${version}`, durability, isSynced }
  },
  async reset() {
    freshFile(FILE)
    const { db } = await open()
    await migrate(db, [jobsMigrations], clock)
    await db.transaction((tx) => tx.run(CREATE_EFFECT))
    await db.close()
  },
  async settle() {
    const db = new DatabaseSync(fileAt(FILE))
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    db.close()
  },
  async monitor() {
    const db = new DatabaseSync(fileAt(FILE), { readOnly: true })
    const count = db.prepare(REMAINING)
    return {
      remaining: async () => Number(count.get()?.n),
      close: async () => db.close(),
    }
  },
}

export const garnerSqlite = garnerPeer(sqliteBackend)
