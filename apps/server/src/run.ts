import type { Clock, Database } from '@garner/db'
import { SchemaMismatch, StoreUnavailable } from '@garner/db'
import { type Logger, pino } from 'pino'
import { checkReport } from './check.ts'
import { type Config, ConfigError, isLoopback, readConfig } from './config.ts'
import { backendOf, openMigrated } from './database.ts'
import { FAULT_POINTS, parseFaults } from './faults.ts'
import { createGarner, type Garner } from './garner.ts'
import { parseFetchAllow } from './outbound/fetch-allow.ts'
import { readOrMakeSecret } from './secret.ts'
import type { openSharedCache } from './shared-cache.ts'
import { stepUntilDone } from './step.ts'

/** What the outside gives a run of the program. */
export interface Outside {
  argv: string[]
  env: Record<string, string | undefined>
  clock: (advanceMs: number) => Clock
  random: () => number
  randomBytes: (n: number) => Uint8Array
  signals: NodeJS.EventEmitter
  /** Standard output: what the contract names, and nothing else. Logs go to standard error. */
  out: (line: string) => void
  err: (line: string) => void
}

/** Exit codes: 0 done, 1 a fault, 2 something for the operator to put right. */
export async function run(outside: Outside): Promise<number> {
  let databaseName = ''
  try {
    const config = readConfig(outside.argv, outside.env, {
      GARNER_FAULT: (text) => {
        const parsed = parseFaults(text)
        return parsed instanceof Map ? null : parsed.expected
      },
      GARNER_FETCH_ALLOW: (text) => {
        const parsed = parseFetchAllow(text)
        return parsed.ok ? null : parsed.message
      },
    })
    databaseName = config.databaseName
    return await runRole(config, outside)
  } catch (error) {
    return explain(error, outside.err, databaseName)
  }
}

function explain(error: unknown, err: (line: string) => void, databaseName: string): number {
  if (error instanceof ConfigError) {
    err('Garner cannot start with this configuration:')
    for (const problem of error.problems) err(`  ${problem}`)
    return 2
  }
  if (error instanceof SchemaMismatch || error instanceof StoreUnavailable || isAddressError(error)) {
    err(`Garner cannot start: ${(error as Error).message}`)
    if (error instanceof StoreUnavailable) err(`  The database is ${databaseName}`)
    if (error instanceof StoreUnavailable && error.reason === 'corrupt') {
      err('  It is damaged, or is no database at all: `garner restore FILE` puts a backup in its place.')
    }
    return 2
  }
  throw error
}

function isAddressError(error: unknown): boolean {
  const code = (error as { code?: string } | null)?.code
  return code === 'EADDRINUSE' || code === 'EACCES' || code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND'
}

async function runRole(config: Config, outside: Outside): Promise<number> {
  const { out } = outside
  const clock = outside.clock(config.advanceMs)
  if (config.role === 'faults') {
    for (const [point, meaning] of Object.entries(FAULT_POINTS)) out(`${point.padEnd(24)} ${meaning}`)
    return 0
  }
  if (config.role === 'check') {
    for (const line of await checkReport(config, clock)) out(line)
    return 0
  }
  const backend = await backendOf(config.database.dialect)
  if (config.role === 'restore') {
    out(await backend.restore(config, clock))
    return 0
  }
  const db = await openMigrated(config, clock)
  const replica = backend.openReplica(config, clock)
  try {
    if (config.role === 'migrate') {
      out('The database is up to date.')
      return 0
    }
    if (config.role === 'backup') {
      out(await backend.backup(config))
      return 0
    }
    await assertMayWork(config, db)
    const logger = pino({ level: 'info', base: { role: config.role, pid: process.pid } }, pino.destination(2))
    const secret = secretOf(config, outside)
    const shared = await sharedCache(config, { secret, logger, clock })
    const { random, randomBytes } = outside
    const garner = createGarner({
      ...{ config, backend, db, replica, shared, clock, random, randomBytes, logger, secret },
      processName: `${config.role}-${process.pid}`,
    })
    try {
      if (config.role === 'step') out(JSON.stringify(await stepUntilDone(garner.worker)))
      else await serve(garner, { config, clock, logger, outside })
    } finally {
      await garner.close()
      await shared?.close()
    }
    return 0
  } finally {
    await Promise.all([db.close(), replica?.close()])
  }
}

/** Loaded where one is configured: its client takes as long to load as some of the rest of a start. */
async function sharedCache({ cacheUrl }: Config, parts: Parameters<typeof openSharedCache>[1]) {
  if (cacheUrl === null) return undefined
  return (await import('./shared-cache.ts')).openSharedCache(cacheUrl, parts)
}

/** Errors: ConfigError when the file is there and is no secret, or cannot be read or made. */
function secretOf(config: Config, outside: Outside): string {
  try {
    return readOrMakeSecret(config.dataDir, outside.randomBytes)
  } catch (error) {
    throw new ConfigError([(error as Error).message])
  }
}

/**
 * Refuses addresses and data that the mode must not touch, `step` included: a demo's worker would give real links the
 * made-up titles of its built-in site. Errors: ConfigError.
 */
async function assertMayWork(config: Config, db: Database): Promise<void> {
  if (config.isDemo) {
    const real = await db.read.get('SELECT 1 FROM users WHERE demo = 0')
    if (real)
      throw new ConfigError([`--demo lets anyone be anyone, and ${config.databaseName} holds real accounts`])
    return
  }
  if (config.role !== 'work' && !isLoopback(config.host)) {
    const admin = await db.read.get(
      "SELECT 1 FROM users WHERE role = 'admin' AND status = 'approved' AND demo = 0",
    )
    if (!admin) {
      throw new ConfigError([
        `--host ${config.host}: create the admin first, on 127.0.0.1; until then the first visitor would become it`,
      ])
    }
  }
}

/** 5 s for attempts to end by themselves and 2 s to give them back: with closing, under the promised 10 s. */
const GRACE_MS = 5_000
/** Once an hour is often enough for things that are kept for days. */
const SWEEP_MS = 3_600_000

async function serve(
  garner: Garner,
  { config, clock, logger, outside }: { config: Config; clock: Clock; logger: Logger; outside: Outside },
): Promise<void> {
  const stop = new AbortController()
  const onSignal = () => stop.abort()
  outside.signals.on('SIGTERM', onSignal)
  outside.signals.on('SIGINT', onSignal)
  const isWeb = config.role !== 'work'
  const isWorker = config.role !== 'serve'
  const web = isWeb ? await garner.web() : null
  const warmUp = () =>
    garner.warmUp().catch((error: Error) => logger.warn({ error: error.name }, 'warming up failed'))
  // While what signing in needs is loaded, a quarter of a second, nobody is answered. A server among others is not ready
  // until that is over: the first who are sent to it would wait for longer than the reader of a list may.
  if (web && !isWorker) await warmUp()
  if (web) {
    await web.app.listen({ host: config.host, port: config.port })
    outside.out(`Garner listening on ${urlOf(web.app.server.address(), config.host)}`)
    // A person who starts the whole program waits for that line, and then opens a browser.
    if (isWorker) void warmUp()
  } else outside.out('Garner working')
  const running = isWorker ? garner.worker.run(stop.signal) : Promise.resolve()
  garner
    .start({ isWorker })
    .catch((error: Error) => logger.warn({ error: error.name }, 'putting right what was left failed'))
  const sweeping = sweepNowAndThen(garner, clock, stop.signal, logger)
  await new Promise<void>((resolve) => {
    if (stop.signal.aborted) resolve()
    else stop.signal.addEventListener('abort', () => resolve(), { once: true })
  })
  await Promise.all([web?.close(), running, isWorker ? garner.worker.stop(GRACE_MS) : undefined, sweeping])
}

async function sweepNowAndThen(
  garner: Garner,
  clock: Clock,
  signal: AbortSignal,
  logger: Logger,
): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(SWEEP_MS, signal)
    if (signal.aborted) return
    await garner.sweep().catch((error: Error) => logger.warn({ error: error.name }, 'sweep failed'))
  }
}

function urlOf(address: ReturnType<import('node:net').Server['address']>, host: string): string {
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
