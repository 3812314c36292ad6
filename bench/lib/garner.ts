import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export interface Running {
  port: number
  pid: number
  /** Resident memory in MB, as the kernel counts it. */
  residentMb(): number
  stop(): Promise<void>
}

/** A fresh folder that is gone when `work` ends. */
export async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'garner-bench-'))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The real program in demo mode, as its own process. */
export function startGarner({
  role = 'all',
  folder,
  env = {},
}: {
  role?: 'all' | 'serve'
  folder: string
  env?: Record<string, string>
}): Promise<Running> {
  const main = join(ROOT, 'apps/server/src/main.ts')
  return start([main, role, '--demo', '--port', '0', '--data', folder], env, /Garner listening on \S+:(\d+)/)
}

/** The yardstick: Fastify alone, parsing the same body and answering the same JSON. */
export function startBare(): Promise<Running> {
  return start([join(ROOT, 'bench/lib/bare.ts')], {}, /listening on (\d+)/)
}

/** The yardstick for a list: Fastify alone, answering the bytes of `file` from memory. */
export function startBareList(file: string): Promise<Running> {
  return start([join(ROOT, 'bench/lib/bare-list.ts'), file], {}, /listening on (\d+)/)
}

function start(args: string[], env: Record<string, string>, ready: RegExp): Promise<Running> {
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return new Promise((resolve, reject) => {
    let seen = ''
    child.stdout.on('data', (chunk) => {
      seen += chunk
      const match = ready.exec(seen)
      if (match) resolve(running(child, Number(match[1])))
    })
    child.once('exit', (code) => reject(new Error(`${args.join(' ')} ended with ${code} before it listened`)))
  })
}

function running(child: ChildProcess, port: number): Running {
  const pid = child.pid!
  return {
    port,
    pid,
    residentMb: () =>
      Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024,
    stop: () =>
      new Promise((resolve) => {
        child.removeAllListeners('exit')
        child.once('exit', () => resolve())
        child.kill('SIGTERM')
      }),
  }
}
