import { type Database, migrate, systemClock } from '@garner/db'
import { openPostgres } from '@garner/db/postgres'
import { openSqlite } from '@garner/db/sqlite'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { describeOnPostgres, temporaryPostgres } from '../../../../packages/db/testing/postgres.ts'
import { tablesOf } from '../testing/database.ts'
import { TABLES } from './tables.ts'

interface Column {
  name: string
  kind: 'text' | 'whole' | 'real'
  isNullable: boolean
}

const KINDS: Record<string, Column['kind']> = {
  ...{ TEXT: 'text', INTEGER: 'whole', BIGINT: 'whole', REAL: 'real' },
  ...{ text: 'text', bigint: 'whole', integer: 'whole', smallint: 'whole', 'double precision': 'real' },
}

async function columnsOf(db: Database, table: string): Promise<Column[]> {
  if (db.dialect === 'sqlite') {
    const rows = await db.read.all<{ name: string; type: string; notnull: number; pk: number }>(
      'SELECT name, type, "notnull", pk FROM pragma_table_info(?)',
      table,
    )
    return rows.map(({ name, type, notnull, pk }) => ({
      ...{ name, kind: KINDS[type]!, isNullable: notnull === 0 && pk === 0 },
    }))
  }
  const rows = await db.read.all<{ name: string; type: string; nullable: string }>(
    `SELECT column_name AS name, data_type AS type, is_nullable AS nullable FROM information_schema.columns
     WHERE table_schema = 'public' AND table_name = ? ORDER BY ordinal_position`,
    table,
  )
  return rows.map(({ name, type, nullable }) => ({
    name,
    kind: KINDS[type]!,
    isNullable: nullable === 'YES',
  }))
}

/** By name: what is indexed may differ (a hash instead of an order). */
async function indexesOf(db: Database): Promise<string[]> {
  const rows = await db.read.all<{ name: string }>(
    db.dialect === 'sqlite'
      ? "SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY name"
      : `SELECT indexname AS name FROM pg_indexes WHERE schemaname = 'public' AND indexname NOT LIKE '%_pkey'
         AND indexname NOT LIKE '%_key' ORDER BY indexname`,
  )
  return rows.map((row) => row.name)
}

describeOnPostgres('the tables of both databases', () => {
  let url: string
  beforeAll(async () => {
    url = await temporaryPostgres()
  })

  test('have the same names, columns and indexes, and texts sort by their bytes', async () => {
    const clock = systemClock()
    const ours = openSqlite({ path: ':memory:', clock })
    const theirs = openPostgres({ url, clock })
    onTestFinished(async () => {
      await Promise.all([ours.close(), theirs.close()])
    })
    for (const db of [ours, theirs]) await migrate(db, TABLES, clock)
    const tables = await tablesOf(ours)
    expect(tables).toContain('bookmarks')
    expect(await tablesOf(theirs)).toEqual(tables)
    for (const table of tables) {
      expect([table, await columnsOf(theirs, table)]).toEqual([table, await columnsOf(ours, table)])
    }
    expect(await indexesOf(theirs)).toEqual(await indexesOf(ours))
    const collated = await theirs.read.all(
      `SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public'
       AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C' AND table_name <> 'migrations'`,
    )
    expect(collated).toEqual([])
  })
})
