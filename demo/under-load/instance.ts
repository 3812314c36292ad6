import { type ChildProcess, spawn } from 'node:child_process'
import { Agent, request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** Ten programs start on the cores of one machine. */
const READY_MS = 120_000

export interface Answer {
  status: number
  headers: NodeJS.Dict<string | string[]>
  body: string
}

/** One `garner serve`, as its own process. */
export class Instance {
  readonly name: string
  readonly port: number
  readonly #child: ChildProcess
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 200 })
  isDown = false

  private constructor({ name, port, child }: { name: string; port: number; child: ChildProcess }) {
    this.name = name
    this.port = port
    this.#child = child
  }

  /** Errors: when it ends before it listens, or takes too long, with what it said. */
  static async start(options: {
    name: string
    dataDir: string
    logDir: string
    env: Record<string, string>
  }): Promise<Instance> {
    const { name, dataDir, logDir, env } = options
    const args = [
      '--import',
      join(ROOT, 'demo/under-load/count-origin.ts'),
      join(ROOT, 'apps/server/src/main.ts'),
    ]
    const child = spawn(process.execPath, [...args, 'serve', '--demo', '--port', '0', '--data', dataDir], {
      env: { PATH: process.env.PATH, ORIGIN_READS_FILE: join(logDir, name), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const port = await listening(child, name)
    return new Instance({ name, port, child })
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /** Asked to end, and cut off if it does not. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const gone = new Promise((resolve) => this.#child.once('exit', resolve))
    this.#child.kill('SIGCONT')
    this.#child.kill('SIGTERM')
    const late = setTimeout(() => this.#child.kill('SIGKILL'), 15_000)
    await gone
    clearTimeout(late)
    this.#agent.destroy()
  }

  /** Errors: a lost connection; no answer within `timeoutMs`. */
  ask(
    path: string,
    { method = 'GET', user = 'alice', body, headers = {}, timeoutMs = 30_000 }: Ask = {},
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const text = body === undefined ? undefined : JSON.stringify(body)
      const request = httpRequest(
        {
          ...{ host: '127.0.0.1', port: this.port, path, method, agent: this.#agent },
          signal: AbortSignal.timeout(timeoutMs),
          headers: {
            'x-demo-user': user,
            ...headers,
            ...(text !== undefined && {
              'content-type': 'application/json',
              'content-length': Buffer.byteLength(text),
            }),
          },
        },
        (response) => {
          let said = ''
          response.setEncoding('utf8')
          response.on('data', (chunk) => {
            said += chunk
          })
          response.on('error', reject)
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, headers: response.headers, body: said }),
          )
        },
      )
      request.on('error', reject)
      request.end(text)
    })
  }
}

export interface Ask {
  method?: string
  user?: string
  body?: object
  headers?: Record<string, string>
  timeoutMs?: number
}

function listening(child: ChildProcess, name: string): Promise<number> {
  return new Promise((resolve, reject) => {
    let said = ''
    const late = setTimeout(() => {
      child.kill('SIGKILL')
      reject(new Error(`${name} does not listen after ${READY_MS} ms. It said:\n${said}`))
    }, READY_MS)
    const heard = (chunk: Buffer) => {
      said = (said + chunk).slice(-10_000)
      const port = /Garner listening on \S+:(\d+)/.exec(said)?.[1]
      if (port === undefined) return
      clearTimeout(late)
      resolve(Number(port))
    }
    child.stdout!.on('data', heard)
    child.stderr!.on('data', heard)
    child.once('exit', (code) => {
      clearTimeout(late)
      reject(new Error(`${name} ended with ${code} before it listened. It said:\n${said}`))
    })
  })
}
