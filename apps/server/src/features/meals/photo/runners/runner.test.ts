import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { systemClock } from '@garner/db'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type OpenRunner, openProcess, openThread } from './runner.ts'
import { Runners } from './runners.ts'

/** Real threads and processes, around a few lines that misbehave on request. */
const MODULE = `
  import { answerJobs } from '${new URL('./answer.ts', import.meta.url)}'
  import { PictureError } from '${new URL('../picture-error.ts', import.meta.url)}'
  answerJobs((job) => {
    if (job === 'env') return { result: process.env }
    if (job === 'pid') return { result: process.pid }
    if (job === 'pid of a busy one') {
      setInterval(() => {}, 1000)
      return { result: process.pid }
    }
    if (job === 'refuse') throw new PictureError('undecodable', new Error('half a picture'))
    if (job === 'fault') throw new TypeError('no such thing')
    if (job === 'exit') process.exit(3)
    if (job === 'loop') for (;;);
    if (job === 'fill') for (const all = []; ; ) all.push(new Array(1e6).fill(0))
    return { result: job }
  })`

let folder = ''
let file: URL
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'garner-runner-'))
  writeFileSync(join(folder, 'module.ts'), MODULE)
  file = pathToFileURL(join(folder, 'module.ts'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function withRunners(
  open: OpenRunner,
  use: (runners: Runners) => Promise<void>,
  limitMs = 30_000,
): Promise<void> {
  const runners = new Runners({ clock: systemClock(), open, limitMs })
  try {
    await use(runners)
  } finally {
    await runners.close()
  }
}

describe.for(['thread', 'process'])('a %s', (kind) => {
  const open: OpenRunner = (events) =>
    (kind === 'thread' ? openThread(file) : openProcess(file, { nativeThreads: 2 }))(events)

  test('answers, refuses and has faults, with buffers as they are', { timeout: 30_000 }, () =>
    withRunners(open, async (runners) => {
      const bytes = await runners.run<Uint8Array>(new Uint8Array([1, 2, 3]))
      expect([...bytes]).toEqual([1, 2, 3])
      await expect(runners.run('refuse')).rejects.toMatchObject({
        code: 'undecodable',
        cause: 'Error: half a picture',
      })
      await expect(runners.run('fault')).rejects.toThrow('TypeError: no such thing')
      expect(await runners.run('again')).toBe('again')
    }),
  )

  test.for(['exit', 'fill'])('that ends by itself (%s) is replaced', { timeout: 30_000 }, (job) =>
    withRunners(open, async (runners) => {
      await expect(runners.run(job)).rejects.toMatchObject({ code: 'undecodable' })
      expect(await runners.run('again')).toBe('again')
    }),
  )

  test('that computes for ever is ended in the midst of it', { timeout: 30_000 }, () =>
    withRunners(
      open,
      async (runners) => {
        await expect(runners.run('loop')).rejects.toMatchObject({ code: 'too_slow' })
      },
      1_000,
    ),
  )
})

describe('a process', () => {
  test('has nothing of the program’s environment but what it needs', () =>
    withRunners(openProcess(file, { nativeThreads: 3 }), async (runners) => {
      const { NODE_CHANNEL_FD, NODE_CHANNEL_SERIALIZATION_MODE, ...own } =
        await runners.run<NodeJS.ProcessEnv>('env')
      expect(own).toEqual({
        MALLOC_ARENA_MAX: '1',
        MALLOC_MMAP_THRESHOLD_: '131072',
        UV_THREADPOOL_SIZE: '3',
      })
    }))

  test('leaves the stop of the service to the program: a Ctrl+C reaches both', () =>
    withRunners(openProcess(file, { nativeThreads: 1 }), async (runners) => {
      const pid = await runners.run<number>('pid')
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(pid, signal)
      expect(await runners.run('pid')).toBe(pid)
    }))

  test('ends when the program is killed and can tell nobody, in the midst of its work too', {
    timeout: 30_000,
  }, async () => {
    const script = `
      import { openProcess } from '${new URL('./runner.ts', import.meta.url)}'
      const runner = openProcess(new URL('${file}'), { nativeThreads: 1 })({
        replied: ({ result }) => {
          console.log(result)
          process.kill(process.pid, 'SIGKILL')
        },
        gone: () => {},
      })
      runner.send({ number: 0, job: 'pid of a busy one' }, [])`
    let printed = ''
    try {
      execFileSync(process.execPath, ['--input-type=module', '-e', script], {
        stdio: ['ignore', 'pipe', 'ignore'],
      })
    } catch (error) {
      printed = String((error as { stdout: Buffer }).stdout)
    }
    expect(printed).toMatch(/^\d+\n$/)
    await expect.poll(() => isAlive(Number(printed)), { timeout: 20_000 }).toBe(false)
  })
})

/** A process that ended and whose parent is gone may stay in the table until somebody looks. */
function isAlive(pid: number): boolean {
  const path = `/proc/${pid}/stat`
  return existsSync(path) && !/\) Z /.test(readFileSync(path, 'utf8'))
}
