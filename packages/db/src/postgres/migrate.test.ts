import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { describeOnPostgres, temporaryPostgres } from '../../testing/postgres.ts'
import { temporaryDir } from '../../testing/temporary.ts'
import { systemClock } from '../clock.ts'
import { SchemaMismatch } from '../errors.ts'
import { type MigrationSet, migrate, pendingMigrations } from '../migrate.ts'
import { openPostgres } from './database.ts'

function setOf(files: Record<string, string>): MigrationSet & { dir: string } {
  const dir = join(temporaryDir(), 'notes')
  mkdirSync(dir)
  for (const [file, sql] of Object.entries(files)) writeFileSync(join(dir, file), sql)
  return { name: 'notes', dir }
}

const FILES = {
  '0001_notes.sql': "CREATE TABLE notes (text text);\nINSERT INTO notes VALUES ('a; b');",
  '0002_function.sql': `-- A body; with semicolons of its own.
    CREATE FUNCTION note_count() RETURNS bigint LANGUAGE plpgsql AS $$
    DECLARE n bigint;
    BEGIN
      SELECT count(*) INTO n FROM notes; -- 'quotes' too
      RETURN n;
    END $$;
    CREATE FUNCTION twice(n bigint) RETURNS bigint LANGUAGE sql AS $body$ SELECT $1 * 2; $body$;`,
}

describeOnPostgres('migrate on PostgreSQL', () => {
  test('programs that start together apply each file once', async () => {
    const url = await temporaryPostgres()
    const set = setOf(FILES)
    const databases = [1, 2, 3].map(() => openPostgres({ url, clock: systemClock() }))
    onTestFinished(async () => {
      for (const db of databases) await db.close()
    })
    const [db] = databases
    expect(await pendingMigrations(db!, [set])).toEqual(['notes/0001_notes.sql', 'notes/0002_function.sql'])
    const applied = await Promise.all(databases.map((one) => migrate(one, [set], systemClock())))
    expect(applied.flat().sort()).toEqual(['notes/0001_notes.sql', 'notes/0002_function.sql'])
    expect(await db!.read.get('SELECT twice(note_count()) AS n')).toEqual({ n: 2 })
    expect(await migrate(db!, [set], systemClock())).toEqual([])
  })

  test('a file with a mistake is not applied by half', async () => {
    const db = openPostgres({ url: await temporaryPostgres(), clock: systemClock() })
    onTestFinished(() => db.close())
    const set = setOf({ '0001_notes.sql': 'CREATE TABLE notes (text text);\nCREATE TABEL more (n integer);' })
    await expect(migrate(db, [set], systemClock())).rejects.toThrow('syntax error')
    await expect(db.read.all('SELECT * FROM notes')).rejects.toThrow('does not exist')
  })

  test('an applied file that was edited is SchemaMismatch', async () => {
    const db = openPostgres({ url: await temporaryPostgres(), clock: systemClock() })
    onTestFinished(() => db.close())
    const set = setOf(FILES)
    await migrate(db, [set], systemClock())
    writeFileSync(join(set.dir, '0001_notes.sql'), `${FILES['0001_notes.sql']}-- An afterthought.\n`)
    await expect(migrate(db, [set], systemClock())).rejects.toBeInstanceOf(SchemaMismatch)
  })
})
