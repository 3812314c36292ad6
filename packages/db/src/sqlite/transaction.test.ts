import { join } from 'node:path'
import { expect, test } from 'vitest'
import { opened, temporaryDir } from '../../testing/temporary.ts'
import { systemClock } from '../clock.ts'
import type { Transaction } from '../database.ts'
import { ConstraintViolation, StoreUnavailable, TransactionClosed } from '../errors.ts'
import { type SyncStatements, syncOf } from './database.ts'

const INSERT = 'INSERT INTO notes (text) VALUES (?)'

async function notes() {
  const db = opened({ path: ':memory:', clock: systemClock() })
  await db.transaction((tx) => tx.run('CREATE TABLE notes (n INTEGER PRIMARY KEY, text TEXT UNIQUE)'))
  return db
}

test('statements without promises do what those with promises do, in the same transaction', async () => {
  const db = await notes()
  await db.transaction(async (tx) => {
    const sync = syncOf(tx)
    expect(sync.run(INSERT, 'one').changes).toBe(1)
    await tx.run(INSERT, 'two')
    expect(sync.all('SELECT n, text FROM notes ORDER BY n')).toEqual(
      await tx.all('SELECT n, text FROM notes'),
    )
    expect(sync.get('SELECT text FROM notes WHERE n = ?', 2)).toEqual({ text: 'two' })
    expect(sync.get('SELECT text FROM notes WHERE n = ?', 3)).toBeUndefined()
  })
  expect(await db.read.all('SELECT text FROM notes')).toHaveLength(2)
})

test('rows come as arrays of their columns, and the same statement’s objects stay objects', async () => {
  const db = await notes()
  await db.transaction(async (tx) => {
    const sync = syncOf(tx)
    sync.run(INSERT, 'one')
    for (let n = 0; n < 2; n++) {
      expect(sync.rows('SELECT n, text FROM notes')).toEqual([[1, 'one']])
      expect(sync.all('SELECT n, text FROM notes')).toEqual([{ n: 1, text: 'one' }])
    }
  })
})

test('what they write is gone with a transaction that fails, and nobody else’s is', async () => {
  const db = await notes()
  const answers = await Promise.allSettled([
    db.transaction(async (tx) => syncOf(tx).run(INSERT, 'before')),
    db.transaction(async (tx) => {
      syncOf(tx).run(INSERT, 'half')
      throw new Error('trouble')
    }),
    db.transaction(async (tx) => syncOf(tx).run(INSERT, 'after')),
  ])
  expect(answers.map((one) => one.status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(await db.read.all('SELECT text FROM notes ORDER BY n')).toEqual([
    { text: 'before' },
    { text: 'after' },
  ])
})

test('their errors are those of the others, thrown', async () => {
  const db = await notes()
  let leaked: SyncStatements | undefined
  await db.transaction(async (tx) => {
    leaked = syncOf(tx)
    leaked.run(INSERT, 'one')
    expect(() => leaked!.run(INSERT, 'one')).toThrow(ConstraintViolation)
    expect(() => leaked!.run('INSERT INTO nowhere VALUES (1)')).toThrow('no such table')
  })
  expect(() => leaked!.get('SELECT 1')).toThrow(TransactionClosed)
})

test('after a full disk they refuse all that comes, as the others do', async () => {
  const db = opened({ path: join(temporaryDir(), 'notes.sqlite'), clock: systemClock() })
  await db.transaction((tx) => tx.run('CREATE TABLE notes (n INTEGER PRIMARY KEY, text TEXT UNIQUE)'))
  await db.transaction((tx) => tx.get('PRAGMA max_page_count = 20'))
  const work = db.transaction(async (tx) => {
    const sync = syncOf(tx)
    sync.run(INSERT, 'half')
    expect(() => sync.run(INSERT, 'x'.repeat(1_000_000))).toThrow(StoreUnavailable)
    expect(() => sync.run(INSERT, 'other half')).toThrow(StoreUnavailable)
    await expect(tx.run(INSERT, 'other half')).rejects.toBeInstanceOf(StoreUnavailable)
  })
  await expect(work).rejects.toMatchObject({ reason: 'full' })
  expect(await db.read.all('SELECT text FROM notes')).toEqual([])
})

test('a transaction of another database has none', () => {
  expect(() => syncOf({} as Transaction)).toThrow(TypeError)
})

test.each([
  [undefined, -16_000],
  [2_000, -2_000],
])('the page cache of a connection is at most %s KiB', async (cacheKiB, expected) => {
  const path = join(temporaryDir(), 'notes.sqlite')
  const db = opened({ path, clock: systemClock(), ...(cacheKiB !== undefined && { cacheKiB }) })
  const cacheSize = { cache_size: expected }
  expect(await db.read.get('PRAGMA cache_size')).toEqual(cacheSize)
  expect(await db.transaction((tx) => tx.get('PRAGMA cache_size'))).toEqual(cacheSize)
})
