/**
 * The worked example of the README, as a program: `node example.ts FILE` keeps a small list in a SQLite file, lets two
 * hundred readers at it at once, saves, and reads that save.
 */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { BudgetSpent, Cache, jsonCodec, OriginBudget } from '@garner/cache'
import { budgetMigrations, createSqliteLedger } from '@garner/cache/sqlite'
import { migrate, systemClock } from '@garner/db'
import { openSqlite } from '@garner/db/sqlite'

const clock = systemClock()
const db = openSqlite({ path: process.argv[2] ?? ':memory:', clock })
await migrate(db, [budgetMigrations], clock)
await db.transaction(async (tx) => {
  await tx.run('CREATE TABLE lists (name TEXT PRIMARY KEY, version INTEGER NOT NULL)')
  await tx.run('CREATE TABLE links (list TEXT NOT NULL, url TEXT NOT NULL)')
  await tx.run('INSERT INTO lists VALUES (?, 1)', 'family')
  await tx.run('INSERT INTO links VALUES (?, ?)', 'family', 'https://example.org/soup')
})

// #region set-up
const incarnation = randomUUID()
const budget = new OriginBudget({
  ledger: createSqliteLedger({ db }),
  budget: 'list-reads',
  capacity: { rate: 100, concurrency: 20, loadMaxMs: 2_500 },
  ...{ holder: hostname(), incarnation, clock, random: Math.random },
  onFault: (error) => console.error('the ledger could not be asked', error),
})
const stop = new AbortController()
const running = budget.run(stop.signal)

const cache = new Cache<string[]>({
  ...{ budget, codec: jsonCodec(), clock, random: Math.random, incarnation },
  freshMs: 2_000,
  maxAgeMs: 60_000,
  memoryMaxBytes: 64 * 1024 * 1024,
})
// #endregion

// #region read
async function readList(list: string, minVersion = 0): Promise<string[]> {
  const { body } = await cache.get('links', {
    scope: list,
    minVersion,
    async load() {
      const row = await db.read.get<{ version: number }>('SELECT version FROM lists WHERE name = ?', list)
      const links = await db.read.all<{ url: string }>('SELECT url FROM links WHERE list = ?', list)
      return { body: links.map(({ url }) => url), version: row?.version ?? 0 }
    },
  })
  return body
}
// #endregion

// #region save
async function save(list: string, url: string): Promise<number> {
  const version = await db.transaction(async (tx) => {
    await tx.run('INSERT INTO links VALUES (?, ?)', list, url)
    const row = await tx.get<{ version: number }>(
      'UPDATE lists SET version = version + 1 WHERE name = ? RETURNING version',
      list,
    )
    return row!.version
  })
  await cache.invalidate('links', { scope: list, version })
  return version // to be kept with the writer's session, for their next reads, on whatever instance
}
// #endregion

await Promise.all(Array.from({ length: 200 }, () => readList('family')))
console.log('200 readers at once:', cache.counters().loads, 'load')

const version = await save('family', 'https://example.org/bread')
console.log('after a save its writer sees', (await readList('family', version)).length, 'links')

// Nobody renews the share any more: who needs the origin is refused, who does not is served.
stop.abort()
await running
console.log('without a share, a copy:', (await readList('family')).length, 'links')
try {
  await readList('neighbours')
} catch (error) {
  if (error instanceof BudgetSpent)
    console.log('without a share, no copy:', error.code, `try again in ${error.retryAfterMs} ms`)
}
const { offered, hit, coalesced, origin, stale, rejected, inFlight } = cache.counters()
console.log('offered', offered, '=', { hit, coalesced, origin, stale, rejected, inFlight })
await cache.close()
await db.close()
