import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { startServer } from './server.ts'

/**
 * A Redis of the session's own, with its default settings. How it syncs is set by the peer's configuration, at each
 * reset. Answers the call that ends it.
 */
export async function startRedis({
  folder,
  port,
}: {
  folder: string
  port: number
}): Promise<() => Promise<void>> {
  const data = join(folder, 'redis')
  mkdirSync(data)
  return startServer({
    program: 'redis-server',
    args: ['--port', String(port), '--bind', '127.0.0.1', '--dir', data],
    port,
    signal: 'TERM',
    options: { cwd: data },
  })
}
