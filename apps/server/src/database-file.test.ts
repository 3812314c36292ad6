import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type Database, ManualClock } from '@garner/db'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Config, ConfigError, readConfig } from './config.ts'
import { openMigrated } from './database.ts'
import { backup, restore } from './database-file.ts'
import { seedDemo } from './features/accounts/demo.ts'

const clock = new ManualClock()
let dir: string
let db: Database | undefined
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'garner-file-'))
})
afterEach(async () => {
  await db?.close()
  db = undefined
  rmSync(dir, { recursive: true, force: true })
})

const configured = (role: 'backup' | 'restore', file = 'copy.db', data = 'data'): Config =>
  readConfig([role, join(dir, file), '--data', join(dir, data)], {}, {})

/** A database in use, with the demo people in it. */
async function inUse(data = 'data'): Promise<Database> {
  db = await openMigrated(configured('backup', 'x', data), clock)
  await seedDemo(db, clock)
  return db
}

function names(path: string): string[] {
  const file = new DatabaseSync(path, { readOnly: true })
  try {
    return file
      .prepare('SELECT name FROM users ORDER BY name')
      .all()
      .map((one) => String(one.name))
  } finally {
    file.close()
  }
}
const PEOPLE = ['Admin', 'Alice', 'Bob', 'Carol']

describe('a backup', () => {
  test('is whole, also of what is only in the write-ahead log, while the program runs', async () => {
    await inUse()
    expect(await backup(configured('backup', 'deep/er/copy.db'))).toContain('copy.db')
    expect(names(join(dir, 'deep/er/copy.db'))).toEqual(PEOPLE)
    expect(readdirSync(join(dir, 'deep/er'))).toEqual(['copy.db'])
  })

  test('never overwrites', async () => {
    await inUse()
    await backup(configured('backup'))
    await expect(backup(configured('backup'))).rejects.toThrow(/is there already/)
  })

  test('that was cut off before is begun again', async () => {
    await inUse()
    writeFileSync(join(dir, 'copy.db.partial'), 'half of one')
    await backup(configured('backup'))
    expect(names(join(dir, 'copy.db'))).toEqual(PEOPLE)
  })
})

describe('a restore', () => {
  beforeEach(async () => {
    await inUse()
    await backup(configured('backup'))
    await db!.transaction((tx) => tx.run("DELETE FROM users WHERE id = 'carol'"))
    await db!.close()
    db = undefined
  })
  const path = () => join(dir, 'data', 'garner.db')

  test('puts the backup in place, and keeps what was there under another name', async () => {
    const said = await restore(configured('restore'), clock)
    expect(names(path())).toEqual(PEOPLE)
    const kept = /kept as (.*)\.$/.exec(said)![1]!
    expect(names(kept)).toEqual(['Admin', 'Alice', 'Bob'])
    db = await openMigrated(configured('backup'), clock)
    expect(await db.read.all('SELECT 1 FROM users')).toHaveLength(4)
  })

  test('to where there was nothing', async () => {
    expect(await restore(configured('restore', 'copy.db', 'new'), clock)).not.toContain('kept')
    expect(names(join(dir, 'new', 'garner.db'))).toEqual(PEOPLE)
  })

  test('over a database that is damaged, which is what it is for', async () => {
    for (const damage of [
      () => writeFileSync(path(), 'no database at all'),
      () => truncateSync(path(), 5_000),
    ]) {
      damage()
      await restore(configured('restore'), clock)
      clock.advance(1)
      expect(names(path())).toEqual(PEOPLE)
    }
  })

  test.each([
    ['that is not there', () => {}, /is not there/],
    [
      'that is no database',
      (file: string) => writeFileSync(file, 'x'.repeat(5_000)),
      /cannot be read|damaged/,
    ],
    [
      'of another program',
      (file: string) => {
        const other = new DatabaseSync(file)
        other.exec('CREATE TABLE x (y)')
        other.close()
      },
      /not a database of Garner/,
    ],
  ])('from a file %s: refused, and nothing is touched', async (_name, make, expected) => {
    const file = join(dir, 'other.db')
    make(file)
    const before = statSync(path()).ino
    const attempt = restore(configured('restore', 'other.db'), clock)
    await expect(attempt).rejects.toBeInstanceOf(ConfigError)
    await expect(attempt).rejects.toThrow(expected)
    expect(statSync(path()).ino).toBe(before)
    expect(existsSync(`${path()}.restoring`)).toBe(false)
  })

  test('from a backup that was damaged since: refused', async () => {
    truncateSync(join(dir, 'copy.db'), 20_000)
    await expect(restore(configured('restore'), clock)).rejects.toBeInstanceOf(ConfigError)
    expect(names(path())).toEqual(['Admin', 'Alice', 'Bob'])
  })
})
