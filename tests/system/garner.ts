/**
 * Real Garner processes for tests: `node apps/server/src/main.ts …` as a person starts it, on a free port, over a
 * data folder of its own.
 *
 * Nothing stays behind: what a test started is cut off and its folder removed after the test (`lifetime: 'file'`: after
 * the file's last one), also when the test fails; and when the whole run is cut off, with it.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const main = join(root, 'apps/server/src/main.ts')

type Lifetime = 'test' | 'file'

export interface Exit {
  /** Null when a signal ended it. */
  code: number | null
  signal: NodeJS.Signals | null
}

export interface GarnerProcess {
  /** `http://127.0.0.1:PORT`; empty for the role `work`, which listens nowhere. */
  readonly url: string
  readonly pid: number
  readonly dataDir: string
  /** All it has said so far, standard output and standard error as they came. */
  readonly log: string
  /** Resolves when it has ended, however that came about. */
  readonly exited: Promise<Exit>
  /** Sends a signal and returns at once; such as SIGSTOP and SIGCONT. */
  signal(signal: NodeJS.Signals): void
  /** Asks it to end and waits until it has. Errors: when it has not after 15 s (the contract says 10). */
  stop(signal?: NodeJS.Signals): Promise<Exit>
  /** Cuts it off: SIGKILL, without a chance to say anything. */
  kill(): Promise<Exit>
}

export interface StartOptions {
  /** Role and switches; `['all', '--demo']` unless told. `--port 0` is added unless there is a `--port`. */
  args?: string[]
  /** Settings. The surrounding GARNER_*, PORT and NODE_ENV are not inherited. */
  env?: Record<string, string>
  /** An existing folder; a new temporary one unless told. */
  dataDir?: string
  lifetime?: Lifetime
}

/** 2 s is the promise on an idle machine; here tests of ten programs may share two cores. */
const READY_MS = 30_000
const STOP_MS = 15_000

/**
 * Starts Garner and waits until it is ready: "Garner listening on …", or "Garner working".
 * Errors: when it ends or is not ready within 30 s, with everything it said.
 */
export async function startGarner(options: StartOptions = {}): Promise<GarnerProcess> {
  const { args = ['all', '--demo'], env = {}, lifetime = 'test' } = options
  const dataDir = options.dataDir ?? tempDir({ lifetime })
  const port = args.includes('--port') ? [] : ['--port', '0']
  const { child, output, exited } = launch(
    [main, ...args, ...port],
    { GARNER_DATA: dataDir, ...env },
    { lifetime },
  )
  const garner = {
    url: '',
    pid: child.pid ?? 0,
    dataDir,
    get log() {
      return output.all
    },
    exited,
    signal: (signal: NodeJS.Signals) => void child.kill(signal),
    async stop(signal: NodeJS.Signals = 'SIGTERM') {
      child.kill(signal)
      return within(
        STOP_MS,
        exited,
        () => `${garner.pid} did not end after ${signal}. It said:\n${output.all}`,
      )
    },
    async kill() {
      child.kill('SIGKILL')
      return exited
    },
  }
  let hasEnded = false
  void exited.then(() => {
    hasEnded = true
  })
  const ready = /^Garner (?:listening on (http:\/\/\S+)|working)$/m
  await until(() => hasEnded || ready.test(output.stdout), {
    timeoutMs: READY_MS,
    what: () => `Garner ready. It said:\n${output.all}`,
  })
  const said = ready.exec(output.stdout)
  if (!said)
    throw new Error(`Garner ended before it was ready (${JSON.stringify(await exited)}):\n${output.all}`)
  garner.url = said[1] ?? ''
  return garner
}

/**
 * Runs a role that ends by itself: `step`, `check`, `faults`, `migrate`, `backup FILE`, `restore FILE`.
 * Over another Garner's data, pass its `dataDir` as `GARNER_DATA`.
 */
export async function runGarner(
  args: string[],
  env: Record<string, string> = {},
): Promise<{ stdout: string; stderr: string; code: number | null; signal: NodeJS.Signals | null }> {
  const data = env.GARNER_DATA ?? tempDir()
  const { output, exited } = launch([main, ...args], { ...env, GARNER_DATA: data })
  const exit = await within(
    60_000,
    exited,
    () => `garner ${args.join(' ')} did not end. It said:\n${output.all}`,
  )
  return { stdout: output.stdout, stderr: output.stderr, ...exit }
}

/** A new folder, removed after the test or the file. */
export function tempDir({ lifetime = 'test' }: { lifetime?: Lifetime } = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'garner-system-'))
  folders[lifetime].add(folder)
  return folder
}

/**
 * Polls until `predicate` gives something truthy, and returns that. A predicate that throws has not come true yet.
 * Errors: after `timeoutMs` (10 s), with `what` was awaited and the last thing thrown as its cause.
 */
export async function until<T>(
  predicate: () => T | Promise<T>,
  options: { timeoutMs?: number; everyMs?: number; what?: () => string } = {},
): Promise<NonNullable<T>> {
  const { timeoutMs = 10_000, everyMs = 25, what = () => predicate.toString() } = options
  const giveUpAtMs = performance.now() + timeoutMs
  let cause: unknown
  for (;;) {
    try {
      const value = await predicate()
      if (value) return value
      cause = undefined
    } catch (error) {
      cause = error
    }
    if (performance.now() > giveUpAtMs) throw new Error(`Not within ${timeoutMs} ms: ${what()}`, { cause })
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
}

const children: Record<Lifetime, Set<ChildProcess>> = { test: new Set(), file: new Set() }
const groupLeaders = new WeakSet<ChildProcess>()
const folders: Record<Lifetime, Set<string>> = { test: new Set(), file: new Set() }

afterEach(() => cleanUp('test'))
afterAll(async () => {
  // Another hook of the last test can fail, and then its afterEach here was never called.
  await cleanUp('test')
  await cleanUp('file')
})
process.once('exit', () => {
  for (const child of [...children.test, ...children.file]) cutOff(child)
})

async function cleanUp(lifetime: Lifetime): Promise<void> {
  const ended = [...children[lifetime]].map(
    (child) => new Promise((resolve) => (hasExited(child) ? resolve(null) : child.once('close', resolve))),
  )
  for (const child of children[lifetime]) cutOff(child)
  await Promise.all(ended)
  children[lifetime].clear()
  for (const folder of folders[lifetime]) rmSync(folder, { recursive: true, force: true })
  folders[lifetime].clear()
}

function cutOff(child: ChildProcess): void {
  if (child.pid !== undefined && groupLeaders.has(child)) {
    try {
      process.kill(-child.pid, 'SIGKILL')
    } catch {
      // The whole group has just ended by itself.
    }
  } else child.kill('SIGKILL')
}

const hasExited = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null

interface LaunchOptions {
  lifetime?: Lifetime
  /** For programs that start others, such as Garner's launcher: what they started is cut off with them. */
  isGroup?: boolean
}

/** Starts any Node program in the repository's root, to be cleaned up like Garner itself. */
export function launch(
  args: string[],
  env: Record<string, string>,
  { lifetime = 'test', isGroup = false }: LaunchOptions = {},
) {
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { ...surroundings(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: isGroup,
  })
  children[lifetime].add(child)
  if (isGroup) groupLeaders.add(child)
  const output = { stdout: '', stderr: '', all: '' }
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      output[stream] += text
      output.all += text
    })
  }
  const exited = new Promise<Exit>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      children[lifetime].delete(child)
      resolve({ code, signal })
    })
  })
  return { child, output, exited }
}

/** A developer's own settings, and Vitest's, must not decide what a test sees. */
function surroundings(): NodeJS.ProcessEnv {
  const isOurs = (name: string) => /^(GARNER_.*|PORT|NODE_ENV|VITEST.*)$/.test(name)
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !isOurs(name)))
}

async function within<T>(ms: number, promise: Promise<T>, what: () => string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Not within ${ms} ms: ${what()}`)), ms)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
