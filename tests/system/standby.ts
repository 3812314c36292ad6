/**
 * A PostgreSQL of its own with a real standby behind it, for what only a lagging replica shows. Nothing stays behind:
 * both servers end and their folders go after the file's tests.
 */
import { execFileSync, spawn } from 'node:child_process'
import { appendFileSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { until } from './garner.ts'

/** Debian keeps its programs out of everybody's path. */
const BIN = ['/usr/lib/postgresql', '/usr/local/pgsql']
  .filter(existsSync)
  .flatMap((dir) => readdirSync(dir).map((version) => join(dir, version, 'bin')))
  .concat((process.env.PATH ?? '').split(':'))
  .find((dir) => existsSync(join(dir, 'initdb')) && existsSync(join(dir, 'pg_basebackup')))

export const hasStandby = BIN !== undefined

export interface Pair {
  primaryUrl: string
  standbyUrl: string
  /** From now on the standby shows what is committed only after so long. */
  lag(ms: number): Promise<void>
  /** Resolves when the standby shows all that the primary has committed so far. */
  caughtUp(): Promise<void>
  stopStandby(): Promise<void>
  close(): Promise<void>
}

/** It refuses to run as root. */
const owner = process.getuid?.() === 0 ? ids() : null
function ids(): { uid: number; gid: number } {
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

export async function startPair(): Promise<Pair> {
  const dir = mkdtempSync(join(tmpdir(), 'garner-standby-'))
  if (owner) chownSync(dir, owner.uid, owner.gid)
  const run = (program: string, args: string[]) =>
    execFileSync(join(BIN!, program), args, { ...owner, cwd: dir, stdio: 'pipe' })
  const [primaryPort, standbyPort] = [await freePort(), await freePort()]
  const [primaryDir, standbyDir] = [join(dir, 'primary'), join(dir, 'standby')]
  const urlOf = (port: number) => `postgres://postgres@127.0.0.1:${port}/postgres`
  run('initdb', ['--auth=trust', '--username=postgres', '--no-sync', `--pgdata=${primaryDir}`])
  const settings = (port: number) =>
    `port = ${port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = ''\nfsync = off\n`
  appendFileSync(join(primaryDir, 'postgresql.conf'), settings(primaryPort))
  const primary = start(primaryDir)
  await answering(urlOf(primaryPort))
  run('pg_basebackup', [
    ...[`--dbname=${urlOf(primaryPort)}`, `--pgdata=${standbyDir}`],
    ...['--write-recovery-conf', '--checkpoint=fast', '--no-sync'],
  ])
  appendFileSync(join(standbyDir, 'postgresql.conf'), settings(standbyPort))
  const standby = start(standbyDir)
  await answering(urlOf(standbyPort))

  function start(pgdata: string) {
    const child = spawn(join(BIN!, 'postgres'), ['-D', pgdata], { ...owner, cwd: dir, stdio: 'ignore' })
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
    process.once('exit', () => child.kill('SIGKILL'))
    return {
      async stop() {
        child.kill('SIGQUIT')
        await ended
      },
    }
  }
  return {
    primaryUrl: urlOf(primaryPort),
    standbyUrl: urlOf(standbyPort),
    async lag(ms) {
      await query(urlOf(standbyPort), `ALTER SYSTEM SET recovery_min_apply_delay = ${ms}`)
      await query(urlOf(standbyPort), 'SELECT pg_reload_conf()')
      await until(async () => {
        const [row] = await query(urlOf(standbyPort), 'SHOW recovery_min_apply_delay')
        return row?.recovery_min_apply_delay === (ms % 1_000 === 0 ? `${ms / 1_000}s` : `${ms}ms`)
      })
    },
    async caughtUp() {
      const [row] = await query(urlOf(primaryPort), 'SELECT pg_current_wal_lsn() AS lsn')
      await until(async () => {
        const sql = `SELECT pg_last_wal_replay_lsn() >= '${row!.lsn}'::pg_lsn AS is_there`
        return (await query(urlOf(standbyPort), sql))[0]?.is_there === true
      })
    },
    stopStandby: () => standby.stop(),
    async close() {
      await Promise.all([standby.stop(), primary.stop()])
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

const answering = (url: string) => until(() => query(url, 'SELECT 1'), { timeoutMs: 30_000 })

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}
