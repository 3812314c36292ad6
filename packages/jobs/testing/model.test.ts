import { type Database, ManualClock, migrate, systemClock } from '@garner/db'
import { openSqlite } from '@garner/db/sqlite'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Claim, type Job, type JobState, PENDING_STATES, TRANSITIONS } from '../src/job.ts'
import { createMemoryStore } from '../src/memory/store.ts'
import type { Bounds } from '../src/rank.ts'
import { createSqliteStore, jobsMigrations } from '../src/sqlite/store.ts'
import type { Ending, JobStore, Submission, WriteAnswer } from '../src/store.ts'

/**
 * Random command sequences on the memory store and on SQLite: the same answers and the same jobs after every
 * command, and what may never be broken still holds. Shrunk to the shortest sequence that tells them apart.
 */
const KINDS = [{ kind: 'title', perKey: 1 }, { kind: 'photo', perKey: 2 }, { kind: 'export' }]
const BOUNDS: Bounds = { perTenant: 6, total: 14 }

type Command =
  | { do: 'submit'; submission: Omit<Submission, 'id' | 'runAtMs'>; inMs: number; isRolledBack: boolean }
  | { do: 'claim'; limit: number; kinds: number; leaseMs: number }
  | { do: 'publish'; claim: number; ending: Ending; inMs: number; answer: WriteAnswer | 'throws' | 'late' }
  | { do: 'heartbeat'; claim: number; leaseMs: number }
  | { do: 'supersede'; subject: string; version: number }
  | { do: 'forget'; subject: string; isRolledBack: boolean }
  | { do: 'forgetTenant'; tenant: string }
  | { do: 'repair'; job: number; isBounded: boolean }
  | { do: 'discard'; job: number }
  | { do: 'advance'; ms: number }

const aTenant = fc.constantFrom('alice', 'bob', 'carol')
const aSubject = fc.constantFrom('bookmark-1', 'bookmark-2')
const aLeaseMs = fc.constantFrom(1_000, 30_000)
const anIndex = fc.nat({ max: 1_000 })
const maybe = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined })

const anEnding: fc.Arbitrary<Ending> = fc.oneof(
  fc.constant<Ending>({ state: 'succeeded', result: { title: 'A title' } }),
  fc.constant<Ending>({ state: 'degraded', reason: 'http_503' }),
  fc.constant<Ending>({ state: 'dead', reason: 'http_404', result: [1] }),
  fc.constant<Ending>({ state: 'cancelled', reason: 'discarded' }),
  fc.constant<Ending>({ state: 'ready', outcome: 'released' }),
  fc.constant<Ending>({ state: 'ready', outcome: 'retried', runAtMs: 0, reason: 'timeout' }),
  fc.constant<Ending>({
    state: 'ready',
    outcome: 'retried',
    runAtMs: 0,
    reason: 'offline',
    isUncounted: true,
  }),
)

const aCommand: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('submit' as const),
      submission: fc.record({
        kind: fc.constantFrom('title', 'photo', 'export'),
        tenant: aTenant,
        payload: fc.constantFrom<Submission['payload']>(null, { url: 'https://example.org/' }),
        operationId: maybe(fc.constantFrom('op-1', 'op-2', 'op-3')),
        subject: maybe(aSubject),
        subjectVersion: maybe(fc.nat({ max: 3 })),
        key: maybe(fc.constantFrom('example.org', 'example.com')),
        deadlineMs: fc.constantFrom(60_000, 3_600_000),
      }),
      inMs: fc.constantFrom(0, 0, 0, 5_000),
      isRolledBack: fc.constantFrom(false, false, false, true),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('claim' as const),
      limit: fc.nat({ max: 6 }),
      kinds: fc.integer({ min: 1, max: 7 }),
      leaseMs: aLeaseMs,
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('publish' as const),
      claim: anIndex,
      ending: anEnding,
      inMs: fc.constantFrom(0, 1_000, 20_000),
      answer: fc.constantFrom<WriteAnswer | 'throws' | 'late'>(
        ...[undefined, undefined, undefined],
        ...(['superseded', 'discarded', 'throws', 'late'] as const),
      ),
    }),
  },
  fc.record({ do: fc.constant('heartbeat' as const), claim: anIndex, leaseMs: aLeaseMs }),
  fc.record({ do: fc.constant('supersede' as const), subject: aSubject, version: fc.nat({ max: 4 }) }),
  fc.record({ do: fc.constant('forget' as const), subject: aSubject, isRolledBack: fc.boolean() }),
  fc.record({ do: fc.constant('forgetTenant' as const), tenant: aTenant }),
  fc.record({ do: fc.constant('repair' as const), job: anIndex, isBounded: fc.boolean() }),
  fc.record({ do: fc.constant('discard' as const), job: anIndex }),
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('advance' as const),
      ms: fc.constantFrom(1, 999, 1_000, 5_000, 30_000),
    }),
  },
)

/** Thrown inside transactions that shall be rolled back, with what they had answered. */
class Rollback extends Error {
  readonly answer: unknown
  constructor(answer: unknown) {
    super('rolled back')
    this.answer = answer
  }
}

/** One store under the commands, with what its callers remember: submitted ids and claims, in order. */
class Player<Tx> {
  readonly store: JobStore<Tx>
  readonly clock: ManualClock
  readonly #ids: string[] = []
  readonly #claims: Claim[] = []
  #count = 0

  constructor(store: JobStore<Tx>, clock: ManualClock) {
    this.store = store
    this.clock = clock
  }

  /** The answer of one command as data; an error is an answer too. */
  async play(command: Command): Promise<unknown> {
    try {
      return await this.#run(command)
    } catch (error) {
      if (error instanceof Rollback) return { rolledBack: error.answer }
      if (error instanceof Error && 'code' in error) return { ...error, code: error.code }
      throw error
    }
  }

  async #run(command: Command): Promise<unknown> {
    const { store, clock } = this
    switch (command.do) {
      case 'submit': {
        this.#count++
        const id = `job-${String(this.#count).padStart(4, '0')}`
        const submission = { ...command.submission, id, runAtMs: clock.nowMs() + command.inMs }
        const answer = await this.#change((tx) => store.submit(tx, submission), command.isRolledBack)
        if (!answer.isRepeat) this.#ids.push(id)
        return answer
      }
      case 'claim': {
        const kinds = KINDS.filter((_, n) => command.kinds & (1 << n))
        const { limit, leaseMs } = command
        const claims = await store.claim({ worker: 'worker-1', limit, leaseMs, kinds })
        this.#claims.push(...claims)
        return claims
      }
      case 'publish': {
        const claim = pick(this.#claims, command.claim)
        if (!claim) return null
        const { answer, inMs } = command
        const isRetry = 'outcome' in command.ending && command.ending.outcome === 'retried'
        const ending = isRetry ? { ...command.ending, runAtMs: clock.nowMs() + inMs } : command.ending
        return store.publish(claim, ending as Ending, async () => {
          if (answer === 'throws') throw new Rollback('the writes threw')
          if (answer === 'late') clock.advance(40_000)
          return answer === 'late' ? undefined : answer
        })
      }
      case 'heartbeat':
        return store.heartbeat(this.#claims.slice(-command.claim % 5), command.leaseMs)
      case 'supersede':
        return this.#change((tx) => store.supersede(tx, command))
      case 'forget':
        return this.#change((tx) => store.forget(tx, command.subject), command.isRolledBack)
      case 'forgetTenant':
        return this.#change((tx) => store.forgetTenant(tx, command.tenant))
      case 'repair': {
        const { isBounded } = command
        const id = pick(this.#ids, command.job)
        return id && this.#change((tx) => store.repair(tx, id, { isBounded }))
      }
      case 'discard': {
        const id = pick(this.#ids, command.job)
        return id && this.#change((tx) => store.discard(tx, id))
      }
      case 'advance':
        return clock.advance(command.ms)
    }
  }

  #change<T>(work: (tx: Tx) => Promise<T>, isRolledBack = false): Promise<T> {
    return this.store.transaction(async (tx) => {
      const answer = await work(tx)
      if (isRolledBack) throw new Rollback(answer)
      return answer
    })
  }

  /** Everything that can be read, in one piece. */
  async everything() {
    const jobs = await this.store.list({ limit: 1_000 })
    const attempts = await Promise.all(jobs.map(async ({ id }) => (await this.store.get(id))!.attempts))
    return { jobs, attempts, counts: await this.store.counts(), totals: await this.store.totals() }
  }
}

function pick<T>(of: T[], index: number): T | undefined {
  return of.length === 0 ? undefined : of[index % of.length]
}

/** A repair of a job that has ended and is claimed again passes through states between two looks; none here does. */
function assertTransition(before: Job, after: Job, command: Command): void {
  expect(after.epoch).toBeGreaterThanOrEqual(before.epoch)
  expect(after.generation).toBeGreaterThanOrEqual(before.generation)
  expect(after.rank).toBeGreaterThanOrEqual(before.rank)
  if (before.state === after.state) return
  const isAllowed = (from: JobState, to: JobState) => TRANSITIONS[from].includes(to)
  expect(isAllowed(before.state, after.state), `${before.state} → ${after.state} by ${command.do}`).toBe(true)
}

async function assertInvariants(
  player: Player<unknown>,
  { before, command }: { before: Job[]; command: Command },
): Promise<void> {
  const jobs = await player.store.list({ limit: 1_000 })
  const now = new Map(jobs.map((one) => [one.id, one]))
  for (const old of before) {
    const found = now.get(old.id)
    // Nothing that was accepted is lost: only forgetting removes, and only what it names.
    if (found) assertTransition(old, found, command)
    else if (command.do === 'forget') expect(old.subject).toBe(command.subject)
    else {
      expect(command.do).toBe('forgetTenant')
      expect([...PENDING_STATES, 'dead']).toContain(old.state)
    }
  }
  const running = jobs.filter((one) => one.state === 'running')
  for (const { kind, perKey = Number.POSITIVE_INFINITY } of KINDS) {
    for (const key of ['example.org', 'example.com']) {
      const count = running.filter((one) => one.kind === kind && one.key === key).length
      expect(count).toBeLessThanOrEqual(perKey)
    }
  }
  for (const one of jobs) {
    expect(one.leaseUntilMs !== null).toBe(one.state === 'running')
    expect(one.finishedAtMs !== null).toBe(!PENDING_STATES.includes(one.state))
  }
}

/** The counters behind the bounds equal what there really is. */
async function assertCounters(db: Database): Promise<void> {
  const counted = await db.read.get<{ n: number }>('SELECT pending AS n FROM job_queue')
  const real = await db.read.get<{ n: number }>(
    "SELECT count(*) AS n FROM jobs WHERE state IN ('ready', 'running')",
  )
  expect(counted).toEqual(real)
  const wrong = await db.read.all(
    `SELECT tenant, pending, (SELECT count(*) FROM jobs j WHERE j.tenant = t.tenant
      AND j.state IN ('ready', 'running')) AS found FROM job_tenants t WHERE pending <> found`,
  )
  expect(wrong).toEqual([])
  const orphans = await db.read.all(
    `SELECT job_id FROM job_attempts WHERE job_id NOT IN (SELECT id FROM jobs)
     UNION SELECT job_id FROM job_operations WHERE job_id NOT IN (SELECT id FROM jobs)`,
  )
  expect(orphans).toEqual([])
}

/** Liveness: with all workers well again, every job ends within as many claims as there are jobs. */
async function drain(player: Player<unknown>): Promise<void> {
  const { store, clock } = player
  clock.advance(40_000)
  for (let steps = 0; (await store.nextDueInMs()) !== null; steps++) {
    expect(steps).toBeLessThan(100)
    for (const claim of await store.claim({ worker: 'last', limit: 5, leaseMs: 30_000, kinds: KINDS })) {
      expect(await store.publish(claim, { state: 'succeeded' })).toBe('published')
    }
  }
  for (const state of PENDING_STATES) expect(await store.list({ state, limit: 1 })).toEqual([])
}

test('memory and SQLite answer every sequence of commands alike, and break no invariant', async () => {
  const sequence = fc.array(aCommand, { minLength: 1, maxLength: 60, size: 'max' })
  await fc.assert(
    fc.asyncProperty(sequence, async (commands) => {
      const db = openSqlite({ path: ':memory:', clock: systemClock() })
      try {
        const clocks = { memory: new ManualClock(), sqlite: new ManualClock() }
        await migrate(db, [jobsMigrations], clocks.sqlite)
        const memory = new Player(createMemoryStore({ clock: clocks.memory, bounds: BOUNDS }), clocks.memory)
        const sqlite = new Player(
          createSqliteStore({ db, clock: clocks.sqlite, bounds: BOUNDS }),
          clocks.sqlite,
        )
        let before: Job[] = []
        for (const command of commands) {
          const expected = await memory.play(command)
          expect(await sqlite.play(command)).toEqual(expected)
          const everything = await memory.everything()
          expect(await sqlite.everything()).toEqual(everything)
          await assertInvariants(memory as Player<unknown>, { before, command })
          before = everything.jobs
        }
        await assertCounters(db)
        expect((await sqlite.store.nextDueInMs()) === null).toBe((await memory.store.nextDueInMs()) === null)
        await drain(memory as Player<unknown>)
        await drain(sqlite as Player<unknown>)
        await assertCounters(db)
      } finally {
        await db.close()
      }
    }),
    { numRuns: 150 },
  )
}, 120_000)
