import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { Agent, request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** Ten programs start on the cores of one machine. */
const READY_MS = 120_000
/** So often a file is looked for, every 10 ms: to collect garbage takes some tens of ms, and for ever while stopped. */
const LOOKS = 500

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
  readonly #weightFile: string
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 200 })

  private constructor(made: { name: string; port: number; child: ChildProcess; weightFile: string }) {
    this.name = made.name
    this.port = made.port
    this.#child = made.child
    this.#weightFile = made.weightFile
  }

  /** Errors: when it ends before it listens, or takes too long, with what it said. */
  static async start(options: {
    name: string
    dataDir: string
    logDir: string
    env: Record<string, string>
  }): Promise<Instance> {
    const { name, dataDir, logDir, env } = options
    const within = ['count-origin.ts', 'weigh-itself.ts'].map(
      (file) => `--import=${join(ROOT, 'demo/fleet', file)}`,
    )
    const main = [join(ROOT, 'apps/server/src/main.ts'), 'serve', '--demo', '--port', '0', '--data', dataDir]
    const weightFile = `${dataDir}.${name}.weight`
    const child = spawn(process.execPath, ['--expose-gc', ...within, ...main], {
      env: {
        ...{ PATH: process.env.PATH, ORIGIN_READS_FILE: join(logDir, name), WEIGHT_FILE: weightFile },
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const port = await listening(child, name)
    return new Instance({ name, port, child, weightFile })
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  /** Resident memory in MB, as the kernel counts it; null where there is no /proc, and of one that has ended. */
  get residentMb(): number | null {
    const kb = /^VmRSS:\s+(\d+) kB$/m.exec(readOrNull(`/proc/${this.#child.pid}/status`) ?? '')?.[1]
    return kb === undefined ? null : (Number(kb) * 1_024) / MB
  }

  /** What it keeps once its garbage is collected, in MB; null when it does not say. Costs it some tens of ms. */
  async keptMb(): Promise<number | null> {
    rmSync(this.#weightFile, { force: true })
    this.signal('SIGUSR2')
    for (let n = 0; n < LOOKS && !this.hasEnded; n++) {
      await new Promise((resolve) => setTimeout(resolve, 10))
      const text = readOrNull(this.#weightFile)
      if (text) return Number(text) / MB
    }
    return null
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /** Asked to end, and cut off if it does not. */
  async stop(): Promise<void> {
    if (this.hasEnded) return
    const gone = new Promise((resolve) => this.#child.once('exit', resolve))
    this.#child.kill('SIGCONT')
    this.#child.kill('SIGTERM')
    const late = setTimeout(() => this.#child.kill('SIGKILL'), 15_000)
    await gone
    clearTimeout(late)
    this.#agent.destroy()
  }

  /**
   * Errors: a lost connection; no answer within `timeoutMs`. A connection that was kept open may be closed by the server
   * in the moment in which it is used again: what only reads is then sent once more, as every client does.
   */
  ask(path: string, options: Ask = {}): Promise<Answer> {
    const {
      method = 'GET',
      user = 'alice',
      body,
      headers = {},
      timeoutMs = 30_000,
      isAgain = false,
    } = options
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
      request.on('error', (error: NodeJS.ErrnoException) => {
        const wasClosed = request.reusedSocket && error.code === 'ECONNRESET'
        if (wasClosed && method === 'GET' && !isAgain) resolve(this.ask(path, { ...options, isAgain: true }))
        else reject(error)
      })
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
  isAgain?: boolean
}

const MB = 1_048_576

function readOrNull(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return null
  }
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
