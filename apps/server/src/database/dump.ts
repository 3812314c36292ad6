import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Clock } from '@garner/db'
import { type Config, ConfigError } from '../config.ts'
import { syncToDisk } from '../sync-to-disk.ts'

/**
 * Backups on PostgreSQL, by its own pg_dump and pg_restore: they know every version's tables, and theirs is the format
 * that an operator's other tools read.
 *
 * Promises. `backup`: one state of the whole database, while programs go on; cut anywhere, there is no FILE or a complete
 * one. `restore`: one transaction; cut anywhere, the database is as it was. What was there is kept as a dump before.
 */

/**
 * `garner backup FILE`.
 * Errors: ConfigError when FILE is there already, when pg_dump is missing, or with what it said.
 */
export async function backup(config: Config): Promise<string> {
  const file = resolve(config.file!)
  if (existsSync(file)) throw new ConfigError([`${file} is there already; a backup never overwrites`])
  await dump(config, file)
  return `Backed up to ${file}.`
}

/**
 * `garner restore FILE`: puts a dump in the place of Garner's tables, and keeps those that were there as a dump in the data
 * folder. Stop all processes first: what they have read is of another time.
 * Errors: ConfigError when FILE is missing or no dump of Garner, when pg_restore is missing, or with what it said.
 */
export async function restore(config: Config, clock: Clock): Promise<string> {
  const file = resolve(config.file!)
  if (!existsSync(file)) throw new ConfigError([`${file} is not there`])
  const contents = await call('pg_restore', ['--list', file], {})
  if (contents.code !== 0) throw new ConfigError([`${file} cannot be read as a dump: ${contents.said}`])
  if (!/ TABLE public migrations /.test(contents.out)) {
    throw new ConfigError([`${file} is not a dump of Garner`])
  }
  const aside = join(config.dataDir, `before-restore-${clock.nowMs()}.dump`)
  await dump(config, aside)
  const { flags, env } = connectionOf(config)
  const script = await call(
    'pg_restore',
    ['--clean', '--if-exists', '--no-owner', '--no-privileges', '--single-transaction', ...flags, file],
    env,
  )
  if (script.code !== 0) {
    rmSync(aside, { force: true })
    throw new ConfigError([`${file} could not be restored, and the database is as it was: ${script.said}`])
  }
  return `Restored from ${file}. The database that was there is kept as ${aside}.`
}

async function dump(config: Config, file: string): Promise<void> {
  mkdirSync(dirname(file), { recursive: true })
  const draft = `${file}.partial`
  rmSync(draft, { force: true })
  const { flags, env } = connectionOf(config)
  const { code, said } = await call('pg_dump', ['--format=custom', `--file=${draft}`, ...flags], env)
  if (code !== 0) {
    rmSync(draft, { force: true })
    throw new ConfigError([`The database could not be backed up: ${said}`])
  }
  syncToDisk(draft)
  renameSync(draft, file)
  syncToDisk(dirname(file))
}

/** The password goes by the environment: arguments are seen by everyone on the machine. */
function connectionOf({ database }: Config): { flags: string[]; env: Record<string, string> } {
  if (database.dialect !== 'postgres') throw new TypeError('Not a configuration for PostgreSQL.')
  const url = new URL(database.url)
  const { password } = url
  url.password = ''
  // Ours; libpq refuses what it does not know.
  url.searchParams.delete('pgbouncer')
  const env: Record<string, string> = password === '' ? {} : { PGPASSWORD: decodeURIComponent(password) }
  return { flags: ['--no-password', `--dbname=${url.href}`], env }
}

/** Errors: ConfigError when there is no such program. */
function call(
  program: string,
  args: string[],
  env: Record<string, string>,
): Promise<{ code: number | null; out: string; said: string }> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } })
  let [out, errors] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    out += chunk
  })
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    errors += chunk
  })
  return new Promise((resolve, reject) => {
    child.on('error', () =>
      reject(
        new ConfigError([
          `${program} is not on this machine: install the client programs of PostgreSQL (postgresql-client), ` +
            'or make the backup on the machine that has the database',
        ]),
      ),
    )
    child.on('close', (code) => resolve({ code, out, said: firstLine(errors) }))
  })
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0] ?? ''
}
