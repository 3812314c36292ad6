import { load } from '../lib/packages.ts'
import type { Payload, Peer } from '../lib/peer.ts'
import {
  countingMonitor,
  describePostgres,
  freshDatabase,
  type PgPool,
  poolOf,
  urlOf,
  vacuum,
} from '../lib/postgres.ts'

export interface Graphile {
  runMigrations(options: object): Promise<void>
  makeWorkerUtils(options: object): Promise<{
    addJob(task: string, payload: object): Promise<unknown>
    addJobs(jobs: { identifier: string; payload: Payload }[]): Promise<unknown>
    release(): Promise<void>
  }>
  run(options: object): Promise<{ stop(): Promise<void> }>
}

const DATABASE = 'bench_graphile'
const TASK = 'noop'
const graphile = () => load<Graphile>('graphile-worker')

/** What the project's own performance page sets for its figures. */
const BEST = {
  concurrentJobs: 24,
  maxPoolSize: 25,
  localQueue: { size: 500 },
  completeJobBatchDelay: 0,
  failJobBatchDelay: 0,
}

/** A job is deleted when it is done, so there is no history. */
export const graphileWorker: Peer = {
  name: 'graphile-worker',
  server: 'postgres',
  configs: {
    best: {
      about:
        "As its performance page: 24 jobs at a time, 25 connections, a local queue of 500, ends in batches; a producer's pool of 20",
      perCall: 5000,
    },
    default: { about: 'Nothing set but the connection', perCall: 20_000, sizes: { drain: 10_000 } },
  },
  describe: () => describePostgres('graphile-worker'),
  async reset() {
    await freshDatabase(DATABASE)
    await (await graphile()).runMigrations({ connectionString: urlOf(DATABASE) })
  },
  settle: () => vacuum(DATABASE),
  async producer(config) {
    const { makeWorkerUtils } = await graphile()
    const pool: PgPool | undefined = config === 'best' ? await poolOf(DATABASE, 20) : undefined
    const utils = await makeWorkerUtils(pool ? { pgPool: pool } : { connectionString: urlOf(DATABASE) })
    return {
      add: (data) => utils.addJob(TASK, data),
      addMany: (all) => utils.addJobs(all.map((data) => ({ identifier: TASK, payload: data }))),
      async close() {
        await utils.release()
        await pool?.end()
      },
    }
  },
  async worker(config, handler) {
    const { run } = await graphile()
    const settings = config === 'best' ? BEST : {}
    let runner: Awaited<ReturnType<typeof run>> | undefined
    const stop = async () => {
      await runner?.stop().catch(() => {}) // stopping twice is an error to it
    }
    return {
      async start() {
        runner = await run({
          preset: { worker: { connectionString: urlOf(DATABASE), ...settings } },
          noHandleSignals: true,
          crontab: '',
          taskList: { [TASK]: async (data: Payload) => handler(data) },
        })
      },
      stopSoon: () => void stop(),
      stop,
    }
  },
  monitor: () => countingMonitor(DATABASE, 'SELECT count(*) AS n FROM graphile_worker._private_jobs'),
}
