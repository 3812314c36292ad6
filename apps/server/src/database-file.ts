import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Clock } from '@garner/db'
import { type Config, ConfigError } from './config.ts'
import { syncToDisk } from './sync-to-disk.ts'

/**
 * `garner backup FILE`: a consistent copy while the program runs. Written beside its name and renamed when it is
 * whole and synced: cut anywhere, there is no FILE or a complete one.
 * Errors: ConfigError when FILE is there already.
 */
export async function backup(config: Config): Promise<string> {
  const file = resolve(config.file!)
  if (existsSync(file)) throw new ConfigError([`${file} is there already; a backup never overwrites`])
  mkdirSync(dirname(file), { recursive: true })
  const draft = `${file}.partial`
  rmSync(draft, { force: true })
  const db = new DatabaseSync(pathOf(config), { readOnly: true })
  try {
    db.exec('PRAGMA busy_timeout = 5000')
    db.prepare('VACUUM INTO ?').run(draft)
  } finally {
    db.close()
  }
  syncToDisk(draft)
  renameSync(draft, file)
  syncToDisk(dirname(file))
  return `Backed up to ${file}.`
}

/**
 * `garner restore FILE`: puts a backup in the place of the database. The one that was there is kept under another
 * name. Stop the program first: a process that still has the old file answers 503 until it is restarted.
 * Errors: ConfigError when FILE is missing, damaged, or not a database of Garner.
 */
export async function restore(config: Config, clock: Clock): Promise<string> {
  const file = resolve(config.file!)
  assertSound(file)
  const path = pathOf(config)
  mkdirSync(dirname(path), { recursive: true })
  const draft = `${path}.restoring`
  copyFileSync(file, draft)
  syncToDisk(draft)
  let kept = ''
  if (existsSync(path)) {
    settle(path)
    const aside = `${path}.before-restore-${clock.nowMs()}`
    for (const suffix of ['', '-wal'])
      if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix)
    rmSync(`${path}-shm`, { force: true })
    kept = ` The database that was there is kept as ${aside}.`
  }
  renameSync(draft, path)
  syncToDisk(dirname(path))
  return `Restored from ${file}.${kept}`
}

function pathOf({ database }: Config): string {
  if (database.dialect !== 'sqlite') throw new TypeError('Not a configuration for SQLite.')
  return database.path
}

function assertSound(file: string): void {
  if (!existsSync(file)) throw new ConfigError([`${file} is not there`])
  try {
    const db = new DatabaseSync(file, { readOnly: true })
    try {
      const { integrity_check: found } = db.prepare('PRAGMA integrity_check').get() as {
        integrity_check: string
      }
      if (found !== 'ok') throw new ConfigError([`${file} is damaged: ${found}`])
      if (!db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'migrations'").get()) {
        throw new ConfigError([`${file} is not a database of Garner`])
      }
    } finally {
      db.close()
    }
  } catch (error) {
    if (error instanceof ConfigError) throw error
    throw new ConfigError([`${file} cannot be read as a database: ${(error as Error).message}`])
  }
}

/**
 * Moves what the write-ahead log holds into the file, as far as other processes let it. A database that is damaged
 * cannot do that, and is set aside with its log as it is: putting a sound one in its place is what restoring is for.
 */
function settle(path: string): void {
  try {
    const db = new DatabaseSync(path)
    try {
      db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    } finally {
      db.close()
    }
  } catch {
    // Kept as it was found.
  }
}
