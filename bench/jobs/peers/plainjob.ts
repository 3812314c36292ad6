import { load } from '../lib/packages.ts'
import type { Payload, Peer } from '../lib/peer.ts'
import { fileAt, freshFile } from '../lib/place.ts'
import { betterSqlite, countingMonitor, describeSqlite } from '../lib/sqlite.ts'

export interface Plainjob {
  better(db: unknown): unknown
  defineQueue(options: object): Queue
  defineWorker(
    type: string,
    handle: (job: { data: string }) => Promise<void>,
    options: object,
  ): { start(): Promise<void>; stop(): Promise<void> }
}
interface Queue {
  add(type: string, data: object): unknown
  addMany(type: string, data: Payload[]): unknown
  close(): void
}

const FILE = 'plainjob.db'
const TYPE = 'noop'
export const QUIET = { error() {}, warn() {}, info() {}, debug() {} }

async function open(config: string): Promise<Queue> {
  const Database = await betterSqlite()
  const { better, defineQueue } = await load<Plainjob>('plainjob')
  const db = new Database(fileAt(FILE))
  const queue = defineQueue({ connection: better(db), ...(config === 'default' ? {} : { logger: QUIET }) })
  // After the queue has opened it: the library sets NORMAL itself and has no option for it.
  if (config === 'full') db.pragma('synchronous = FULL')
  return queue
}

export const plainjob: Peer = {
  name: 'plainjob',
  server: 'none',
  configs: {
    best: { about: "No log, polling every 10 ms; the library's own durability", perCall: 5000 },
    full: {
      about: 'The same with every commit synced, set from outside',
      perCall: 5000,
      sizes: { drain: 10_000 },
    },
    default: { about: 'Nothing set: logs to the console, polls once a second', perCall: 20_000 },
  },
  describe: (config) => describeSqlite('plainjob', config === 'full'),
  async reset() {
    freshFile(FILE)
    const queue = await open('best')
    queue.close()
  },
  async producer(config) {
    const queue = await open(config)
    return {
      add: async (data) => queue.add(TYPE, data),
      addMany: async (all) => queue.addMany(TYPE, all),
      close: async () => queue.close(),
    }
  },
  async worker(config, handler) {
    const { defineWorker } = await load<Plainjob>('plainjob')
    const queue = await open(config)
    const worker = defineWorker(TYPE, async ({ data }) => handler(JSON.parse(data) as Payload), {
      queue,
      // The option is spelled so.
      ...(config === 'default' ? {} : { logger: QUIET, pollIntervall: 10 }),
    })
    return {
      async start() {
        void worker.start()
      },
      stopSoon: () => void worker.stop(),
      stop: () => worker.stop(),
    }
  },
  monitor: () =>
    countingMonitor(fileAt(FILE), 'SELECT count(*) AS n FROM plainjob_jobs WHERE status IN (0, 1)'),
  async finishAll() {
    const Database = await betterSqlite()
    const db = new Database(fileAt(FILE))
    db.exec('UPDATE plainjob_jobs SET status = 2 WHERE status IN (0, 1)')
    db.pragma('wal_checkpoint(TRUNCATE)')
    db.close()
  },
}
