import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setPlace } from './place.ts'
import { startPostgres } from './postgres-cluster.ts'
import { startRedis } from './redis-server.ts'

export type Server = 'none' | 'postgres' | 'redis'

/** Far from the usual ones: whatever runs there on this machine is not ours. */
const POSTGRES_PORT = 55_432
const REDIS_PORT = 56_379
const TMPFS = 0x01021994

/**
 * Runs `work` with a fresh folder and the servers it needs, and takes both away afterwards. The folder is in TMPDIR.
 * Errors: Error when that is in memory, where a sync costs nothing and every durable figure would be a lie.
 */
export async function withWorkplace<T>(servers: Set<Server>, work: () => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'garner-bench-jobs-'))
  const stops: (() => Promise<void>)[] = []
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  process.once('exit', remove)
  try {
    if (statfsSync(folder).type === TMPFS)
      throw new Error(`${folder} is in memory. Set TMPDIR to a folder on a disk.`)
    chmodSync(folder, 0o711) // PostgreSQL may run as another user, and has to get through to its own folder
    setPlace({
      folder,
      postgres: { port: POSTGRES_PORT, user: 'postgres' },
      redis: { port: REDIS_PORT },
    })
    if (servers.has('postgres'))
      stops.push(await startPostgres({ folder, port: POSTGRES_PORT, user: 'postgres' }))
    if (servers.has('redis')) stops.push(await startRedis({ folder, port: REDIS_PORT }))
    return await work()
  } finally {
    for (const stop of stops) await stop()
    remove()
    process.off('exit', remove)
  }
}
