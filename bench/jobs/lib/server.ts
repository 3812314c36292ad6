import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { connect } from 'node:net'
import { sleep } from './clock.ts'

export interface ServerOptions {
  program: string
  args: string[]
  port: number
  /** What the server takes as the wish to end at once and in order. */
  signal: 'INT' | 'TERM'
  /** Whether it serves; default: as soon as it listens. */
  isReady?: () => boolean
  options?: Pick<SpawnOptions, 'uid' | 'gid' | 'cwd'>
}

/**
 * Starts the server and ends it when its standard input closes. That is so when the session asks for it, and also
 * when the session is killed: then nobody else would end the server, and the next session would find its port taken.
 */
const TIED = `
  signal=$1; shift
  exec 3<&0 # in the background a shell gives its programs an empty input
  "$@" 3<&- & server=$!
  (cat <&3 >/dev/null; kill -"$signal" $server) & watcher=$!
  wait $server; code=$?
  kill $watcher 2>/dev/null
  exit $code
`

/**
 * Runs a server as a child, so that its processor time counts as ours. Resolves when it listens on the loopback
 * address, with the call that ends it. Errors: Error when the port is taken or the server does not come up.
 */
export async function startServer(server: ServerOptions): Promise<() => Promise<void>> {
  const { program, args, port, signal, options, isReady = () => true } = server
  if (await isListening(port)) throw new Error(`Something listens on port ${port} already.`)
  const child = spawn('sh', ['-c', TIED, 'sh', signal, program, ...args], {
    ...options,
    stdio: ['pipe', 'ignore', process.env.BENCH_VERBOSE ? 'inherit' : 'ignore'],
  })
  for (let waitedMs = 0; waitedMs < 30_000; waitedMs += 50) {
    if (child.exitCode !== null)
      throw new Error(`${program} ended with ${child.exitCode} before it listened.`)
    if ((await isListening(port)) && isReady()) return () => endOf(child)
    await sleep(50)
  }
  await endOf(child)
  throw new Error(`${program} was not ready on port ${port} within 30 s.`)
}

async function endOf(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.stdin?.end()
  await gone
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
