import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const AMBIENT =
  /Date\.now|new Date\(\)|performance\.now|setTimeout|setInterval|AbortSignal\.timeout|Math\.random|randomUUID/
const sources = globSync(['packages/*/src/**/*.ts', 'apps/server/src/**/*.ts'], { cwd: root }).filter(
  (file) => !file.endsWith('.test.ts'),
)

test('time, chance and ids come from outside: only clock.ts and main.ts make real ones', () => {
  const found = sources.filter((file) => AMBIENT.test(readFileSync(`${root}/${file}`, 'utf8')))
  expect(found.sort()).toEqual(['apps/server/src/main.ts', 'packages/db/src/clock.ts'])
  expect(sources.length).toBeGreaterThan(30)
})
