import { sleep } from '../lib/clock.ts'
import { load } from '../lib/packages.ts'
import { freshFile } from '../lib/place.ts'
import { betterSqlite } from '../lib/sqlite.ts'
import { type Plainjob, QUIET } from '../peers/plainjob.ts'
import { Gate, type Probe, until } from './probe.ts'

const TYPE = 'noop'
/** Its states are numbers. */
const STATES = ['pending', 'processing', 'done', 'failed']

export const plainjobProbe: Probe = {
  peer: 'plainjob',
  library: 'plainjob',
  server: 'none',
  async run() {
    const Database = await betterSqlite()
    const { better, defineQueue, defineWorker } = await load<Plainjob>('plainjob')
    const db = new Database(freshFile('probe-plainjob.db'))
    const settings = { logger: QUIET, timeout: 300, maintenanceInterval: 100 }
    const queue = defineQueue({ connection: better(db), ...settings })
    const look = () => {
      const row = db.prepare('SELECT status, error FROM plainjob_jobs').get()
      const [error] = String(row?.error ?? '').split('\n')
      return { state: STATES[Number(row?.status)], error }
    }
    const ran: string[] = []
    const start = (name: string, gate: Gate) => {
      const handle = async () => {
        ran.push(name)
        await gate.passed()
        if (name === 'B') throw new Error('B failed')
      }
      const worker = defineWorker(TYPE, handle, { queue, logger: QUIET, pollIntervall: 20 })
      void worker.start()
      return worker
    }
    const [gateA, gateB] = [new Gate(), new Gate()]
    const a = start('A', gateA)
    queue.add(TYPE, {})
    await until(() => ran.length === 1)
    const b = start('B', gateB)
    await until(() => ran.length === 2)
    const whileBRuns = look()
    void a.stop()
    gateA.open()
    await sleep(100)
    const afterAEnded = look()
    void b.stop()
    gateB.open()
    await sleep(300)
    const afterBFailed = look()
    queue.close()
    return { whileBRuns, afterAEnded, afterBFailed }
  },
}
