import { execFileSync, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startServer } from './server.ts'

/**
 * A PostgreSQL cluster of the session's own in the session's folder, with PostgreSQL's default settings (fsync and
 * synchronous_commit on). The machine's own cluster is never touched. Answers the call that ends it.
 */
export async function startPostgres({
  folder,
  port,
  user,
}: {
  folder: string
  port: number
  user: string
}): Promise<() => Promise<void>> {
  const data = join(folder, 'postgres')
  mkdirSync(data)
  const options = { ...ownerOf(data), cwd: data }
  const made = spawnSync(program('initdb'), ['-D', data, '-U', user, '-A', 'trust'], {
    ...options,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  if (made.status !== 0) throw new Error(`initdb ended with ${made.status}.`, { cause: made.error })
  return startServer({
    program: program('postgres'),
    // Where it listens is all that is set; everything that a measurement could depend on is the default.
    args: [
      ...['-D', data, '-p', String(port)],
      ...['-c', 'listen_addresses=127.0.0.1', '-c', `unix_socket_directories=${data}`],
    ],
    port,
    // It listens before it serves, and says in this file when it does.
    isReady: () => readFileSync(join(data, 'postmaster.pid'), 'utf8').includes('ready'),
    signal: 'INT', // its fast shutdown: ends the sessions and writes a last checkpoint
    options,
  })
}

/** PostgreSQL refuses to run as root: then it runs as the user `postgres`, who gets the folder. */
function ownerOf(data: string): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  const owner = { uid: id('-u'), gid: id('-g') }
  chownSync(data, owner.uid, owner.gid)
  return owner
}

/** Debian keeps the server's programs out of the PATH, one folder for each version: the newest is taken. */
function program(name: string): string {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : []
  const found = versions.map((version) => join(debian, version, 'bin', name)).find((path) => existsSync(path))
  return found ?? name
}
