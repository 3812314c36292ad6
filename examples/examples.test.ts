import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

/** The programs that the documents quote run, and say what the documents say they do. */
const run = promisify(execFile)
const path = (name: string) => fileURLToPath(new URL(name, import.meta.url))

test('jobs on SQLite: the first try fails, the worker tries again, the write and the end come together', async () => {
  const { stdout } = await run(process.execPath, [path('jobs-on-sqlite.ts')])
  expect(stdout.split('\n').slice(0, 2)).toEqual(['attempt 1: retried', 'attempt 2: published'])
  expect(stdout).toContain("status: 'confirmed'")
})
