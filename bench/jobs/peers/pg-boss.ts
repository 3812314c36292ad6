import { load } from '../lib/packages.ts'
import type { Payload, Peer } from '../lib/peer.ts'
import {
  countingMonitor,
  describePostgres,
  freshDatabase,
  urlOf,
  vacuum,
  withClient,
} from '../lib/postgres.ts'

export interface Boss {
  on(event: 'error', then: (error: Error) => void): void
  start(): Promise<unknown>
  stop(options: object): Promise<void>
  createQueue(name: string, options?: object): Promise<void>
  send(name: string, data: object): Promise<unknown>
  insert(name: string, jobs: { data: Payload }[]): Promise<unknown>
  work(
    name: string,
    options: object,
    handler: (jobs: BossJob[], tx: BossTx) => Promise<void>,
  ): Promise<string>
  offWork(name: string, options: object): Promise<void>
  fetch(name: string, options: object): Promise<BossJob[]>
  complete(
    name: string,
    jobs: BossJob[] | BossJob | string,
    data?: object | null,
  ): Promise<{ affected: number }>
  fail(name: string, job: BossJob | string, data?: object): Promise<{ affected: number }>
  supervise(name: string): Promise<void>
}
export interface BossJob {
  id: string
  retryCount: number
  data: Payload
}
/** The transaction in which a `transactional` worker ends its batch. */
interface BossTx {
  executeSql(sql: string, values: unknown[]): Promise<unknown>
}

export const DATABASE = 'bench_pgboss'
export const QUEUE = 'noop'

export async function openBoss(options: object, database = DATABASE): Promise<Boss> {
  const { PgBoss } = await load<{ PgBoss: new (options: object) => Boss }>('pg-boss')
  const boss = new PgBoss({ connectionString: urlOf(database), ...options })
  boss.on('error', (error) => console.error(error.message))
  return boss
}

const NOW = { graceful: false, close: true }

export const pgBoss: Peer = {
  name: 'pg-boss',
  server: 'postgres',
  configs: {
    best: {
      about:
        'work() with batches of 2,000, two at a time, fetching on while batches are full, LISTEN/NOTIFY; pools of 20',
      perCall: 5000,
    },
    default: {
      about: 'Nothing set but the connection: one job each 2 s',
      perCall: 20_000,
      sizes: { drain: 1000, drainMaxMs: 12_000, latency: 30, memory: 1000, window: 50 },
    },
  },
  describe: () => describePostgres('pg-boss'),
  async reset(config) {
    await freshDatabase(DATABASE)
    const boss = await openBoss({})
    await boss.start()
    await boss.createQueue(QUEUE, config === 'best' ? { notify: true } : undefined)
    await boss.stop(NOW)
    await withClient(DATABASE, (client) =>
      client.query('CREATE TABLE effect (job text PRIMARY KEY, at bigint)'),
    )
  },
  settle: () => vacuum(DATABASE),
  async producer(config) {
    const boss = await openBoss(config === 'best' ? { max: 20, supervise: false, schedule: false } : {})
    await boss.start()
    return {
      add: (data) => boss.send(QUEUE, data),
      addMany: (all) =>
        boss.insert(
          QUEUE,
          all.map((data) => ({ data })),
        ),
      close: () => boss.stop(NOW),
    }
  },
  async worker(config, handler, { isWriting }) {
    const isBest = config === 'best'
    const boss = await openBoss(isBest ? { max: 20, useListenNotify: true } : {})
    await boss.start()
    const options = isBest
      ? { batchSize: 2000, localConcurrency: 2, burstWhenBatchFull: true, pollingIntervalSeconds: 0.5 }
      : {}
    return {
      async start() {
        await boss.work(QUEUE, { ...options, transactional: isWriting }, async (jobs, tx) => {
          for (const { data } of jobs) handler(data)
          if (isWriting) await writeEffects(tx, jobs)
        })
      },
      stopSoon: () => void boss.offWork(QUEUE, { wait: false }).catch(() => {}),
      stop: () => boss.stop({ graceful: true, close: true, timeout: 5000 }),
    }
  },
  monitor: () =>
    countingMonitor(
      DATABASE,
      `SELECT count(*) AS n FROM pgboss.job WHERE name = '${QUEUE}' AND state < 'completed'`,
    ),
  // One transaction for a batch: its rows and ends are there together or not at all.
  written: () =>
    withClient(DATABASE, async (client) => {
      const { rows } = await client.query('SELECT count(*) AS n FROM effect')
      return Number(rows[0]?.n)
    }),
  finishAll: () =>
    withClient(DATABASE, async (client) => {
      await client.query(
        `UPDATE pgboss.job SET state = 'completed', started_on = now(), completed_on = now()
         WHERE name = $1 AND state < 'completed'`,
        [QUEUE],
      )
      await client.query('VACUUM ANALYZE')
    }),
}

async function writeEffects(tx: BossTx, jobs: BossJob[]): Promise<void> {
  const ids = jobs.map(({ id }) => id)
  await tx.executeSql('INSERT INTO effect (job, at) SELECT id, 1 FROM unnest($1::text[]) AS t (id)', [ids])
}
