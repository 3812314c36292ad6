import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { opened, temporaryDir } from '../../testing/temporary.ts'
import { systemClock } from '../clock.ts'

const CHILD = fileURLToPath(new URL('../../testing/crash-child.ts', import.meta.url))

function started(path: string, point: string) {
  return spawn(process.execPath, [CHILD, path, point], { stdio: ['ignore', 'pipe', 'inherit'] })
}

/** What the next process finds: how many pairs, and whether any is half there. */
async function found(path: string): Promise<{ whole: number; halves: number; last: number }> {
  const db = opened({ path, clock: systemClock() })
  await db.transaction(async () => {})
  const rows = await db.read.all<{ n: number; count: number }>(
    'SELECT n, count(*) AS count FROM pairs GROUP BY n ORDER BY n',
  )
  const whole = rows.filter((one) => one.count === 2).length
  return { whole, halves: rows.length - whole, last: rows.at(-1)?.n ?? -1 }
}

test.each([
  { point: 'before-commit', whole: 1 },
  { point: 'after-commit', whole: 21 },
])(
  'a process killed $point: the batch of 20 is there whole or not at all',
  async ({ point, whole }) => {
    const path = join(temporaryDir(), 'crash.sqlite')
    const child = started(path, point)
    const [, signal] = await once(child, 'exit')
    expect(signal).toBe('SIGKILL')
    expect(await found(path)).toMatchObject({ whole, halves: 0 })
  },
  30_000,
)

test('a process killed at any moment: all it was told is there, and nothing is half there', async () => {
  const path = join(temporaryDir(), 'crash.sqlite')
  const child = started(path, 'endless')
  let told = ''
  child.stdout.on('data', (chunk) => {
    told += chunk
    if (told.split('\n').length > 10) child.kill('SIGKILL')
  })
  const [, signal] = await once(child, 'close')
  expect(signal).toBe('SIGKILL')
  const lastTold = Number(told.trimEnd().split('\n').at(-1))
  const { whole, halves, last } = await found(path)
  expect(halves).toBe(0)
  expect(last).toBeGreaterThanOrEqual(lastTold)
  expect(whole).toBe(last + 1)
}, 30_000)
