import { execFile } from 'node:child_process'
import { globSync } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { root } from '../../jobs/scripts/build.ts'
import { type Packed, packPackages } from '../../jobs/scripts/pack.ts'

/** The package as it is published, used from plain JavaScript; packages/jobs/tests has more on how it is made. */
const run = promisify(execFile)
let into: string
let packed: Packed

beforeAll(async () => {
  await mkdir(join(root, 'dist'), { recursive: true })
  into = await mkdtemp(join(root, 'dist/package-'))
  packed = (await packPackages(into, ['packages/db', 'packages/cache'])).at(-1)!
  await mkdir(join(into, 'node_modules/@garner'), { recursive: true })
  for (const name of ['db', 'cache'])
    await symlink(join(into, `garner-${name}`), join(into, `node_modules/@garner/${name}`), 'dir')
}, 180_000)
afterAll(() => rm(into, { recursive: true, force: true }))

test('the tarball holds what its sources become, the suites that others run, migrations and texts', () => {
  const cwd = join(root, 'packages/cache')
  const sources = globSync('src/**/*.ts', { cwd }).filter((path) => !path.endsWith('.test.ts'))
  for (const path of sources)
    expect(packed.files).toContain(`dist/${path.replaceAll('\\', '/').replace(/\.ts$/, '.js')}`)
  expect(packed.files).toContain('dist/testing/budget-ledger.suite.js')
  expect(packed.files).toContain('dist/src/sqlite/migrations/0001_budget.sql')
  expect(packed.files).toContain('dist/src/postgres/migrations/0001_budget.sql')
  expect(packed.files.filter((path) => /\.test\.|[^d]\.ts$/.test(path))).toEqual([])
})

test('a cache of it works, on SQLite and its own migrations', async () => {
  await writeFile(join(into, 'use.js'), PROGRAM)
  const { stdout } = await run(process.execPath, [join(into, 'use.js')], { cwd: into })
  expect(JSON.parse(stdout)).toEqual({ body: 'a list', results: ['origin', 'hit'], loads: 1 })
})

const PROGRAM = `
import { Cache, jsonCodec, OriginBudget } from '@garner/cache'
import { budgetMigrations, createSqliteLedger } from '@garner/cache/sqlite'
import { migrate, systemClock } from '@garner/db'
import { openSqlite } from '@garner/db/sqlite'
const clock = systemClock()
const db = openSqlite({ path: ':memory:', clock })
await migrate(db, [budgetMigrations], clock)
const common = { clock, random: Math.random, incarnation: 'one' }
const capacity = { rate: 100, concurrency: 20, loadMaxMs: 2_500 }
const budget = new OriginBudget({ ...common, ledger: createSqliteLedger({ db }), budget: 'b', capacity, holder: 'h' })
const stop = new AbortController()
const running = budget.run(stop.signal)
const cache = new Cache({
  ...common, budget, codec: jsonCodec(), freshMs: 60_000, maxAgeMs: 60_000, memoryMaxBytes: 1e6, waitMs: 10_000,
})
const read = () => cache.get('list', { scope: 'us', load: async () => ({ body: 'a list' }) })
const answers = [await read(), await read()]
const { loads } = cache.counters()
console.log(JSON.stringify({ body: answers[1].body, results: answers.map((one) => one.result), loads }))
stop.abort()
await running
await cache.close()
await db.close()
`
