import { DatabaseSync } from 'node:sqlite'
import { versionOf } from '../lib/packages.ts'
import type { Limit, Limits } from '../lib/peer.ts'
import { freshFile } from '../lib/place.ts'
import { betterSqlite } from '../lib/sqlite.ts'
import { BODY, perSecond, some } from './steps.ts'

/** The part that both drivers have in common. */
interface Sqlite {
  exec(sql: string): unknown
  prepare(sql: string): {
    run(...params: (string | number)[]): unknown
    all(...params: (string | number)[]): unknown[]
  }
  close(): void
}
interface Claimed {
  id: number
  epoch: number
}

/** A bare table of jobs with the one index that a claim needs: no tenants, bounds, operation ids or history. */
const SCHEMA = `
  CREATE TABLE job (
    id INTEGER PRIMARY KEY, queue TEXT NOT NULL, payload TEXT NOT NULL, state INTEGER NOT NULL DEFAULT 0,
    epoch INTEGER NOT NULL DEFAULT 0, run_at INTEGER NOT NULL, lease_until INTEGER
  );
  CREATE INDEX job_ready ON job (queue, run_at, id) WHERE state = 0;
`
const INSERT = 'INSERT INTO job (queue, payload, run_at) VALUES (?, ?, ?)'
const CLAIM = `
  UPDATE job SET state = 1, epoch = epoch + 1, lease_until = ? WHERE id IN (
    SELECT id FROM job WHERE queue = ? AND state = 0 AND run_at <= ? ORDER BY run_at, id LIMIT ?
  ) RETURNING id, epoch`
const COMPLETE = 'UPDATE job SET state = 2, lease_until = NULL WHERE id = ? AND epoch = ? AND state = 1'
const FAR_OFF = 1e12

/** The settings that are not the durability are those of `@garner/db/sqlite`, so that a ratio is the library's cost. */
async function open(config: string, filled = 0): Promise<Sqlite> {
  const path = freshFile('raw.db')
  const db: Sqlite = config === 'better-sqlite3' ? new (await betterSqlite())(path) : new DatabaseSync(path)
  db.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = ${config === 'normal' ? 'NORMAL' : 'FULL'};
    PRAGMA cache_size = -16000;
    PRAGMA wal_autocheckpoint = 4000;
  `)
  db.exec(SCHEMA)
  if (filled > 0) {
    const insert = db.prepare(INSERT)
    db.exec('BEGIN IMMEDIATE')
    for (let i = 0; i < filled; i++) insert.run('q', BODY, 1000 + i)
    db.exec('COMMIT')
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  }
  return db
}

function inserts(rows: number): Limit['run'] {
  return async (config, ms) => {
    const db = await open(config)
    const insert = db.prepare(INSERT)
    const rate = perSecond(ms, (done) => {
      if (rows === 1) insert.run('q', BODY, done)
      else inTransaction(db, () => repeat(rows, (i) => insert.run('q', BODY, done + i)))
      return rows
    })
    db.close()
    return rate
  }
}

/** Claims `jobs` in one commit and completes them in another, each fenced by its epoch. */
function claims(jobs: number): Limit['run'] {
  return async (config, ms) => {
    const db = await open(config, jobs === 1 ? 120_000 : 600_000)
    const claim = db.prepare(CLAIM)
    const complete = db.prepare(COMPLETE)
    const rate = perSecond(ms, () => {
      const claimed = some(claim.all(FAR_OFF, 'q', FAR_OFF, jobs) as Claimed[])
      inTransaction(db, () => {
        for (const { id, epoch } of claimed) complete.run(id, epoch)
      })
      return claimed.length
    })
    db.close()
    return rate
  }
}

/** The end of one job and the claim of the next share a commit: the most that is possible one by one. */
const chained: Limit['run'] = async (config, ms) => {
  const db = await open(config, 120_000)
  const claim = db.prepare(CLAIM)
  const complete = db.prepare(COMPLETE)
  let held: Claimed[] = []
  const rate = perSecond(ms, () => {
    inTransaction(db, () => {
      for (const { id, epoch } of held) complete.run(id, epoch)
      held = some(claim.all(FAR_OFF, 'q', FAR_OFF, 1) as Claimed[])
    })
    return 1
  })
  db.close()
  return rate
}

function inTransaction(db: Sqlite, work: () => void): void {
  db.exec('BEGIN IMMEDIATE')
  work()
  db.exec('COMMIT')
}

function repeat(times: number, work: (i: number) => void): void {
  for (let i = 0; i < times; i++) work(i)
}

export const sqliteLimits: Limits = {
  name: 'raw-sqlite',
  server: 'none',
  configs: {
    full: { about: 'node:sqlite, every commit synced' },
    'better-sqlite3': { about: 'better-sqlite3, every commit synced' },
    normal: { about: 'node:sqlite, commits not synced' },
  },
  async describe(config) {
    const [row] = new DatabaseSync(':memory:').prepare('SELECT sqlite_version() AS v').all()
    const isBetter = config === 'better-sqlite3'
    return {
      version: isBetter ? `better-sqlite3 ${versionOf('better-sqlite3')}` : `node:sqlite ${process.version}`,
      backend: isBetter ? 'sqlite' : `sqlite ${row?.v}`,
      durability: `wal, synchronous=${config === 'normal' ? 'NORMAL' : 'FULL'}`,
      isSynced: config !== 'normal',
    }
  },
  limits: [
    { case: 'submit', measure: 'insert 1 per commit', unit: '/s', run: inserts(1) },
    { case: 'submit-50', measure: 'insert 1 per commit', unit: '/s', run: inserts(1) },
    { case: 'submit-many', measure: 'insert 1,000 per commit', unit: '/s', run: inserts(1000) },
    { case: 'drain', measure: 'claim 100, complete 100', unit: '/s', run: claims(100) },
    { case: 'limits', measure: 'insert 100 per commit', unit: '/s', run: inserts(100) },
    { case: 'limits', measure: 'claim 1, complete 1', unit: '/s', run: claims(1) },
    { case: 'limits', measure: 'complete 1 and claim 1 in one commit', unit: '/s', run: chained },
  ],
}
