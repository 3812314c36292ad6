import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)
const path = (name: string) => fileURLToPath(new URL(name, import.meta.url))

test('the example says what the README says it does', async () => {
  const { stdout } = await run(process.execPath, [path('example.ts')])
  expect(stdout.split('\n').slice(0, 5)).toEqual([
    '200 readers at once: 1 load',
    'after a save its writer sees 2 links',
    'without a share, a copy: 2 links',
    expect.stringMatching(/^without a share, no copy: BUDGET_SPENT try again in \d+ ms$/),
    'offered 203 = {',
  ])
})

test('what the README quotes is in the example, word for word', () => {
  const example = readFileSync(path('example.ts'), 'utf8')
  const readme = readFileSync(path('../README.md'), 'utf8')
  const regions = [...example.matchAll(/\/\/ #region .*\n([\s\S]*?)\n\/\/ #endregion/g)].map(
    ([, text]) => text!,
  )
  expect(regions).toHaveLength(3)
  for (const region of regions) expect(readme).toContain(region)
})
