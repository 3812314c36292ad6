import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type Database, systemClock, type Transaction } from '@garner/db'
import { type JobKind, type JobStore, Jobs, type Json, Worker } from '@garner/jobs'
import { createIds } from '../../../apps/server/src/ids.ts'
import type { Description, Handler, Monitor, Payload, Peer } from '../lib/peer.ts'

/** One of Garner's stores, with the database that it is in. */
export interface OpenStore {
  db: Database
  store: JobStore<Transaction>
}

/** What differs between the two databases. */
export interface Backend {
  name: string
  server: Peer['server']
  /** Submissions in one of the batch calls: as many as it is fastest with. */
  perCall: number
  open(): Promise<OpenStore>
  describe(): Promise<Description>
  /** An empty database with the job tables and the table `effect`. */
  reset(): Promise<void>
  settle(): Promise<void>
  monitor(): Promise<Monitor>
}

/**
 * Everything that costs something is on in every case: fair order between ten tenants, bounds (which no case
 * reaches), the history of attempts, and an operation id on each submission, except where it is measured without.
 */
const TENANTS = 10
export const BOUNDS = { perTenant: 100_000_000, total: 100_000_000 }
export const CREATE_EFFECT = 'CREATE TABLE effect (job TEXT PRIMARY KEY, at BIGINT NOT NULL)'

/** Counted along the indexes of what is waiting and of what is claimed: the same effort whatever has been finished. */
export const REMAINING = `
  SELECT (SELECT count(*) FROM jobs WHERE state = 'ready' AND hold = 0)
       + (SELECT count(*) FROM jobs WHERE state = 'ready' AND hold = 1)
       + (SELECT count(*) FROM jobs WHERE state = 'running') AS n`

export function garnerVersion(): string {
  const manifest = new URL('../../../packages/jobs/package.json', import.meta.url)
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version
}

const KIND = {
  kind: 'noop',
  policy: { attemptsMax: 5, deadlineMs: 86_400_000, baseMs: 1000, maxMs: 60_000 },
  attemptMs: 30_000,
}
const LEASE_MS = 60_000

const clock = systemClock()
const newId = createIds({ nowMs: () => clock.nowMs(), randomBytes })

/** Few enough that two batches are not longer than a lease, enough that commits are shared. */
const SLOTS = { best: 1000, default: 8 }

/** A process has one store, as an application has: what it submits and what it claims at once then share a commit. */
class SharedStore {
  readonly #backend: Backend
  #open: Promise<OpenStore> | null = null
  #users = 0

  constructor(backend: Backend) {
    this.#backend = backend
  }

  take(): Promise<OpenStore> {
    this.#users++
    this.#open ??= this.#backend.open()
    return this.#open
  }

  async giveBack(): Promise<void> {
    this.#users--
    if (this.#users > 0) return
    const open = this.#open
    this.#open = null
    await (await open)?.db.close()
  }
}

export function garnerPeer(backend: Backend): Peer {
  const withStore = async <T>(work: (open: OpenStore) => Promise<T>): Promise<T> => {
    const open = await backend.open()
    try {
      return await work(open)
    } finally {
      await open.db.close()
    }
  }
  const shared = new SharedStore(backend)
  const { perCall } = backend
  const about = 'operation ids, ten tenants in fair order, bounds and history'
  return {
    name: backend.name,
    server: backend.server,
    configs: {
      best: { about: `1,000 jobs at a time, ${about}`, perCall },
      'no-operation-ids': {
        about: '1,000 jobs at a time, ten tenants in fair order, bounds and history',
        perCall,
      },
      default: { about: `8 jobs at a time, as in its example; ${about}`, perCall },
    },
    describe: () => backend.describe(),
    reset: () => backend.reset(),
    settle: () => backend.settle(),
    monitor: () => backend.monitor(),
    async producer(config) {
      const { store } = await shared.take()
      const jobs = new Jobs({ store, ids: newId })
      const kind = kindOf(() => {}, false)
      const newJob = (data: Payload) => ({
        payload: { ...data } as Json,
        tenant: `tenant-${data.i % TENANTS}`,
        operationId: config === 'no-operation-ids' ? undefined : newId(),
      })
      return {
        add: (data) => jobs.accept(kind, newJob(data)),
        addMany: (all) => jobs.acceptMany(kind, all.map(newJob)),
        close: () => shared.giveBack(),
      }
    },
    async worker(config, handler, { isWriting }) {
      const open = await shared.take()
      const worker = workerOn(open, { kind: kindOf(handler, isWriting), slots: slotsOf(config) })
      const end = new AbortController()
      let running: Promise<void> | undefined
      return {
        async start() {
          running = worker.run(end.signal)
        },
        stopSoon: () => end.abort(),
        async stop() {
          end.abort()
          await running
          await worker.stop(5000)
          await shared.giveBack()
        },
      }
    },
    written: () =>
      withStore(async ({ db }) =>
        Number((await db.read.get<{ n: number }>('SELECT count(*) AS n FROM effect'))!.n),
      ),
    /** By running them: the history that is in the way then is the real one. */
    finishAll: () =>
      withStore(async (open) => {
        await workerOn(open, { kind: kindOf(() => {}, false), slots: SLOTS.best }).drain()
        await backend.settle()
      }),
  }
}

function slotsOf(config: string): number {
  return config === 'default' ? SLOTS.default : SLOTS.best
}

function kindOf(handler: Handler, isWriting: boolean): JobKind<Transaction> {
  return {
    ...KIND,
    async handle({ job, payload }) {
      handler(payload as { sentMs?: number })
      if (!isWriting) return {}
      return {
        async write(tx) {
          await tx.run('INSERT INTO effect (job, at) VALUES (?, ?)', job.id, job.submittedAtMs)
          return undefined
        },
      }
    },
  }
}

function workerOn(
  { db, store }: OpenStore,
  { kind, slots }: { kind: JobKind<Transaction>; slots: number },
): Worker<Transaction> {
  return new Worker({
    ...{ store, read: db.read, clock, random: Math.random, kinds: [kind] },
    ...{ name: `worker-${process.pid}`, slots, leaseMs: LEASE_MS, pollMs: 1000 },
    onFault: (_claim, error) => {
      throw error
    },
  })
}
