import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Database, ManualClock, migrate, type Transaction } from '@garner/db'
import type { JobStore } from '@garner/jobs'
import type { LightMyRequestResponse } from 'fastify'
import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import { backendOf } from '../database.ts'
import { createAccounts } from '../features/accounts/index.ts'
import { VISION_ALLOWANCE } from '../features/meals/allowance.ts'
import { type BookDeps, registerBook } from '../features/meals/book/book.ts'
import type { Meal, MealNutrients, WriteItem } from '../features/meals/book/schemas.ts'
import { sweepShares } from '../features/meals/book/shares.ts'
import { type App, createApp } from '../http.ts'
import { createFolder, type Objects } from '../outbound/objects.ts'
import { makeSeal } from '../seal.ts'
import { openTestDatabase } from './database.ts'

/**
 * The book of meals alone: its real routes over SQLite or PostgreSQL, a real folder of photos, the demo's people, and a clock that
 * stands at 2026-08-10T12:00:00Z. What a photo would have become is written into the tables as its job writes it.
 */
export class Book {
  readonly clock = new ManualClock(Date.parse('2026-08-10T12:00:00Z'))
  /** What the provider is found to be. */
  readonly vision: { isConfigured: boolean; parked: BookDeps['vision']['parked'] } = {
    isConfigured: true,
    parked: () => null,
  }
  app!: App
  db!: Database
  objects!: Objects
  store!: JobStore<Transaction>
  /** The subjects of jobs that were forgotten. */
  readonly forgotten: string[] = []
  /** What the read side was asked, in order. */
  readonly statements: string[] = []
  /** Every log line. */
  readonly log: string[] = []
  /** How often somebody was told that something has changed. */
  told = 0
  #made = 0

  static async open(): Promise<Book> {
    const book = new Book()
    const { clock } = book
    const db = await openTestDatabase({ path: ':memory:', clock })
    onTestFinished(() => db.close())
    const backend = await backendOf(db.dialect)
    await migrate(db, backend.migrations, clock)
    const dir = mkdtempSync(join(tmpdir(), 'garner-book-'))
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
    // Different for each call, and the same in each run.
    const randomBytes = (n: number) =>
      createHash('sha512')
        .update(`${++book.#made}`)
        .digest()
        .subarray(0, n)
    const ids = () => `id-${String(++book.#made).padStart(6, '0')}`
    const logger = pino({ level: 'debug' }, { write: (line: string) => void book.log.push(line) })
    const secret = 'a secret for tests that is long enough to sign with'
    const accounts = createAccounts({
      ...{ db, clock, ids, randomBytes, secret, logger, isDemo: true },
      purges: { queue: async () => {}, rows: async () => {} },
      countsOf: async () => new Map(),
      onChange: () => {},
    })
    await accounts.seedDemo()
    // Its clock rules the leases, since the test moves it.
    const bounds = { perTenant: 100, total: 100 }
    book.store = backend.createJobs(db, { clock, isAhead: true, bounds })
    book.app = createApp({ logger, authenticate: accounts.authenticate, isLoopbackOnly: true })
    book.db = db
    const read: Database['read'] = {
      all: (sql, ...params) => book.#asked(sql, () => db.read.all(sql, ...params)),
      get: (sql, ...params) => book.#asked(sql, () => db.read.get(sql, ...params)),
    }
    book.objects = createFolder({ dir, clock, ids })
    registerBook(book.app, {
      db: { read, transaction: (work) => db.transaction(work) },
      ...{ ids, randomBytes, people: accounts.people, vision: book.vision, objects: book.objects },
      nowMs: () => clock.nowMs(),
      jobs: {
        allowance: (of) => book.store.allowance(of),
        forget: (tx, subject) => {
          book.forgotten.push(subject)
          return book.store.forget(tx, subject)
        },
      },
      seal: makeSeal({ secret, randomBytes }),
      aiDailyLimit: 50,
      onChange: () => void book.told++,
    })
    onTestFinished(() => book.app.close())
    return book
  }

  ask(
    method: 'GET' | 'HEAD' | 'POST' | 'PATCH' | 'PUT' | 'DELETE',
    url: string,
    {
      as = 'alice',
      headers = {},
      body,
    }: { as?: string | null; headers?: Record<string, string>; body?: unknown } = {},
  ): Promise<LightMyRequestResponse> {
    return this.app.inject({
      method,
      url,
      headers: { ...(as !== null && { 'x-demo-user': as }), ...headers },
      ...(body !== undefined && { payload: body as object }),
    })
  }

  /** Writes a meal by hand and answers it. Throws on anything but 201. */
  async write(
    meal: { date?: string; time?: string; description?: string; items?: WriteItem[] } = {},
    as = 'alice',
  ): Promise<Meal> {
    const body = { date: '2026-08-10', time: '08:00', description: 'Porridge', ...meal }
    const answer = await this.ask('POST', '/api/meals', { as, body })
    if (answer.statusCode !== 201)
      throw new Error(`The meal was answered ${answer.statusCode}: ${answer.body}`)
    return answer.json()
  }

  async days(query: string, as = 'alice') {
    return (await this.ask('GET', `/api/meals?${query}`, { as })).json().days
  }

  /** A photo that was accepted; `logged` with its meal, its picture among the blobs either way. */
  async photo({
    id = 'photo',
    userId = 'alice',
    date = '2026-08-10',
    time = '12:30',
    state = 'logged' as 'waiting' | 'logged' | 'placeholder' | 'dead',
    isGuess = false,
    nutrients = {} as Partial<MealNutrients>,
    items = [] as unknown[],
    estimate = 'estimated' as Meal['estimate'],
    reason = null as string | null,
    description = 'Avocado toast',
    jpeg = Buffer.from(`the picture of ${userId}/${id}`),
  } = {}): Promise<string> {
    const blob = `${userId}/${id}`
    await this.objects.put(blob, jpeg)
    const isMeal = state === 'logged' || state === 'placeholder'
    await this.db.transaction(async (tx) => {
      await tx.run(
        `INSERT INTO photo_entries (id, user_id, job_id, state, date, time, seconds, time_source, is_guess, digest,
           blob, is_forced, accepted_at_ms) VALUES (?, ?, ?, ?, ?, ?, '', 'file', ?, ?, ?, 0, 0)`,
        ...[id, userId, `job-${id}`, state, date, time, isGuess ? 1 : 0, `digest of ${id}`, blob],
      )
      if (!isMeal) return
      const { energy_kcal, protein_g, carbohydrate_g, fat_g, fiber_g } = nutrients
      await tx.run(
        `INSERT INTO meals (id, user_id, entry_id, date, time, description, items, energy_kcal, protein_g,
           carbohydrate_g, fat_g, fiber_g, estimate, reason, ai_assisted, is_edited, blob, version, created_at_ms,
           changed_at_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, 1, 0, 0)`,
        ...[id, userId, id, date, time, description, JSON.stringify(items)],
        ...[energy_kcal ?? null, protein_g ?? null, carbohydrate_g ?? null, fat_g ?? null, fiber_g ?? null],
        ...[estimate, reason, estimate === 'estimated' ? 1 : 0, blob],
      )
    })
    return id
  }

  /** Uses of this person's allowance of today, one job each, that stand as told. */
  async use(userId: string, states: ('settled' | 'reserved' | 'unknown')[]): Promise<void> {
    const step = { name: 'estimate', use: { ...VISION_ALLOWANCE, limit: 50 } }
    const claimOne = async () => {
      const kinds = [{ kind: 'describe-photo' }]
      return (await this.store.claim({ worker: 'test', limit: 1, leaseMs: 1_000, kinds }))[0]!
    }
    for (const state of states) {
      const id = `used-${++this.#made}`
      await this.store.transaction((tx) =>
        this.store.submit(tx, {
          id,
          kind: 'describe-photo',
          tenant: userId,
          payload: {},
          deadlineMs: 60_000,
        }),
      )
      let claim = await claimOne()
      await this.store.openStep(claim, step)
      if (state === 'settled') await this.store.recordStep(claim, step.name, { state, result: {} })
      if (state === 'unknown') {
        // Its attempt is gone; the next one finds the reservation and no result.
        this.clock.advance(1_001)
        claim = await claimOne()
        await this.store.openStep(claim, step)
      }
      await this.store.publish(claim, { state: 'succeeded' })
    }
  }

  async sweep(): Promise<void> {
    await this.db.transaction((tx) => sweepShares(tx, this.clock.nowMs()))
  }

  #asked<T>(sql: string, ask: () => Promise<T>): Promise<T> {
    this.statements.push(sql)
    return ask()
  }

  async count(table: string): Promise<number> {
    return (await this.db.read.get<{ n: number }>(`SELECT count(*) AS n FROM ${table}`))!.n
  }
}
