import { sleep } from '../lib/clock.ts'
import { load, versionOf } from '../lib/packages.ts'
import type { Config, Payload, Peer, PeerWorker, Producer } from '../lib/peer.ts'
import { place } from '../lib/place.ts'

export interface Bullmq {
  Queue: new (name: string, options: object, backend?: unknown) => BullQueue
  Worker: new (
    name: string,
    handle: (job: BullJob) => Promise<unknown>,
    options: object,
    backend?: unknown,
  ) => BullWorker
  createPostgresBackend: unknown
  runMigrations(client: unknown): Promise<void>
}
export interface BullQueue {
  waitUntilReady(): Promise<unknown>
  add(name: string, data: object): Promise<{ id: string }>
  addBulk(jobs: { name: string; data: Payload }[]): Promise<unknown>
  getJob(id: string): Promise<BullJob>
  getJobCounts(...states: string[]): Promise<Record<string, number>>
  obliterate(options: object): Promise<void>
  close(): Promise<void>
}
export interface BullJob {
  id: string
  data: object
  progress: unknown
  returnvalue: unknown
  failedReason: unknown
  attemptsMade: number
  getState(): Promise<string>
  updateProgress(value: number): Promise<void>
  updateData(data: object): Promise<void>
}
export interface BullWorker {
  on(event: 'error', then: (error: Error) => void): void
  waitUntilReady(): Promise<unknown>
  run(): Promise<void>
  pause(isForced: boolean): Promise<void>
  close(isForced?: boolean): Promise<void>
}

interface Redis {
  flushall(): Promise<unknown>
  config(verb: 'GET' | 'SET', name: string, value?: string): Promise<string[]>
  info(section: string): Promise<string>
  llen(key: string): Promise<number>
  disconnect(): void
}

export const QUEUE = 'noop'
export const bull = () => load<Bullmq>('bullmq')
export const redisConnection = () => ({ host: '127.0.0.1', port: place().redis.port })

async function openRedis(): Promise<Redis> {
  const { Redis } = await load<{ Redis: new (options: object) => Redis }>('ioredis')
  return new Redis(redisConnection())
}

async function withRedis<T>(work: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = await openRedis()
  try {
    return await work(redis)
  } finally {
    redis.disconnect()
  }
}

const BEST: Config = {
  // 50: the fastest of 50, 100 and 300 where this was tried.
  about:
    "Finished jobs removed, as its production guide advises; 50 jobs at a time; Redis's default durability",
  perCall: 1000,
}

export const bullmq: Peer = {
  name: 'bullmq',
  server: 'redis',
  configs: {
    best: BEST,
    synced: { ...BEST, about: 'The same, every write synced to disk (appendfsync always)' },
    default: { about: 'Nothing set: one job at a time, finished jobs kept', perCall: 20_000 },
  },
  describe: (config) =>
    withRedis(async (redis) => {
      await setDurability(redis, config)
      const [, isAppending] = await redis.config('GET', 'appendonly')
      const [, sync] = await redis.config('GET', 'appendfsync')
      const isOn = isAppending === 'yes'
      return {
        version: versionOf('bullmq'),
        backend: `redis ${/redis_version:(\S+)/.exec(await redis.info('server'))?.[1]}`,
        durability: isOn ? `appendonly=yes, appendfsync=${sync}` : 'snapshots now and then',
        isSynced: isOn && sync === 'always',
      }
    }),
  reset: (config) =>
    withRedis(async (redis) => {
      await redis.flushall()
      await setDurability(redis, config)
    }),
  producer: async (config) =>
    producerOf(await bull(), {
      connection: redisConnection(),
      ...(config === 'default' ? {} : KEEP_FEW),
    }),
  worker: async (config, handler) =>
    workerOf(await bull(), handler, {
      connection: redisConnection(),
      ...(config === 'default' ? {} : { concurrency: 50 }),
    }),
  async monitor() {
    const redis = await openRedis()
    return {
      remaining: async () =>
        (await redis.llen(`bull:${QUEUE}:wait`)) + (await redis.llen(`bull:${QUEUE}:active`)),
      close: async () => redis.disconnect(),
    }
  },
}

export const KEEP_FEW = { defaultJobOptions: { removeOnComplete: true, removeOnFail: 1000 } }

/** Turning the log on makes Redis write what it holds; waits for the end of that. */
async function setDurability(redis: Redis, config: string): Promise<void> {
  await redis.config('SET', 'appendfsync', config === 'synced' ? 'always' : 'everysec')
  await redis.config('SET', 'appendonly', config === 'synced' ? 'yes' : 'no')
  while (/aof_rewrite_in_progress:1|aof_rewrite_scheduled:1/.test(await redis.info('persistence')))
    await sleep(20)
}

export async function producerOf({ Queue }: Bullmq, options: object, backend?: unknown): Promise<Producer> {
  const queue = backend ? new Queue(QUEUE, options, backend) : new Queue(QUEUE, options)
  await queue.waitUntilReady()
  return {
    add: (data) => queue.add(QUEUE, data),
    addMany: (all) => queue.addBulk(all.map((data) => ({ name: QUEUE, data }))),
    close: () => queue.close(),
  }
}

export async function workerOf(
  { Worker }: Bullmq,
  handler: (data: Payload) => void,
  options: object,
  backend?: unknown,
): Promise<PeerWorker> {
  const handle = async (job: BullJob) => handler(job.data as Payload)
  const all = { ...options, autorun: false }
  const worker = backend ? new Worker(QUEUE, handle, all, backend) : new Worker(QUEUE, handle, all)
  worker.on('error', (error) => console.error(error.message))
  await worker.waitUntilReady()
  return {
    async start() {
      void worker.run().catch(() => {}) // it rejects when it is closed
    },
    stopSoon: () => void worker.pause(true).catch(() => {}),
    stop: () => worker.close(),
  }
}
