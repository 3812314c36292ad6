import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { launch, runGarner, startGarner, tempDir, until } from './garner.ts'

const launcher = fileURLToPath(new URL('../../apps/server/bin/garner.js', import.meta.url))

describe('the program', () => {
  test('says where it listens, answers there, and ends with 0 within 10 s of SIGTERM', async () => {
    const garner = await startGarner()
    expect(garner.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect((await fetch(`${garner.url}/healthz`)).status).toBe(200)
    expect((await fetch(`${garner.url}/readyz`)).status).toBe(200)
    const askedAtMs = performance.now()
    expect(await garner.stop()).toEqual({ code: 0, signal: null })
    expect(performance.now() - askedAtMs).toBeLessThan(10_000)
  })

  test('a Ctrl+C is as good as SIGTERM', async () => {
    const garner = await startGarner()
    expect(await garner.stop('SIGINT')).toEqual({ code: 0, signal: null })
  })

  test('cut off, it starts again over the same data', async () => {
    const dataDir = tempDir()
    const first = await startGarner({ dataDir })
    expect(await first.kill()).toEqual({ code: null, signal: 'SIGKILL' })
    const second = await startGarner({ dataDir })
    expect((await fetch(`${second.url}/readyz`)).status).toBe(200)
  })

  test('the worker alone and one-shot roles run too', async () => {
    const worker = await startGarner({ args: ['work', '--demo'] })
    expect(worker.url).toBe('')
    const faults = await runGarner(['faults'])
    expect(faults.code).toBe(0)
    expect(faults.stdout).toContain('submit.before-commit')
    const step = await runGarner(['step', '--demo'], { GARNER_DATA: worker.dataDir })
    expect(JSON.parse(step.stdout)).toMatchObject({ claimed: 0, published: 0 })
    await worker.stop()
  })

  test('a bad setting is named, and nothing is started', async () => {
    const refused = await runGarner(['all', '--port', 'many'], { GARNER_LEASE_S: 'long' })
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain('GARNER_LEASE_S=long')
    expect(refused.stderr).toContain('--port many')
    await expect(startGarner({ args: ['all', '--port', 'many'] })).rejects.toThrow(
      /ended before it was ready.*--port/s,
    )
  })
})

describe('the launcher, `garner …`', () => {
  /** Before anything else runs: what an older Node says of itself. The Node it starts is the pinned one. */
  const asNode18 =
    "data:text/javascript,Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.4' } })"
  const serve = (before: string[]) =>
    launch(
      [...before, launcher, 'serve', '--demo', '--port', '0'],
      { GARNER_DATA: tempDir() },
      { isGroup: true },
    )
  const listening = /Garner listening on (\S+)/

  test('on the pinned Node it is the program itself: no parent stays', async () => {
    const { child, output, exited } = serve([])
    await until(() => listening.test(output.stdout))
    expect(childrenOf(child.pid)).toEqual([])
    child.kill('SIGTERM')
    expect(await exited).toEqual({ code: 0, signal: null })
  })

  test.each(['SIGTERM', 'SIGINT'] as const)('on an older Node %s reaches the program', async (signal) => {
    const { child, output, exited } = serve(['--import', asNode18])
    await until(() => listening.test(output.stdout))
    expect(childrenOf(child.pid)).toHaveLength(1)
    child.kill(signal)
    expect(await exited).toEqual({ code: 0, signal: null })
    await expect(fetch(`${listening.exec(output.stdout)?.[1]}/healthz`)).rejects.toThrow()
  })

  test.each([
    { where: 'the pinned Node', before: [] },
    { where: 'an older Node', before: ['--import', asNode18] },
  ])('on $where its exit code is that of the program', async ({ before }) => {
    expect(await launch([...before, launcher, 'no-such-role'], {}).exited).toEqual({ code: 2, signal: null })
    expect(await launch([...before, launcher, 'faults'], {}).exited).toEqual({ code: 0, signal: null })
  })

  test('under npx, whose shell dies alone of a SIGTERM, the program ends all the same', async () => {
    const dataDir = tempDir()
    const script = `require('node:child_process').spawn(process.execPath,
      ${JSON.stringify([launcher, 'serve', '--demo', '--port', '0'])}, { stdio: 'inherit' })`
    const shell = launch(['-e', script], { GARNER_DATA: dataDir, npm_command: 'exec' }, { isGroup: true })
    await until(() => listening.test(shell.output.stdout))
    const [program] = childrenOf(shell.child.pid)
    shell.child.kill('SIGKILL')
    await until(() => !isAlive(program))
  })

  test('on an older Node a killed program reads as killed', async () => {
    const { child, output, exited } = serve(['--import', asNode18])
    await until(() => listening.test(output.stdout))
    const [program] = childrenOf(child.pid)
    process.kill(program ?? 0, 'SIGKILL')
    expect(await exited).toEqual({ code: null, signal: 'SIGKILL' })
  })
})

describe('what a test leaves behind', () => {
  let left = { pid: 0, folder: '' }

  test('a process and a folder', async () => {
    const garner = await startGarner()
    garner.signal('SIGSTOP')
    left = { pid: garner.pid, folder: garner.dataDir }
    expect(existsSync(left.folder)).toBe(true)
  })

  test('are gone in the next one, even if the process was stopped', () => {
    expect(existsSync(left.folder)).toBe(false)
    expect(() => process.kill(left.pid, 0)).toThrow(/ESRCH/)
  })
})

test('until tells what it waited for, and why it did not come', async () => {
  const refused = () => Promise.reject(new Error('no'))
  await expect(until(refused, { timeoutMs: 30, what: () => 'a yes' })).rejects.toThrow(
    expect.objectContaining({ message: 'Not within 30 ms: a yes', cause: new Error('no') }),
  )
  expect(await until(() => Promise.resolve('here'))).toBe('here')
})

function isAlive(pid: number | undefined): boolean {
  try {
    return process.kill(pid ?? 0, 0)
  } catch {
    return false
  }
}

function childrenOf(pid: number | undefined): number[] {
  const book = join('/proc', String(pid), 'task', String(pid), 'children')
  if (existsSync(book)) return readFileSync(book, 'utf8').trim().split(' ').filter(Boolean).map(Number)
  const all = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
  const pairs = all.split('\n').map((line) => line.trim().split(/\s+/).map(Number))
  return pairs.flatMap(([child, parent]) => (child !== undefined && parent === pid ? [child] : []))
}
