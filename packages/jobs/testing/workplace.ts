import { ManualClock, migrate, type Queryable, StoreUnavailable } from '@garner/db'
import { openSqlite } from '@garner/db/sqlite'
import { onTestFinished } from 'vitest'
import type { Claim, Job, Json } from '../src/job.ts'
import type { AttemptContext, JobKind, KindRules, Outcome, SingleHandler } from '../src/kind.ts'
import { createMemoryStore, type MemoryTransaction } from '../src/memory/store.ts'
import type { AttemptEnd } from '../src/run-attempt.ts'
import { createSqliteStore, jobsMigrations } from '../src/sqlite/store.ts'
import type { JobStore, Submission } from '../src/store.ts'
import { Worker, type WorkerOptions } from '../src/worker.ts'

export const LEASE_MS = 30_000
export const POLL_MS = 1_000
const DAY_MS = 86_400_000

/** A kind whose handler the test holds in its hand: each try is listed in `tries` and waits for its answer. */
export interface Try {
  job: Job
  signal: AbortSignal
  answer: (outcome: Outcome<never>) => void
  fail: (error: unknown) => void
}

/** Workers on one store and one clock that stands still until it is moved. */
export class Workplace<Tx> {
  readonly clock: ManualClock
  readonly store: JobStore<Tx>
  readonly tries: Try[] = []
  readonly ends: AttemptEnd[] = []
  readonly faults: unknown[] = []
  /** What `random` answers; 1 is just below the whole backoff. */
  random = 0.5
  #count = 0

  constructor({ clock, store }: { clock: ManualClock; store: JobStore<Tx> }) {
    this.clock = clock
    this.store = store
  }

  kind(part: Partial<KindRules<Tx, Json> & SingleHandler<Tx, Json>> = {}) {
    return {
      kind: 'title',
      policy: { attemptsMax: 3, deadlineMs: DAY_MS, baseMs: 10_000, maxMs: 60_000 },
      attemptMs: 300_000,
      handle: (context: AttemptContext<Json>) => this.#wait(context),
      ...part,
    } satisfies JobKind<Tx>
  }

  #wait({ job, signal }: AttemptContext<Json>): Promise<Outcome<Tx>> {
    const { promise, resolve, reject } = Promise.withResolvers<Outcome<Tx>>()
    signal.addEventListener('abort', () => reject(signal.reason))
    this.tries.push({ job, signal, answer: resolve as Try['answer'], fail: reject })
    return promise
  }

  worker(part: Partial<WorkerOptions<Tx>> = {}): Worker<Tx> {
    return new Worker<Tx>({
      store: this.store,
      read: {} as Queryable,
      kinds: [this.kind()],
      clock: this.clock,
      random: () => this.random,
      name: 'worker-1',
      slots: 4,
      leaseMs: LEASE_MS,
      pollMs: POLL_MS,
      onFault: (_claim, error) => this.faults.push(error),
      onEnd: (_claim, end) => this.ends.push(end),
      ...part,
    })
  }

  /** A worker's loop that ends with the test. */
  running(part: Partial<WorkerOptions<Tx>> = {}): {
    worker: Worker<Tx>
    stopped: Promise<void>
    end: () => void
  } {
    const worker = this.worker(part)
    const stop = new AbortController()
    const stopped = worker.run(stop.signal)
    onTestFinished(() => stop.abort())
    return { worker, stopped, end: () => stop.abort() }
  }

  async submit(part: Partial<Submission> = {}): Promise<Job> {
    this.#count++
    const submission: Submission = {
      id: `job-${String(this.#count).padStart(4, '0')}`,
      kind: 'title',
      tenant: 'alice',
      payload: { n: this.#count },
      deadlineMs: DAY_MS,
      ...part,
    }
    return (await this.store.transaction((tx) => this.store.submit(tx, submission))).job
  }

  /** Takes the next job as another worker would, and does nothing with it. */
  async takenByAnother(): Promise<Claim> {
    const request = { worker: 'worker-2', limit: 1, leaseMs: LEASE_MS, kinds: [{ kind: 'title' }] }
    return (await this.store.claim(request))[0]!
  }

  async job(id = 'job-0001'): Promise<Job> {
    return (await this.store.get(id))!.job
  }

  async outcomes(id = 'job-0001') {
    return (await this.store.get(id))!.attempts.map((one) => one.outcome)
  }

  async total(name: string): Promise<number> {
    return (await this.store.totals()).find((one) => one.kind === 'title' && one.name === name)?.value ?? 0
  }

  /** Lets everything go as far as it can without time passing. */
  async settle(): Promise<void> {
    for (let n = 0; n < 20; n++) await new Promise(setImmediate)
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
}

const bounds = { perTenant: 1_000, total: 10_000 }

export function inMemory(): Workplace<MemoryTransaction> {
  const clock = new ManualClock()
  return new Workplace({ clock, store: createMemoryStore({ clock, bounds }) })
}

/** SQLite with a table for what handlers write. */
export async function inSqlite() {
  const clock = new ManualClock()
  const db = openSqlite({ path: ':memory:', clock })
  onTestFinished(() => db.close())
  await migrate(db, [jobsMigrations], clock)
  await db.transaction((tx) => tx.run('CREATE TABLE notes (text TEXT NOT NULL)'))
  const place = new Workplace({ clock, store: createSqliteStore({ db, clock, bounds }) })
  const notes = async () =>
    (await db.read.all<{ text: string }>('SELECT text FROM notes')).map((one) => one.text)
  return { place, db, notes }
}

export function away(): StoreUnavailable {
  return new StoreUnavailable('busy', 'testing')
}

/** Counts the calls of one method and lets the first ones end as the test says; later ones go through. */
export function interrupted<Args extends unknown[], R>(
  method: (...args: Args) => Promise<R>,
  ways: ('fail' | 'land-then-fail' | 'hang')[],
): { call: (...args: Args) => Promise<R>; calls: () => number } {
  let calls = 0
  return {
    calls: () => calls,
    call: async (...args) => {
      const way = ways[calls++]
      if (way === 'fail') throw away()
      if (way === 'hang') return new Promise<R>(() => {})
      const answer = await method(...args)
      if (way === 'land-then-fail') throw away()
      return answer
    },
  }
}
