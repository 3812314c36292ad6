import { load } from '../lib/packages.ts'
import type { Payload, Peer } from '../lib/peer.ts'
import { fileAt, freshFile } from '../lib/place.ts'
import { type BetterTransaction, betterSqlite, countingMonitor, describeSqlite } from '../lib/sqlite.ts'

interface Liteque {
  buildDBClient(
    path: string,
    options: { runMigrations: boolean },
  ): {
    $client?: { pragma(text: string): void }
    session: { client: { pragma(text: string): void } }
  }
  SqliteQueue: new (name: string, db: unknown, options: object) => LitequeQueue
  Runner: new (
    queue: LitequeQueue,
    functions: { run(job: { data: Payload }): Promise<void> },
    options: object,
  ) => { run(): Promise<void>; stop(): void }
}
export interface LitequeQueue {
  enqueue(data: object): Promise<unknown>
  attemptDequeue(options: { timeoutSecs: number }): Promise<{ id: number; allocationId: string } | null>
  finalize(id: number, allocationId: string, status: string): Promise<unknown>
  stats(): Promise<object>
}

const FILE = 'liteque.db'
const QUEUE = 'noop'
const SLOW = { drain: 2000, memory: 10_000, backlog: 50_000, window: 1000 }

let areAllowed = false

/**
 * liteque gives `transaction` an async function. better-sqlite3 took one until 11.3 and committed at the function's
 * first await; later ones refuse it, and 11.3 does not compile for Node 24. So the promise is kept out of the later
 * one's sight, and what happens is what happened with 11.3.
 */
async function allowAsyncTransactions(): Promise<void> {
  if (areAllowed) return
  areAllowed = true
  const { prototype } = await betterSqlite()
  const plain = prototype.transaction
  prototype.transaction = function <A extends unknown[], R>(
    work: (...args: A) => R,
  ): BetterTransaction<A, R> {
    let answer: R
    const hidden = plain.call(this, ((...args: A) => {
      answer = work(...args)
    }) as (...args: unknown[]) => void)
    const run =
      (how: (...args: unknown[]) => void) =>
      (...args: A): R => {
        how(...args)
        return answer
      }
    return Object.assign(run(hidden), {
      deferred: run(hidden.deferred),
      immediate: run(hidden.immediate),
      exclusive: run(hidden.exclusive),
    })
  }
}

export async function openLiteque({
  file,
  isSynced,
  isNew = false,
  queueOptions,
}: {
  file: string
  isSynced: boolean
  isNew?: boolean
  queueOptions: object
}): Promise<LitequeQueue> {
  await allowAsyncTransactions()
  const { buildDBClient, SqliteQueue } = await load<Liteque>('liteque')
  const db = buildDBClient(file, { runMigrations: isNew })
  if (isSynced) (db.$client ?? db.session.client).pragma('synchronous = FULL')
  return new SqliteQueue(QUEUE, db, queueOptions)
}

const open = (config: string, isNew = false) =>
  openLiteque({
    file: fileAt(FILE),
    isSynced: config === 'full',
    isNew,
    queueOptions: { defaultJobArgs: { numRetries: 2 }, keepFailedJobs: false },
  })

/** A job is deleted when it is done, so there is no history. It has no batch call. */
export const liteque: Peer = {
  name: 'liteque',
  server: 'none',
  configs: {
    best: {
      about: "10 jobs at a time, polling every 10 ms; the library's own durability",
      perCall: 1000,
      sizes: SLOW,
    },
    full: { about: 'The same with every commit synced, set from outside', perCall: 1000, sizes: SLOW },
    default: {
      about: 'One job at a time, polling once a second, as in its example',
      perCall: 1000,
      sizes: { ...SLOW, latency: 50 },
    },
  },
  describe: (config) => describeSqlite('liteque', config === 'full'),
  async reset(config) {
    freshFile(FILE)
    await open(config, true)
  },
  async producer(config) {
    const queue = await open(config)
    return {
      add: (data) => queue.enqueue(data),
      async addMany(all) {
        for (const data of all) await queue.enqueue(data)
      },
      async close() {},
    }
  },
  async worker(config, handler) {
    const { Runner } = await load<Liteque>('liteque')
    const pace =
      config === 'default'
        ? { concurrency: 1, pollIntervalMs: 1000 }
        : { concurrency: 10, pollIntervalMs: 10 }
    const runner = new Runner(
      await open(config),
      { run: async ({ data }) => handler(data) },
      { ...pace, timeoutSecs: 60 },
    )
    return {
      // Not caught: when its loop fails, this process must end, or the case would wait for it.
      async start() {
        void runner.run()
      },
      stopSoon: () => runner.stop(),
      stop: async () => runner.stop(),
    }
  },
  monitor: () => countingMonitor(fileAt(FILE), "SELECT count(*) AS n FROM tasks WHERE status <> 'failed'"),
}
