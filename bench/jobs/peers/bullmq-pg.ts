import type { Peer } from '../lib/peer.ts'
import { describePostgres, freshDatabase, poolOf, urlOf, vacuum } from '../lib/postgres.ts'
import { bull, KEEP_FEW, producerOf, QUEUE, workerOf } from './bullmq.ts'

const DATABASE = 'bench_bullmqpg'
const connectionOf = (config: string) =>
  config === 'best' ? { connectionString: urlOf(DATABASE), max: 20 } : urlOf(DATABASE)

/** BullMQ on its PostgreSQL backend. */
export const bullmqPg: Peer = {
  name: 'bullmq-pg',
  server: 'postgres',
  configs: {
    best: {
      about: 'Finished jobs removed, 8 jobs at a time, pools of 20',
      perCall: 1000,
      sizes: { drain: 5000, memory: 20_000, backlog: 200_000, window: 5000 },
    },
    default: {
      about: 'Nothing set but the connection: one job at a time, finished jobs kept',
      perCall: 20_000,
      sizes: { drain: 5000, memory: 20_000, backlog: 200_000, window: 5000 },
    },
  },
  describe: () => describePostgres('bullmq'),
  async reset() {
    await freshDatabase(DATABASE)
    const { runMigrations } = await bull()
    const pool = await poolOf(DATABASE, 1)
    const client = await pool.connect()
    await runMigrations(client)
    client.release()
    await pool.end()
  },
  settle: () => vacuum(DATABASE),
  async producer(config) {
    const library = await bull()
    const options = { connection: connectionOf(config), ...(config === 'best' ? KEEP_FEW : {}) }
    return producerOf(library, options, library.createPostgresBackend)
  },
  async worker(config, handler) {
    const library = await bull()
    const options = { connection: connectionOf(config), ...(config === 'best' ? { concurrency: 8 } : {}) }
    return workerOf(library, handler, options, library.createPostgresBackend)
  },
  async monitor() {
    const { Queue, createPostgresBackend } = await bull()
    const queue = new Queue(QUEUE, { connection: urlOf(DATABASE) }, createPostgresBackend)
    return {
      async remaining() {
        const counts = await queue.getJobCounts('wait', 'active', 'delayed', 'prioritized')
        return Object.values(counts).reduce((sum, one) => sum + one, 0)
      },
      close: () => queue.close(),
    }
  },
}
