import { load, versionOf } from './packages.ts'
import type { Description } from './peer.ts'

/** As much of the `better-sqlite3` package as is used here. */
export interface BetterSqlite {
  name: string
  pragma(text: string): unknown
  exec(sql: string): unknown
  prepare(sql: string): BetterStatement
  transaction<A extends unknown[], R>(work: (...args: A) => R): BetterTransaction<A, R>
  close(): void
}
export interface BetterStatement {
  run(...params: unknown[]): { changes: number }
  get(...params: unknown[]): Record<string, unknown> | undefined
  all(...params: unknown[]): Record<string, unknown>[]
}
export interface BetterTransaction<A extends unknown[], R> {
  (...args: A): R
  deferred: (...args: A) => R
  immediate: (...args: A) => R
  exclusive: (...args: A) => R
}
export type BetterConstructor = new (path: string, options?: { readonly?: boolean }) => BetterSqlite

export async function betterSqlite(): Promise<BetterConstructor> {
  return (await load<{ default: BetterConstructor }>('better-sqlite3')).default
}

/** A library on better-sqlite3 in WAL mode. */
export async function describeSqlite(library: string, isSynced: boolean): Promise<Description> {
  const Database = await betterSqlite()
  const db = new Database(':memory:')
  const version = db.prepare('SELECT sqlite_version() AS version').get()?.version
  db.close()
  return {
    version: versionOf(library),
    backend: `sqlite ${version}`,
    durability: `wal, synchronous=${isSynced ? 'FULL' : 'NORMAL'}`,
    isSynced,
  }
}

/** A monitor on a connection of its own that counts with a statement answering the column `n`. */
export async function countingMonitor(
  path: string,
  countSql: string,
): Promise<{ remaining(): Promise<number>; close(): Promise<void> }> {
  const Database = await betterSqlite()
  const db = new Database(path, { readonly: true })
  const count = db.prepare(countSql)
  return {
    remaining: async () => Number(count.get()?.n),
    close: async () => db.close(),
  }
}
