import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BudgetLedger, SharedEntries } from '@garner/cache'
import {
  type Clock,
  type Database,
  ManualClock,
  migrate,
  type Queryable,
  type ReadBounds,
  StoreUnavailable,
  type Transaction,
} from '@garner/db'
import type { OwnTransaction, PostgresDatabase } from '@garner/db/postgres'
import type { LightMyRequestResponse } from 'fastify'
import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import { readConfig } from '../config.ts'
import { backendOf } from '../database.ts'
import type { Pictures } from '../features/meals/photo/index.ts'
import { createGarner, type Garner } from '../garner.ts'
import type { App } from '../http.ts'
import type { Vision } from '../outbound/vision.ts'
import { DIALECT, openTestDatabase } from './database.ts'
import { Site } from './site.ts'

/** One process of Garner as main.ts would put it together, except for time, chance and the internet. */
export interface Process {
  garner: Garner
  db: HeldDatabase
  /** Errors that were logged; by what they say, without their details. */
  errors: string[]
  /** Runs its worker's loop. */
  work: () => void
  /** Stops it where it stands, as SIGSTOP and SIGKILL do: whatever it waits for never wakes it. */
  freeze: () => void
  /** Lets it go on, its clock right again, as SIGCONT does. */
  thaw: () => void
}

export interface Ask {
  as?: string | null
  headers?: Record<string, string>
  body?: unknown
}
export type Answer = LightMyRequestResponse
type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

export interface Listening {
  statusCode: number
  headers: Answer['headers']
  /** What has come since the last time, read as events. */
  take: () => { event: string; [field: string]: unknown }[]
  /** The same, as it came. */
  raw: () => string
  hasEnded: () => boolean
}

export interface HarnessOptions {
  /** A file for several connections; memory unless told. */
  path?: string
  env?: Record<string, string>
  /** The origin budget as it is, shares and all; unless told, there is room for whatever a test reads. */
  hasBudget?: boolean
  shared?: SharedEntries
  /** As on PostgreSQL: what other processes have changed is not known by asking. */
  isToldOnly?: boolean
  /** On PostgreSQL: news of access are heard, as really. */
  hasNews?: boolean
  /** The vision model; the demo's own unless told. */
  vision?: Vision
  /** Pictures read in this process; else by processes of their own, as really. */
  pictures?: Pictures
}

/**
 * Garner's real parts in one test process: routes, accounts, jobs, worker and metrics over SQLite or PostgreSQL, in demo
 * mode, on a clock that is moved by hand. Alice and Bob share the group `study`, Carol is in none.
 */
export class Harness {
  readonly clock = new ManualClock()
  readonly site = new Site()
  readonly #options: HarnessOptions
  readonly #databases: HeldDatabase[] = []
  /** Where photos go; a folder of the test's own. */
  readonly dataDir = mkdtempSync(join(tmpdir(), 'garner-harness-'))
  #processes = 0
  #made = 0
  /** For processes that are made from now on: a copy of the database that they read lists from. */
  replica: Pick<Database, 'readWithin'> | undefined
  web!: Process
  app!: App

  constructor(options: HarnessOptions) {
    this.#options = options
    onTestFinished(() => rmSync(this.dataDir, { recursive: true, force: true }))
  }

  /** A Garner with its web side open. */
  static async open(options: HarnessOptions = {}): Promise<Harness> {
    const harness = new Harness(options)
    harness.web = await harness.process()
    const { app, close } = await harness.web.garner.web()
    harness.app = app
    onTestFinished(close)
    return harness
  }

  /** One more process. On a file it has connections of its own; in memory it shares the first one's. */
  async process(): Promise<Process> {
    const { path = ':memory:', env = {} } = this.#options
    const name = `process-${++this.#processes}`
    const stall = new StallingClock(this.clock)
    let db = path === ':memory:' ? this.#databases[0] : undefined
    if (!db) {
      db = await held(path, stall, this.#options)
      this.#databases.push(db)
      onTestFinished(() => db!.close())
    }
    const backend = await backendOf(db.dialect)
    await migrate(db, backend.migrations, stall)
    const errors: string[] = []
    const stream = { write: (line: string) => void errors.push(JSON.parse(line).msg) }
    const garner = createGarner({
      config: readConfig(['all', '--demo', '--data', this.dataDir], env, {}),
      // Its clock rules the leases, since the test moves it.
      backend: {
        ...backend,
        createJobs: (on, options) => backend.createJobs(on, { ...options, isAhead: true }),
      },
      db,
      clock: stall,
      random: () => 0.5,
      // Different for each call, and the same in each run.
      randomBytes: (n) => bytes(`${name} ${++this.#made}`, n),
      processName: name,
      secret: 'a secret for tests that is long enough to sign with',
      logger: pino({ level: 'error' }, stream),
      fetchPage: this.site.fetchPage,
      shared: this.#options.shared,
      replica: this.replica,
      changeCount: this.#options.isToldOnly ? { now: () => null } : undefined,
      vision: this.#options.vision,
      pictures: this.#options.pictures,
      ledger: this.#options.hasBudget ? undefined : ENDLESS,
    })
    onTestFinished(() => garner.close())
    const stop = new AbortController()
    onTestFinished(() => stop.abort())
    return {
      ...{ garner, db, errors },
      work: () => void garner.worker.run(stop.signal),
      freeze: () => stall.freeze(),
      thaw: () => stall.thaw(),
    }
  }

  ask(method: Method, url: string, { as = 'alice', headers = {}, body }: Ask = {}): Promise<Answer> {
    return this.app.inject({
      method,
      url,
      headers: { ...(as !== null && { 'x-demo-user': as }), ...headers },
      ...(body !== undefined && { payload: body as object }),
    })
  }

  /** Saves a link and answers it. Throws on anything but 201. */
  async save(url: string, { as = 'alice', ...more }: { as?: string; [field: string]: unknown } = {}) {
    const answer = await this.ask('POST', '/api/bookmarks', { as, body: { url, ...more } })
    if (answer.statusCode !== 201)
      throw new Error(`The save was answered ${answer.statusCode}: ${answer.body}`)
    return answer.json()
  }

  /** A link with its job, as this member sees it. */
  async link(id: string, as = 'alice') {
    return (await this.ask('GET', `/api/bookmarks/${id}`, { as })).json()
  }

  async list(query = '', as = 'alice') {
    return (await this.ask('GET', `/api/bookmarks${query}`, { as })).json()
  }

  /** Opens the stream of changes, as this person's page does. */
  async listen(as: string | null, app: App = this.app): Promise<Listening> {
    const headers = as === null ? {} : { 'x-demo-user': as }
    const asked = app.inject({ method: 'GET', url: '/api/events', headers, payloadAsStream: true })
    const { statusCode, headers: answered, stream } = await asked
    const incoming = stream()
    let text = ''
    let hasEnded = false
    incoming.on('data', (chunk) => {
      text += chunk
    })
    incoming.on('end', () => {
      hasEnded = true
    })
    const take = () => {
      const events = [...text.matchAll(/event: (\w+)\ndata: (.*)\n\n/g)]
      text = ''
      return events.map(([, event, data]) => ({ event, ...JSON.parse(data!) }))
    }
    return { statusCode, headers: answered, take, raw: () => text, hasEnded: () => hasEnded }
  }

  /** The number behind a line of /metrics; 0 when the line is not there. */
  async metric(line: string): Promise<number> {
    const { body } = await this.ask('GET', '/metrics', { as: null })
    const found = body.split('\n').find((one) => one.startsWith(`${line} `))
    return found === undefined ? 0 : Number(found.slice(line.length + 1))
  }

  /** Everything goes as far as it can without time passing. */
  async settle(): Promise<void> {
    for (let quiet = 0; quiet < 3; ) {
      await new Promise(setImmediate)
      quiet = this.#databases.some((one) => one.isBusy) ? 0 : quiet + 1
      // Waiting for another process's lock is waiting for the clock.
      if (quiet === 0 && this.clock.nextWakeInMs !== null && this.#databases.every((one) => one.isStuck()))
        return
    }
  }

  /** Lets `ms` milliseconds pass, stopping wherever somebody wakes. */
  async pass(ms: number): Promise<void> {
    const untilMs = this.clock.monotonicMs() + ms
    for (;;) {
      await this.settle()
      const nextMs = this.clock.nextWakeInMs
      if (nextMs === null || this.clock.monotonicMs() + nextMs > untilMs) break
      this.clock.advance(nextMs)
    }
    this.clock.advance(untilMs - this.clock.monotonicMs())
    await this.settle()
  }

  /** Passes the time until `atS` seconds after the harness was opened. */
  async at(atS: number): Promise<void> {
    await this.pass(Math.max(0, atS * 1000 - this.clock.monotonicMs()))
  }
}

/** Lends everything for ever. Shares take real moments to grow, and here no time passes by itself. */
const ENDLESS: BudgetLedger = {
  configure: async () => {},
  lease: async () => ({ generation: 1, rate: 1e6, ownRate: 0, concurrency: 1e6, ttlMs: 1e12, isOwed: false }),
  release: async () => {},
  standing: async () => null,
}

function bytes(seed: string, n: number): Uint8Array {
  const parts: Buffer[] = []
  for (let made = 0; made < n; made += 64) {
    parts.push(createHash('sha512').update(`${seed} ${made}`).digest())
  }
  return Buffer.concat(parts).subarray(0, n)
}

/** Time as a process sees it that can be stopped: while it is, nothing that it sleeps for wakes it. */
class StallingClock implements Clock {
  readonly #clock: ManualClock
  #going: PromiseWithResolvers<void> | null = null

  constructor(clock: ManualClock) {
    this.#clock = clock
  }

  nowMs(): number {
    return this.#clock.nowMs()
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs()
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    await this.#clock.sleep(ms, signal)
    while (this.#going) await this.#going.promise
  }

  freeze(): void {
    this.#going ??= Promise.withResolvers()
  }

  thaw(): void {
    this.#going?.resolve()
    this.#going = null
  }
}

async function held(path: string, clock: Clock, { hasNews = false }: HarnessOptions): Promise<HeldDatabase> {
  if (DIALECT === 'sqlite') return new HeldDatabase(await openTestDatabase({ path, clock }))
  let db: HeldPostgres | undefined
  const aroundCommit = async <T>(effect: () => Promise<T>): Promise<T> => {
    if (db?.failCommits) throw new StoreUnavailable('injected', 'committing')
    return effect()
  }
  const opened = (await openTestDatabase({ path, clock, aroundCommit })) as PostgresDatabase
  db = new HeldPostgres(opened, { hasNews })
  return db
}

/** A database in a test's hand: it knows how many calls are under way, and can be away. */
export class HeldDatabase implements Database {
  readonly #db: Database
  #calls = 0
  #ended = 0
  #endedBefore = 0
  #turns = 0
  /** Of each read that must be over by a time, in order. */
  readonly bounds: ReadBounds[] = []
  /** Nothing is read or written: every call is StoreUnavailable. */
  isAway = false
  /** Everything is written and nothing becomes durable: every commit is StoreUnavailable. */
  failCommits = false
  /** Everything is committed, and said not to have been. */
  lieAboutCommits = false

  constructor(db: Database) {
    this.#db = db
  }

  get dialect() {
    return this.#db.dialect
  }

  get isBusy(): boolean {
    return this.#calls > 0
  }

  /** Calls are under way and none has ended for many turns of the event loop: they wait for the clock. */
  isStuck(): boolean {
    if (!this.isBusy || this.#ended !== this.#endedBefore) this.#turns = 0
    this.#endedBefore = this.#ended
    return !this.isBusy || ++this.#turns > 20
  }

  get read(): Database['read'] {
    return {
      all: (sql, ...params) => this.counted(() => this.#db.read.all(sql, ...params)),
      get: (sql, ...params) => this.counted(() => this.#db.read.get(sql, ...params)),
    }
  }

  readWithin<T>(bounds: ReadBounds, work: (query: Queryable) => Promise<T>): Promise<T> {
    this.bounds.push(bounds)
    return this.counted(() => this.#db.readWithin(bounds, work))
  }

  transaction<T>(work: (tx: Transaction) => Promise<T>, options?: { runsOnce?: boolean }): Promise<T> {
    return this.counted(async () => {
      const value = await this.#db.transaction(async (tx) => {
        const value = await work(tx)
        if (this.failCommits) throw new StoreUnavailable('injected', 'committing')
        return value
      }, options)
      if (this.lieAboutCommits) throw new StoreUnavailable('injected', 'committing')
      return value
    })
  }

  /** Resolves once news of access are heard. At once where there are none to hear. */
  async hearing(): Promise<void> {}

  /** Resolves when they come the next time. At once where there are none to hear. */
  async heard(): Promise<void> {}

  changeCounter(): Promise<number> {
    return this.counted(() => this.#db.changeCounter())
  }

  close(): Promise<void> {
    return this.#db.close()
  }

  protected async counted<T>(call: () => Promise<T>): Promise<T> {
    if (this.isAway) throw new StoreUnavailable('injected', 'testing')
    this.#calls++
    try {
      return await call()
    } finally {
      this.#calls--
      this.#ended++
    }
  }
}

/**
 * The same with what only PostgreSQL has. Of work nothing is heard, since notifications come when they like: polling finds
 * it. So it is with news of access, unless a test asks for them and waits.
 */
class HeldPostgres extends HeldDatabase implements PostgresDatabase {
  readonly #db: PostgresDatabase
  readonly #hasNews: boolean
  readonly #hearing = Promise.withResolvers<void>()
  #news = Promise.withResolvers<void>()

  constructor(db: PostgresDatabase, { hasNews }: { hasNews: boolean }) {
    super(db)
    this.#db = db
    this.#hasNews = hasNews
  }

  override hearing(): Promise<void> {
    return this.#hearing.promise
  }

  override heard(): Promise<void> {
    return this.#news.promise
  }

  override get dialect(): 'postgres' {
    return 'postgres'
  }

  get clock() {
    return this.#db.clock
  }

  get connections() {
    return this.#db.connections
  }

  get autocommit(): Database['read'] {
    return {
      all: (sql, ...params) => this.counted(() => this.#db.autocommit.all(sql, ...params)),
      get: (sql, ...params) => this.counted(() => this.#db.autocommit.get(sql, ...params)),
    }
  }

  override transaction<T>(
    work: (tx: OwnTransaction) => Promise<T>,
    options?: { runsOnce?: boolean },
  ): Promise<T> {
    return this.counted(async () => {
      const value = await this.#db.transaction(work, options)
      if (this.lieAboutCommits) throw new StoreUnavailable('injected', 'committing')
      return value
    })
  }

  async listen(channel: string, wake: () => void) {
    if (!this.#hasNews || channel !== 'garner_access') return null
    const listener = await this.#db.listen(channel, () => {
      wake()
      this.#news.resolve()
      this.#news = Promise.withResolvers()
    })
    // After whoever listens has gone on.
    setImmediate(this.#hearing.resolve)
    return listener
  }

  /** Answers come over the network, which takes turns of the event loop and no time of the clock. */
  override isStuck(): boolean {
    return !this.isBusy
  }
}
