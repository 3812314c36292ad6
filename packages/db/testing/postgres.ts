import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe } from 'vitest'

/**
 * A PostgreSQL server that tests may make databases on, as a role that may. `GARNER_TEST_POSTGRES` says where; then its
 * absence is a failure. Without it the usual address is tried, and tests that need a server say that they were skipped.
 */
const ASKED = process.env.GARNER_TEST_POSTGRES
const SERVER_URL = ASKED ?? 'postgres://postgres@127.0.0.1:5432/postgres'

async function isReachable(): Promise<boolean> {
  const client = new pg.Client({ connectionString: SERVER_URL, connectionTimeoutMillis: 2_000 })
  try {
    await client.connect()
    await client.end()
    return true
  } catch (error) {
    if (ASKED !== undefined) throw error
    return false
  }
}

/** Whether there is one. */
export const hasPostgres = await isReachable()
/** Debian keeps it in /usr/sbin, which is not on everybody's path. */
const PGBOUNCER = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']
  .map((dir) => join(dir, 'pgbouncer'))
  .find(existsSync)

/** Tests that need a server. */
export function describeOnPostgres(name: string, body: () => void): void {
  const title = hasPostgres ? name : `${name} (skipped: no server at ${SERVER_URL})`
  describe.skipIf(!hasPostgres)(title, () => {
    endsWhatItMakes()
    body()
  })
}

/** Tests that need a transaction-mode pooler as well. */
export function describeThroughPooler(name: string, body: () => void): void {
  const isThere = hasPostgres && PGBOUNCER !== undefined
  const title = isThere ? name : `${name} (skipped: no ${hasPostgres ? 'pgbouncer' : 'server'})`
  describe.skipIf(!isThere)(title, () => {
    endsWhatItMakes()
    body()
  })
}

/** How each database and pooler is ended that was made and is there yet, the newest last. */
const made: (() => Promise<unknown>)[] = []
/** Dropping a database waits for a checkpoint, and that for a disk which is busy with everybody's. */
const END_MS = 60_000

/**
 * For a `describe`, or a file: what its tests and hooks make is ended after them. To be called before they run, since an
 * `afterAll` that is registered within a hook or a test is never called.
 */
export function endsWhatItMakes(): void {
  let before = 0
  beforeAll(() => {
    before = made.length
  })
  afterAll(async () => {
    while (made.length > before) await made.pop()!()
  }, END_MS)
}

async function administer(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: SERVER_URL })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

/**
 * An empty database; dropped after the tests that it was made for (`endsWhatItMakes`). Its commits are not synced: tests look at what is stored,
 * not at what a power cut leaves, and are three times as fast. Deadlocks are noticed after 50 ms instead of a second.
 */
export async function temporaryPostgres(): Promise<string> {
  const name = `garner_test_${randomBytes(6).toString('hex')}`
  await administer(`CREATE DATABASE ${name}`)
  await administer(`ALTER DATABASE ${name} SET synchronous_commit = off`)
  await administer(`ALTER DATABASE ${name} SET deadlock_timeout = '50ms'`)
  made.push(() => administer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))
  const url = new URL(SERVER_URL)
  url.pathname = `/${name}`
  return url.href
}

/**
 * A pgbouncer in transaction mode in front of the server of `url`; ended after the tests that it was made for. Few
 * server processes, taken in turn: whatever relies on meeting the same one twice fails at once.
 */
export async function pooled(url: string): Promise<string> {
  const { hostname, port, username, password } = new URL(url)
  const dir = mkdtempSync(join(tmpdir(), 'garner-pgbouncer-'))
  const listenPort = await freePort()
  const login = `user=${username}${password === '' ? '' : ` password=${decodeURIComponent(password)}`}`
  const config = `
    [databases]
    * = host=${hostname} port=${port || 5432} ${login}
    [pgbouncer]
    listen_addr = 127.0.0.1
    listen_port = ${listenPort}
    unix_socket_dir =
    auth_type = any
    pool_mode = transaction
    max_client_conn = 200
    default_pool_size = 6
    server_round_robin = 1
  `
  writeFileSync(join(dir, 'pgbouncer.ini'), config.replaceAll(/^ +/gm, ''), { mode: 0o644 })
  // It refuses to run as root.
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
  const child = spawn(PGBOUNCER!, ['-q', ...user, join(dir, 'pgbouncer.ini')], { stdio: 'ignore' })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  made.push(async () => {
    child.kill('SIGKILL')
    await ended
    rmSync(dir, { recursive: true, force: true })
  })
  await reachable(listenPort)
  const through = new URL(url)
  through.host = `127.0.0.1:${listenPort}`
  return through.href
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Tries until somebody listens there: another process, so there is nothing else to wait for. */
async function reachable(port: number): Promise<void> {
  for (let tries = 0; ; tries++) {
    const socket = connect(port, '127.0.0.1')
    const isThere = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true))
      socket.once('error', () => resolve(false))
    })
    socket.destroy()
    if (isThere) return
    if (tries > 200) throw new Error(`Nobody listens on port ${port}.`)
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
}
