import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@garner/db'
import { Redis } from 'ioredis'

/** The program that tests use as a shared cache; null where there is none. */
export const redisProgram =
  ['valkey-server', 'redis-server'].find((name) => spawnSync(name, ['--version']).status === 0) ?? null

/** A server of one test file's own, on a free port, without persistence, that can be killed, stopped and restarted. */
export class RedisServer {
  readonly port: number
  readonly #dir = mkdtempSync(join(tmpdir(), 'garner-redis-'))
  #process: ChildProcess | null = null

  private constructor(port: number) {
    this.port = port
  }

  /** Started and answering. Errors: when there is no such program, or it does not answer within 10 s. */
  static async start(): Promise<RedisServer> {
    const server = new RedisServer(await freePort())
    await server.start()
    return server
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`
  }

  async start(): Promise<void> {
    if (!redisProgram) throw new Error('These tests need valkey-server or redis-server on the path.')
    const args = ['--port', String(this.port), '--bind', '127.0.0.1', '--save', '', '--dir', this.#dir]
    this.#process = spawn(redisProgram, args, { stdio: 'ignore' })
    const probe = new Redis(this.url, { retryStrategy: () => 20, maxRetriesPerRequest: 400 })
    probe.on('error', () => {})
    try {
      await probe.ping()
    } finally {
      probe.disconnect()
    }
  }

  /** Its process gets the signal: KILL, STOP (it hangs), CONT (it goes on). */
  signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
    this.#process?.kill(name)
  }

  async kill(): Promise<void> {
    const process = this.#process
    if (!process || process.exitCode !== null || process.signalCode !== null) return
    const gone = new Promise((resolve) => process.once('exit', resolve))
    process.kill('SIGKILL')
    await gone
  }

  async close(): Promise<void> {
    await this.kill()
    rmSync(this.#dir, { recursive: true, force: true })
  }
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}

/** Until `isSo`, looking every few ms; for what happens in another process. */
export async function until(isSo: () => boolean | Promise<boolean>, withinMs = 5_000): Promise<void> {
  const clock = systemClock()
  const endMs = clock.monotonicMs() + withinMs
  while (!(await isSo())) {
    if (clock.monotonicMs() > endMs) throw new Error('It did not come to be within its time.')
    await clock.sleep(5)
  }
}
