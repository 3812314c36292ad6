import { freshDatabase, withClient } from '../lib/postgres.ts'
import { openBoss } from '../peers/pg-boss.ts'
import { type Probe, until } from './probe.ts'

const DATABASE = 'probe_pgboss'
const QUEUE = 'noop'

async function query(text: string): Promise<Record<string, unknown> | undefined> {
  return withClient(DATABASE, async (client) => (await client.query(text)).rows[0])
}

const row = () => query(`SELECT state, retry_count, output FROM pgboss.job WHERE name = '${QUEUE}'`)

/** It can be told of a job by its id or by the job as it was fetched; the two are fenced differently. */
async function completedBy(how: 'id' | 'job'): Promise<Record<string, unknown>> {
  await freshDatabase(DATABASE)
  const boss = await openBoss({ supervise: false, schedule: false }, DATABASE)
  await boss.start()
  await boss.createQueue(QUEUE, { expireInSeconds: 60, retryLimit: 5 })
  await boss.send(QUEUE, {})
  const [a] = await boss.fetch(QUEUE, { includeMetadata: true })
  await query(`UPDATE pgboss.job SET started_on = now() - interval '2 hours' WHERE name = '${QUEUE}'`)
  await boss.supervise(QUEUE)
  const b = await until(async () => (await boss.fetch(QUEUE, { includeMetadata: true }))[0])
  const told = (job: typeof b) => (how === 'id' ? job.id : job)
  const { affected: byA } = await boss.complete(QUEUE, told(a!), { by: 'A' })
  const afterAEnded = await row()
  const { affected: byB } = await boss.fail(QUEUE, told(b), { by: 'B' })
  const afterBFailed = await row()
  await boss.stop({ graceful: false, close: true })
  return { changedByA: byA, afterAEnded, changedByB: byB, afterBFailed }
}

export const pgBossProbe: Probe = {
  peer: 'pg-boss',
  library: 'pg-boss',
  server: 'postgres',
  run: async () => ({ byId: await completedBy('id'), byJob: await completedBy('job') }),
}
