import { migrate, systemClock } from '@garner/db'
import { openPostgres } from '@garner/db/postgres'
import { createPostgresStore, jobsMigrations } from '@garner/jobs/postgres'
import { countingMonitor, describePostgres, freshDatabase, urlOf, vacuum } from '../lib/postgres.ts'
import { type Backend, BOUNDS, CREATE_EFFECT, garnerPeer, garnerVersion, REMAINING } from './garner.ts'

const DATABASE = 'bench_garner'
const clock = systemClock()

async function open() {
  const db = openPostgres({ url: urlOf(DATABASE), clock })
  return { db, store: createPostgresStore({ db, bounds: BOUNDS }) }
}

export const postgresBackend: Backend = {
  name: 'garner-postgres',
  server: 'postgres',
  perCall: 5000,
  open,
  describe: async () => ({ ...(await describePostgres('pg')), version: garnerVersion() }),
  async reset() {
    await freshDatabase(DATABASE)
    const { db } = await open()
    await migrate(db, [jobsMigrations], clock)
    await db.transaction((tx) => tx.run(CREATE_EFFECT))
    await db.close()
  },
  settle: () => vacuum(DATABASE),
  monitor: () => countingMonitor(DATABASE, REMAINING),
}

export const garnerPostgres = garnerPeer(postgresBackend)
