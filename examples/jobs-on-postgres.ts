import { randomUUID } from 'node:crypto'
import { defineKind, Jobs, migrate, Retry, systemClock, type Transaction, Worker } from '@garner/jobs'
import { createPostgresStore, fromPg, jobsMigrations, openPostgres } from '@garner/jobs/postgres'
import pg from 'pg'

/**
 * A shop confirms orders. It has a pool of its own, and its own transaction carries the submission: the order and its
 * job are accepted together, the confirmation and the job's end are published together. The first try fails on
 * purpose, to show who owns the retry.
 */
const url = process.env.DATABASE_URL ?? 'postgres://postgres@127.0.0.1:5432/shop'
const shop = new pg.Pool({ connectionString: url })
await shop.query('CREATE TABLE IF NOT EXISTS orders (id TEXT PRIMARY KEY, status TEXT NOT NULL)')

const clock = systemClock()
const db = openPostgres({ url, clock })
await migrate(db, [jobsMigrations], clock)
const store = createPostgresStore({ db, bounds: { perTenant: 200, total: 100_000 } })
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
const order = `order-${randomUUID()}`
const client = await shop.connect()
try {
  await client.query('BEGIN')
  await client.query('INSERT INTO orders (id, status) VALUES ($1, $2)', [order, 'new'])
  await jobs.submit(fromPg(client), confirmOrder, { tenant: 'shop-7', payload: { order } })
  await client.query('COMMIT')
} catch (error) {
  await client.query('ROLLBACK')
  throw error
} finally {
  client.release()
}

const worker = new Worker({
  ...{ store, read: db.read, clock, random: Math.random, kinds: [confirmOrder] },
  ...{ name: 'worker-1', slots: 8, leaseMs: 30_000, pollMs: 1_000 },
  onEnd: (claim, end) => console.log(`attempt ${claim.job.attempt}: ${end}`),
})
const stop = new AbortController()
const running = worker.run(stop.signal)
while ((await store.counts()).some(({ state }) => state === 'ready' || state === 'running'))
  await clock.sleep(5)
stop.abort()
await running

const { rows } = await shop.query('SELECT status FROM orders WHERE id = $1', [order])
console.log(rows[0])
await db.close()
await shop.end()
