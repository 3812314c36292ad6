import { sleep } from '../lib/clock.ts'
import { freshDatabase, poolOf, urlOf } from '../lib/postgres.ts'
import { type BullJob, type Bullmq, bull, redisConnection } from '../peers/bullmq.ts'
import { Gate, type Probe, until } from './probe.ts'

const DATABASE = 'probe_bullmqpg'
const QUEUE = 'probe'

async function probe(
  { Queue, Worker }: Bullmq,
  connection: unknown,
  backend?: unknown,
): Promise<Record<string, unknown>> {
  const backends = backend ? ([backend] as const) : ([] as const)
  const queue = new Queue(QUEUE, { connection, defaultJobOptions: { attempts: 5 } }, ...backends)
  const ran: string[] = []
  const errors: string[] = []
  let jobOfA: BullJob | undefined
  const start = (name: string, gate: Gate, options: object) => {
    const handle = async (job: BullJob) => {
      if (name === 'A') jobOfA = job
      ran.push(name)
      await gate.passed()
      if (name === 'B') throw new Error('B failed')
      return `by ${name}`
    }
    const worker = new Worker(QUEUE, handle, { connection, ...options }, ...backends)
    worker.on('error', (error) => errors.push(`${name}: ${error.message}`))
    return worker
  }
  const look = async (id: string) => {
    const job = await queue.getJob(id)
    const { returnvalue, attemptsMade, failedReason } = job
    return { state: await job.getState(), returnvalue, attemptsMade, failedReason }
  }
  const [gateA, gateB] = [new Gate(), new Gate()]
  const a = start('A', gateA, { lockDuration: 1000, skipLockRenewal: true, skipStalledCheck: true })
  const { id } = await queue.add(QUEUE, {})
  await until(() => ran.length === 1)
  const b = start('B', gateB, { stalledInterval: 600, lockDuration: 30_000 })
  await until(() => ran.length === 2)
  const lateProgress = await told(() => jobOfA!.updateProgress(77))
  const lateData = await told(() => jobOfA!.updateData({ by: 'A' }))
  const seenByB = await queue.getJob(id)
  gateA.open()
  await sleep(800)
  const afterAEnded = await look(id)
  gateB.open()
  await sleep(800)
  const afterBFailed = await look(id)
  await Promise.race([Promise.all([a.close(true), b.close(true), queue.close()]), sleep(3000)])
  const after = { progress: seenByB.progress, data: seenByB.data }
  return { lateProgress, lateData, after, errors: errors.slice(0, 3), afterAEnded, afterBFailed }
}

/** How the library answers a late word. */
async function told(say: () => Promise<void>): Promise<string> {
  try {
    await say()
    return 'accepted'
  } catch (error) {
    return `refused: ${error instanceof Error ? error.message : error}`
  }
}

export const bullmqProbe: Probe = {
  peer: 'bullmq',
  library: 'bullmq',
  server: 'redis',
  run: async () => probe(await bull(), redisConnection()),
}

export const bullmqPgProbe: Probe = {
  peer: 'bullmq-pg',
  library: 'bullmq',
  server: 'postgres',
  async run() {
    await freshDatabase(DATABASE)
    const library = await bull()
    const pool = await poolOf(DATABASE, 1)
    const client = await pool.connect()
    await library.runMigrations(client)
    client.release()
    await pool.end()
    return probe(library, urlOf(DATABASE), library.createPostgresBackend)
  },
}
