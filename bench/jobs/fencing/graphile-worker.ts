import { sleep } from '../lib/clock.ts'
import { load } from '../lib/packages.ts'
import { freshDatabase, urlOf, withClient } from '../lib/postgres.ts'
import type { Graphile } from '../peers/graphile-worker.ts'
import { Gate, type Probe, until } from './probe.ts'

const DATABASE = 'probe_graphile'
const TASK = 'noop'

async function row(): Promise<Record<string, unknown> | undefined> {
  const text = 'SELECT attempts, locked_by, last_error FROM graphile_worker._private_jobs'
  return withClient(DATABASE, async (client) => (await client.query(text)).rows[0])
}

export const graphileWorkerProbe: Probe = {
  peer: 'graphile-worker',
  library: 'graphile-worker',
  server: 'postgres',
  async run() {
    await freshDatabase(DATABASE)
    const { run, makeWorkerUtils, runMigrations } = await load<Graphile>('graphile-worker')
    await runMigrations({ connectionString: urlOf(DATABASE) })
    const ran: string[] = []
    const start = (name: string, gate: Gate, options: object) =>
      run({
        preset: { worker: { connectionString: urlOf(DATABASE), pollInterval: 200, ...options } },
        noHandleSignals: true,
        crontab: '',
        taskList: {
          async [TASK]() {
            ran.push(name)
            await gate.passed()
            if (name === 'B') throw new Error('B failed')
          },
        },
      })
    const [gateA, gateB] = [new Gate(), new Gate()]
    const utils = await makeWorkerUtils({ connectionString: urlOf(DATABASE) })
    const a = await start('A', gateA, {})
    await utils.addJob(TASK, {})
    await until(() => ran.length === 1)
    // Its limit is four hours, and fixed: they have passed.
    await withClient(DATABASE, (client) =>
      client.query("UPDATE graphile_worker._private_jobs SET locked_at = now() - interval '5 hours'"),
    )
    const b = await start('B', gateB, { minResetLockedInterval: 300, maxResetLockedInterval: 400 })
    await until(() => ran.length === 2)
    const whileBRuns = await row()
    gateA.open()
    await sleep(1000)
    const afterA = await row()
    gateB.open()
    await sleep(1000)
    const afterB = await row()
    await a.stop()
    await b.stop()
    await utils.release()
    return {
      whileBRuns,
      afterAEnded: afterA ?? 'no job: it counts as done while B is at it',
      afterBFailed: afterB ?? 'no job: the failure and its retry are lost',
    }
  },
}
