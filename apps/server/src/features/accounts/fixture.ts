import { createHash } from 'node:crypto'
import { type Around, type Database, ManualClock, migrate, systemClock } from '@garner/db'
import type { LightMyRequestResponse } from 'fastify'
import { pino } from 'pino'
import { vi } from 'vitest'
import { type App, approved, assertApproved, createApp } from '../../http.ts'
import { serverMigrations } from '../../idempotency.ts'
import { unauthenticated } from '../../problem.ts'
import { openTestDatabase } from '../../testing/database.ts'
import {
  type Accounts,
  type AccountsOptions,
  accountsMigrations,
  type Changed,
  createAccounts,
} from './index.ts'

// 60 s, not 10: the first test of a file loads Better Auth, and each hashes real passwords (100 ms of work apiece),
// while other files' tests keep the same cores busy.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

/** A server with accounts alone, for tests: real Fastify, real Better Auth, a real database. */
export interface World {
  app: App
  db: Database
  clock: WatchedClock
  accounts: Accounts
  changes: Changed[]
  /** What the parts of a deletion were asked to do, in order. */
  purged: string[]
  /** One log line each. */
  log: string[]
  ask: (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, options?: Ask) => Promise<Answer>
  signUp: (name: string, headers?: Record<string, string>) => Promise<Answer>
  /** Signs up, and lets in unless it is the first; the cookie of the session. */
  person: (name: string) => Promise<{ id: string; cookie: string }>
  close: () => Promise<void>
}

export interface Ask {
  as?: string | undefined
  cookie?: string | undefined
  headers?: Record<string, string>
  body?: unknown
}

export type Answer = LightMyRequestResponse & { cookie: string }

export const SECRET = 'a secret for tests that is long enough to sign with'
export const PASSWORD = 'correct horse battery'

/** Tells when someone has gone to sleep, so that a test moves the time on only then. */
export class WatchedClock extends ManualClock {
  #told: (() => void)[] = []

  override sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const sleeping = super.sleep(ms, signal)
    for (const tell of this.#told.splice(0)) tell()
    return sleeping
  }

  untilAsleep(): Promise<void> {
    return new Promise((resolve) => this.#told.push(resolve))
  }
}

export interface WorldOptions extends Partial<Pick<AccountsOptions, 'isDemo' | 'purges' | 'baseUrl'>> {
  path?: string
  around?: Around
  busyMs?: number
  /** For two servers on one database. */
  idPrefix?: string
}

export async function world(options: WorldOptions = {}): Promise<World> {
  const { path = ':memory:', isDemo = false, busyMs = 2_000, idPrefix = 'id' } = options
  // Better Auth looks at the machine's own clock for the life of a session, so this one starts there.
  const clock = new WatchedClock(systemClock().nowMs())
  // In real time: two servers on one file wait for each other's lock, and nobody moves this test's clock meanwhile.
  const db = await openTestDatabase({ path, clock: systemClock(), busyMs })
  await migrate(db, [serverMigrations, accountsMigrations], clock)
  const changes: Changed[] = []
  const purged: string[] = []
  const log: string[] = []
  const logger = pino({ level: 'debug' }, { write: (line: string) => void log.push(line) })
  let made = 0
  const accounts = createAccounts({
    db,
    clock,
    ids: () => `${idPrefix}-${++made}`,
    // Different for each call, and the same in each run.
    randomBytes: (n) => createHash('sha512').update(`bytes ${++made}`).digest().subarray(0, n),
    around: options.around,
    secret: SECRET,
    baseUrl: options.baseUrl,
    isDemo,
    purges: options.purges ?? {
      queue: async (userId) => void purged.push(`queue of ${userId}`),
      photos: async (userId) => void purged.push(`photos of ${userId}`),
      rows: async (_tx, userId) => void purged.push(`rows of ${userId}`),
    },
    countsOf: async (_userId, ids) => new Map(ids.map((id) => [id, { links: 3, unread: 2 }])),
    onChange: (change) => changes.push(change),
    logger,
  })
  if (isDemo) await accounts.seedDemo()
  const app = createApp({ logger, authenticate: accounts.authenticate })
  accounts.register(app)
  // Stands for the routes of the other features.
  app.get('/api/elsewhere', async (request) => approved(request))
  app.post('/api/elsewhere', async (request) => approved(request))
  app.post('/api/confirmed', { config: { isConfirmed: true } }, async (request) => {
    const who = approved(request)
    const now = await db.transaction((tx) => accounts.people.confirmed(tx, who))
    if (!now) throw unauthenticated()
    assertApproved(now)
    return now
  })

  const ask: World['ask'] = async (method, url, { as, cookie, headers, body } = {}) => {
    const answer = await app.inject({
      method,
      url,
      headers: {
        ...(as !== undefined && { 'x-demo-user': as }),
        ...(cookie !== undefined && { cookie }),
        ...headers,
      },
      ...(body !== undefined && { payload: body as object }),
    })
    const cookies = answer.cookies.filter((one) => one.value !== '')
    return Object.assign(answer, {
      cookie: cookies.map(({ name, value }) => `${name}=${encodeURIComponent(value)}`).join('; '),
    })
  }
  const signUp: World['signUp'] = (name, headers = {}) =>
    ask('POST', '/api/auth/sign-up/email', {
      headers,
      body: { name, email: `${name}@example.org`, password: PASSWORD },
    })
  const person: World['person'] = async (name) => {
    const answer = await signUp(name)
    const id = answer.json().user.id
    await db.transaction(async (tx) => {
      await tx.run("UPDATE users SET status = 'approved' WHERE id = ?", id)
    })
    return { id, cookie: answer.cookie }
  }
  return {
    app,
    db,
    clock,
    accounts,
    changes,
    purged,
    log,
    ask,
    signUp,
    person,
    async close() {
      await app.close()
      await db.close()
    },
  }
}
