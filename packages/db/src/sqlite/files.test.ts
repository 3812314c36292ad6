import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { driven, opened, temporaryDir, turn, turns } from '../../testing/temporary.ts'
import { ManualClock } from '../clock.ts'
import type { Database } from '../database.ts'
import { StoreUnavailable } from '../errors.ts'
import { openSqlite } from './database.ts'

const INSERT = 'INSERT INTO notes (text) VALUES (?)'

async function notes({ busyMs = 2_000 } = {}) {
  const clock = new ManualClock()
  const path = join(temporaryDir(), 'notes.sqlite')
  const db = opened({ path, clock, busyMs })
  await db.transaction((tx) => tx.run('CREATE TABLE notes (n INTEGER PRIMARY KEY, text TEXT UNIQUE)'))
  return { db, clock, path }
}

/** Another connection that holds the write lock. */
function lockHolder(path: string): DatabaseSync {
  const other = new DatabaseSync(path)
  onTestFinished(() => other.close())
  other.exec('BEGIN IMMEDIATE')
  return other
}

async function textsOf(db: Database): Promise<string[]> {
  return (await db.read.all<{ text: string }>('SELECT text FROM notes ORDER BY n')).map((one) => one.text)
}

test('a write lock that others hold is waited for `busyMs` by the clock, and then nothing is stored', async () => {
  const { db, clock, path } = await notes({ busyMs: 700 })
  const other = lockHolder(path)
  const works = ['one', 'two'].map((text) => db.transaction((tx) => tx.run(INSERT, text)))
  const waitedMs = await driven(clock, Promise.allSettled(works))
  expect(waitedMs).toBeGreaterThanOrEqual(700)
  expect(waitedMs).toBeLessThanOrEqual(750)
  for (const work of works) {
    await expect(work).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', reason: 'busy' })
  }
  other.exec('COMMIT')
  expect(await textsOf(db)).toEqual([])
  await db.transaction((tx) => tx.run(INSERT, 'later'))
  expect(await textsOf(db)).toEqual(['later'])
})

test('a write lock that is let go in time is waited for, and the transaction succeeds', async () => {
  const { db, clock, path } = await notes({ busyMs: 700 })
  const other = lockHolder(path)
  other.exec("INSERT INTO notes (text) VALUES ('of the other')")
  const work = db.transaction(async (tx) => {
    await tx.run(INSERT, 'ours')
    return tx.all('SELECT text FROM notes ORDER BY n')
  })
  for (let waitedMs = 0; waitedMs < 600; waitedMs += 10) {
    await turns(3)
    clock.advance(10)
  }
  other.exec('COMMIT')
  await driven(clock, work)
  expect(await work).toEqual([{ text: 'of the other' }, { text: 'ours' }])
})

test('while others hold the write lock, reads go on with what is committed', async () => {
  const { db, path } = await notes()
  await db.transaction((tx) => tx.run(INSERT, 'committed'))
  const other = lockHolder(path)
  other.exec("INSERT INTO notes (text) VALUES ('not committed')")
  expect(await textsOf(db)).toEqual(['committed'])
  other.exec('COMMIT')
  await turn() // what others commit is seen from the next callback of the event loop on
  expect(await textsOf(db)).toEqual(['committed', 'not committed'])
})

test('what another process has committed is seen by the next callback, of the same turn too', async () => {
  const { db, path } = await notes()
  const other = new DatabaseSync(path)
  const before = new Promise((resolve) => setImmediate(() => resolve(textsOf(db))))
  setImmediate(() => other.exec("INSERT INTO notes (text) VALUES ('of the other')"))
  const after = new Promise((resolve) => setImmediate(() => resolve(textsOf(db))))
  expect(await before).toEqual([])
  expect(await after).toEqual(['of the other'])
  other.close()
})

test('reads that follow each other in one callback are of one state', async () => {
  const { db, path } = await notes()
  const other = new DatabaseSync(path)
  const first = await textsOf(db)
  other.exec("INSERT INTO notes (text) VALUES ('of the other')")
  expect([first, await textsOf(db)]).toEqual([[], []])
  other.close()
})

test('a read sees at once what was committed here, in the middle of a turn too', async () => {
  const { db } = await notes()
  for (const text of ['one', 'two', 'three']) {
    const before = await textsOf(db)
    await db.transaction((tx) => tx.run(INSERT, text))
    expect(await textsOf(db)).toEqual([...before, text])
  }
})

test('a commit is seen at once by who had read in the same turn, before it', async () => {
  const { db } = await notes()
  const before = await db.transaction(async (tx) => {
    await tx.run(INSERT, 'one')
    return textsOf(db) // not through the transaction: what is committed so far
  })
  expect(before).toEqual([])
  expect(await textsOf(db)).toEqual(['one'])
})

test('commits of another connection are noticed by the change counter', async () => {
  const { db, clock, path } = await notes()
  const before = await db.changeCounter()
  const other = opened({ path, clock })
  await other.transaction((tx) => tx.run(INSERT, 'of the other'))
  expect(await db.changeCounter()).not.toBe(before)
})

const LOSSES: [string, (path: string) => void][] = [
  ['deleted', (path) => rmSync(path)],
  ['moved away', (path) => renameSync(path, `${path}.away`)],
  [
    'replaced by a copy',
    (path) => {
      const bytes = readFileSync(path)
      renameSync(path, `${path}.away`)
      writeFileSync(path, bytes)
    },
  ],
  ['deleted with its folder', (path) => rmSync(join(path, '..'), { recursive: true })],
]
test.each(LOSSES)(
  'a database file that was %s: no success is claimed, for writes and reads',
  async (_name, lose) => {
    const { db, clock, path } = await notes()
    await db.transaction((tx) => tx.run(INSERT, 'one'))
    expect(await textsOf(db)).toEqual(['one'])
    lose(path)
    const missing = { code: 'STORE_UNAVAILABLE', reason: 'missing' }
    let hasBegun = false
    const refused = db.transaction(async (tx) => {
      hasBegun = true
      await tx.run(INSERT, 'two')
    })
    await expect(refused).rejects.toMatchObject(missing)
    expect(hasBegun).toBe(false)
    await expect(db.changeCounter()).rejects.toMatchObject(missing)
    clock.advance(100) // reads look again within this time
    await expect(textsOf(db)).rejects.toMatchObject(missing)
    await expect(db.read.get('SELECT 1')).rejects.toMatchObject(missing)
  },
)

test('a file deleted in the middle of a transaction: the transaction is refused', async () => {
  const { db, path } = await notes()
  const work = db.transaction(async (tx) => {
    await tx.run(INSERT, 'one')
    rmSync(path)
  })
  await expect(work).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', reason: 'missing' })
})

test('a file that comes back in its place is used again', async () => {
  const { db, clock, path } = await notes()
  renameSync(path, `${path}.away`)
  await expect(db.transaction((tx) => tx.run(INSERT, 'one'))).rejects.toBeInstanceOf(StoreUnavailable)
  renameSync(`${path}.away`, path)
  clock.advance(100)
  await db.transaction((tx) => tx.run(INSERT, 'two'))
  expect(await textsOf(db)).toEqual(['two'])
})

test('opening makes the folder, and keeps what is there', async () => {
  const path = join(temporaryDir(), 'new', 'deeper', 'notes.sqlite')
  const first = openSqlite({ path, clock: new ManualClock() })
  await first.transaction(async (tx) => {
    await tx.run('CREATE TABLE notes (n INTEGER PRIMARY KEY, text TEXT)')
    await tx.run(INSERT, 'kept')
  })
  await first.close()
  expect(await textsOf(opened({ path, clock: new ManualClock() }))).toEqual(['kept'])
})

test('what cannot be opened is StoreUnavailable', () => {
  const dir = temporaryDir()
  const clock = new ManualClock()
  const file = join(dir, 'file')
  writeFileSync(file, 'This is no database, and longer than a database header of 100 bytes. '.repeat(20))
  mkdirSync(join(dir, 'folder'))
  expect(() => openSqlite({ path: file, clock })).toThrow(expect.objectContaining({ reason: 'corrupt' }))
  expect(() => openSqlite({ path: join(dir, 'folder'), clock })).toThrow(StoreUnavailable)
  expect(() => openSqlite({ path: join(file, 'notes.sqlite'), clock })).toThrow(StoreUnavailable)
})

test('commits are synced: WAL and synchronous=FULL, foreign keys on', async () => {
  const { db } = await notes()
  const pragmas = await db.transaction(async (tx) => [
    await tx.get('PRAGMA journal_mode'),
    await tx.get('PRAGMA synchronous'),
    await tx.get('PRAGMA foreign_keys'),
  ])
  expect(pragmas).toEqual([{ journal_mode: 'wal' }, { synchronous: 2 }, { foreign_keys: 1 }])
})

test('the read side cannot write', async () => {
  const { db } = await notes()
  await expect(db.read.all("INSERT INTO notes (text) VALUES ('sneaked in')")).rejects.toThrow()
  expect(await textsOf(db)).toEqual([])
})

test('no error says what was being stored', async () => {
  const { db } = await notes()
  await db.transaction((tx) => tx.run(INSERT, 'a secret'))
  const error: Error = await db
    .transaction((tx) => tx.run(INSERT, 'a secret'))
    .then(
      () => new Error('no error'),
      (reason) => reason,
    )
  expect(error).toMatchObject({ code: 'CONSTRAINT_VIOLATION', kind: 'unique' })
  expect(`${error.message} ${error.cause}`).not.toContain('secret')
})
