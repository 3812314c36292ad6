import type { Limits, Peer } from '../lib/peer.ts'

/** Loaded one by one: a process that measures one library must not carry the code of the others. */
const PEERS: Record<string, () => Promise<Peer>> = {
  'garner-sqlite': async () => (await import('./garner-sqlite.ts')).garnerSqlite,
  'garner-postgres': async () => (await import('./garner-postgres.ts')).garnerPostgres,
  plainjob: async () => (await import('./plainjob.ts')).plainjob,
  liteque: async () => (await import('./liteque.ts')).liteque,
  'graphile-worker': async () => (await import('./graphile-worker.ts')).graphileWorker,
  'pg-boss': async () => (await import('./pg-boss.ts')).pgBoss,
  'pg-boss-fetch': async () => (await import('./pg-boss-fetch.ts')).pgBossFetch,
  bullmq: async () => (await import('./bullmq.ts')).bullmq,
  'bullmq-pg': async () => (await import('./bullmq-pg.ts')).bullmqPg,
}

const LIMITS: Record<string, () => Promise<Limits>> = {
  'raw-sqlite': async () => (await import('../limits/sqlite.ts')).sqliteLimits,
  'raw-postgres': async () => (await import('../limits/postgres.ts')).postgresLimits,
  disk: async () => (await import('../limits/disk.ts')).diskLimits,
}

export const PEER_NAMES = Object.keys(PEERS)
export const LIMITS_NAMES = Object.keys(LIMITS)

/** Errors: Error for a name that is not in PEER_NAMES. */
export async function findPeer(name: string): Promise<Peer> {
  const found = PEERS[name]
  if (!found) throw new Error(`No peer ${name}. There are ${PEER_NAMES.join(', ')}.`)
  return found()
}

/** Errors: Error for a name that is not in LIMITS_NAMES. */
export async function findLimits(name: string): Promise<Limits> {
  const found = LIMITS[name]
  if (!found) throw new Error(`No limits ${name}. There are ${LIMITS_NAMES.join(', ')}.`)
  return found()
}
