import { fileURLToPath } from 'node:url'
import type { MigrationSet } from '@garner/db'

/** The folders `migrations/sqlite` and `migrations/postgres` beside a module: same numbers, same tables. */
export function foldersOf(moduleUrl: string): Exclude<MigrationSet['dir'], string> {
  const folder = (dialect: string) => fileURLToPath(new URL(`./migrations/${dialect}`, moduleUrl))
  return { sqlite: folder('sqlite'), postgres: folder('postgres') }
}
