import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineKind, Jobs, migrate, Retry, systemClock, type Transaction, Worker } from '@garner/jobs'
import { createSqliteStore, jobsMigrations, openSqlite } from '@garner/jobs/sqlite'

/**
 * A shop confirms orders: the order and its job are accepted together, the confirmation and the job's end are
 * published together. The first try fails on purpose, to show who owns the retry.
 */
const folder = mkdtempSync(join(tmpdir(), 'jobs-example-'))
const clock = systemClock()
const db = openSqlite({ path: join(folder, 'shop.db'), clock })
await migrate(db, [jobsMigrations], clock)
await db.transaction((tx) => tx.run('CREATE TABLE orders (id TEXT PRIMARY KEY, status TEXT NOT NULL)'))
const store = createSqliteStore({ db, clock, bounds: { perTenant: 200, total: 100_000 } })
// Ids sort by the time they were made, so that lists are newest first.
const ids = () => `${clock.nowMs().toString(16).padStart(12, '0')}-${randomUUID()}`
const jobs = new Jobs<Transaction>({ store, ids })

const confirmOrder = defineKind<Transaction, { order: string }>({
  kind: 'confirm-order',
  policy: { attemptsMax: 4, deadlineMs: 3_600_000, baseMs: 10, maxMs: 60_000 },
  attemptMs: 30_000,
  async handle({ job, payload }) {
    if (job.attempt === 1) throw new Retry('warehouse_busy')
    return {
      write: async (tx) => {
        await tx.run("UPDATE orders SET status = 'confirmed' WHERE id = ?", payload.order)
        return undefined
      },
    }
  },
})

// Accepted together: if either is there, both are.
await db.transaction(async (tx) => {
  await tx.run('INSERT INTO orders (id, status) VALUES (?, ?)', 'order-1', 'new')
  await jobs.submit(tx, confirmOrder, { tenant: 'shop-7', payload: { order: 'order-1' } })
})

const worker = new Worker({
  ...{ store, read: db.read, clock, random: Math.random, kinds: [confirmOrder] },
  ...{ name: 'worker-1', slots: 8, leaseMs: 30_000, pollMs: 20 },
  onEnd: (claim, end) => console.log(`attempt ${claim.job.attempt}: ${end}`),
})
const stop = new AbortController()
const running = worker.run(stop.signal)
while ((await store.counts()).some(({ state }) => state === 'ready' || state === 'running'))
  await clock.sleep(5)
stop.abort()
await running

console.log(await db.read.get('SELECT id, status FROM orders'))
await db.close()
rmSync(folder, { recursive: true })
