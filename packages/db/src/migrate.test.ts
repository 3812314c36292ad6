import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { opened, temporaryDir } from '../testing/temporary.ts'
import { ManualClock, systemClock } from './clock.ts'
import type { Database, Transaction } from './database.ts'
import { SchemaMismatch, StoreUnavailable } from './errors.ts'
import { type MigrationSet, migrate, pendingMigrations } from './migrate.ts'

const clock = new ManualClock()
const FIRST =
  '-- The notes.\nCREATE TABLE notes (n INTEGER PRIMARY KEY, text TEXT);\nCREATE INDEX notes_by_text ON notes (text);\n'
const SECOND = "INSERT INTO notes (text) VALUES ('from the second');\n"

function setOf(files: Record<string, string>, name = 'notes'): MigrationSet & { dir: string } {
  const dir = join(temporaryDir(), name)
  mkdirSync(dir)
  for (const [file, sql] of Object.entries(files)) writeFileSync(join(dir, file), sql)
  return { name, dir }
}

const memory = () => opened({ path: ':memory:', clock: systemClock() })
const textsOf = (db: Database) => db.read.all('SELECT text FROM notes')

test('files are applied once, in the order of their numbers, and recorded', async () => {
  const db = memory()
  const set = setOf({ '0002_fill.sql': SECOND, '0001_notes.sql': FIRST, 'README.md': 'no migration' })
  expect(await pendingMigrations(db, [set])).toEqual(['notes/0001_notes.sql', 'notes/0002_fill.sql'])
  expect(await migrate(db, [set], clock)).toEqual(['notes/0001_notes.sql', 'notes/0002_fill.sql'])
  expect(await migrate(db, [set], clock)).toEqual([])
  expect(await pendingMigrations(db, [set])).toEqual([])
  expect(await textsOf(db)).toHaveLength(1)
  const records = await db.read.all('SELECT name, applied_at_ms FROM migrations ORDER BY name')
  expect(records).toEqual([
    { name: 'notes/0001_notes.sql', applied_at_ms: clock.nowMs() },
    { name: 'notes/0002_fill.sql', applied_at_ms: clock.nowMs() },
  ])
})

test('where the dialects have a folder each, the database says which', async () => {
  const db = memory()
  const [ours, other] = [setOf({ '0001_a.sql': FIRST }), setOf({ '0001_a.sql': 'nonsense' }, 'notes')]
  const set = { name: 'notes', dir: { sqlite: ours.dir, postgres: other.dir } }
  expect(await migrate(db, [set], clock)).toEqual(['notes/0001_a.sql'])
  expect(await pendingMigrations(db, [set])).toEqual([])
})

test('a new file is applied to a database that has the old ones', async () => {
  const db = memory()
  const set = setOf({ '0001_notes.sql': FIRST })
  await migrate(db, [set], clock)
  writeFileSync(join(set.dir, '0002_fill.sql'), SECOND)
  expect(await pendingMigrations(db, [set])).toEqual(['notes/0002_fill.sql'])
  expect(await migrate(db, [set], clock)).toEqual(['notes/0002_fill.sql'])
})

test('sets with files of the same name do not mix', async () => {
  const db = memory()
  const sets = [
    setOf({ '0001_a.sql': FIRST }),
    setOf({ '0001_a.sql': 'CREATE TABLE other (n INTEGER);' }, 'other'),
  ]
  expect(await migrate(db, sets, clock)).toEqual(['notes/0001_a.sql', 'other/0001_a.sql'])
  // A program that knows only one of the sets is not older for that.
  expect(await migrate(db, sets.slice(0, 1), clock)).toEqual([])
})

test('two connections that start together apply each file once', async () => {
  const path = join(temporaryDir(), 'notes.sqlite')
  const set = setOf({ '0001_notes.sql': FIRST, '0002_fill.sql': SECOND })
  const databases = [1, 2, 3].map(() => opened({ path, clock: systemClock() }))
  const applied = await Promise.all(databases.map((db) => migrate(db, [set], clock)))
  expect(applied.flat().sort()).toEqual(['notes/0001_notes.sql', 'notes/0002_fill.sql'])
  for (const db of databases) expect(await textsOf(db)).toHaveLength(1)
})

test('with nothing to do it only looks: another process may hold the write lock as long as it likes', async () => {
  const path = join(temporaryDir(), 'notes.sqlite')
  const set = setOf({ '0001_notes.sql': FIRST })
  await migrate(opened({ path, clock: systemClock() }), [set], clock)
  const other = new DatabaseSync(path)
  other.exec('BEGIN IMMEDIATE')
  expect(await migrate(opened({ path, clock: systemClock(), busyMs: 0 }), [set], clock)).toEqual([])
  other.close()
})

test('an applied file that was edited is SchemaMismatch, and nothing more is applied', async () => {
  const db = memory()
  const set = setOf({ '0001_notes.sql': FIRST })
  await migrate(db, [set], clock)
  writeFileSync(join(set.dir, '0001_notes.sql'), `${FIRST}-- An afterthought.\n`)
  writeFileSync(join(set.dir, '0002_fill.sql'), SECOND)
  const refused = migrate(db, [set], clock)
  await expect(refused).rejects.toBeInstanceOf(SchemaMismatch)
  await expect(refused).rejects.toMatchObject({ code: 'SCHEMA_MISMATCH', message: /0001_notes\.sql/ })
  expect(await textsOf(db)).toEqual([])
})

test('a database that is newer than the program is SchemaMismatch', async () => {
  const db = memory()
  const set = setOf({ '0001_notes.sql': FIRST, '0002_fill.sql': SECOND })
  await migrate(db, [set], clock)
  rmSync(join(set.dir, '0002_fill.sql'))
  await expect(migrate(db, [set], clock)).rejects.toMatchObject({
    code: 'SCHEMA_MISMATCH',
    message: /0002_fill\.sql/,
  })
})

test('a newer database is left as it is: the older program does not apply what it has', async () => {
  const db = memory()
  const set = setOf({ '0001_notes.sql': FIRST, '0003_fill.sql': SECOND })
  await migrate(db, [set], clock)
  rmSync(join(set.dir, '0003_fill.sql'))
  writeFileSync(join(set.dir, '0002_other.sql'), 'CREATE TABLE other (n INTEGER);\n')
  await expect(migrate(db, [set], clock)).rejects.toBeInstanceOf(SchemaMismatch)
  await expect(db.read.all('SELECT * FROM other')).rejects.toThrow('no such table')
})

/** `db`, whose transactions break down at the nth statement of a migration. */
function breaking(db: Database, sql: string): Database {
  return {
    ...db,
    transaction: (work) =>
      db.transaction((tx) => {
        const broken: Transaction = {
          all: (text, ...params) => tx.all(text, ...params),
          get: (text, ...params) => tx.get(text, ...params),
          run(text, ...params) {
            if (text.startsWith(sql)) throw new StoreUnavailable('injected', 'testing')
            return tx.run(text, ...params)
          },
          takeTurn: (name) => tx.takeTurn(name),
          afterCommit: (then) => tx.afterCommit(then),
        }
        return work(broken)
      }),
  }
}

test.each(['CREATE INDEX', 'INSERT INTO migrations'])(
  'cut short at "%s": the file is not applied, not even by half, and the next start applies it',
  async (point) => {
    const db = memory()
    const set = setOf({ '0001_notes.sql': FIRST })
    await expect(migrate(breaking(db, point), [set], clock)).rejects.toMatchObject({ reason: 'injected' })
    expect(await pendingMigrations(db, [set])).toEqual(['notes/0001_notes.sql'])
    await expect(textsOf(db)).rejects.toThrow('no such table')
    expect(await migrate(db, [set], clock)).toEqual(['notes/0001_notes.sql'])
  },
)

test('a file with a mistake in its second statement is not applied by half', async () => {
  const db = memory()
  const set = setOf({ '0001_notes.sql': 'CREATE TABLE notes (text TEXT);\nCREATE TABEL more (n INTEGER);\n' })
  await expect(migrate(db, [set], clock)).rejects.toThrow('syntax error')
  await expect(textsOf(db)).rejects.toThrow('no such table')
})

test('every statement of a file is run, however they are set out', async () => {
  const db = memory()
  const set = setOf({
    '0001_notes.sql': [
      '-- A comment; with a semicolon;',
      'CREATE TABLE notes (',
      '  n INTEGER PRIMARY KEY, -- a remark; about n',
      '  text TEXT',
      '); -- the end of it',
      "INSERT INTO notes (text) VALUES ('a; b'); INSERT INTO notes (text) VALUES ('c -- d');",
      "INSERT INTO notes (text) VALUES ('it''s;",
      "-- on two lines'); /* a; block */",
      "INSERT INTO notes (text) VALUES ('last')",
    ].join('\r\n'),
  })
  await migrate(db, [set], clock)
  const texts = (await db.read.all<{ text: string }>('SELECT text FROM notes ORDER BY n')).map(
    (one) => one.text,
  )
  expect(texts).toEqual(['a; b', 'c -- d', "it's;\r\n-- on two lines", 'last'])
})

test('a set whose folder is not there is an error, not an empty set', async () => {
  const set = { name: 'notes', dir: join(temporaryDir(), 'nowhere') }
  await expect(migrate(memory(), [set], clock)).rejects.toThrow('ENOENT')
})
