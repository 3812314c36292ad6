import { appendFileSync, mkdtempSync, rmSync, watch, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Database, ManualClock, migrate, systemClock } from '@garner/db'
import { openSqlite } from '@garner/db/sqlite'
import { expect, onTestFinished, test } from 'vitest'
import type { Claim } from '../job.ts'
import type { Submission } from '../store.ts'
import { Listeners } from './listeners.ts'
import { createSqliteStore, jobsMigrations, type SqliteJobStore } from './store.ts'

async function opened(path: string) {
  const commits = { count: 0 }
  const db = openSqlite({
    ...{ path, clock: systemClock() },
    aroundCommit(effect) {
      commits.count++
      effect()
    },
  })
  onTestFinished(() => db.close())
  const clock = new ManualClock()
  await migrate(db, [jobsMigrations], clock)
  return { clock, commits, store: createSqliteStore({ db, clock, bounds: { perTenant: 100, total: 100 } }) }
}

function onFile(): string {
  const dir = mkdtempSync(join(tmpdir(), 'garner-jobs-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  return join(dir, 'jobs.sqlite')
}

const job = (id: string): Submission => ({
  ...{ id, kind: 'title', tenant: 'alice', payload: null, deadlineMs: 60_000 },
})
const turns = async (count = 20) => {
  for (let n = 0; n < count; n++) await new Promise(setImmediate)
}

test('on a file: another connection’s commit wakes who rests', async () => {
  const path = onFile()
  const here = await opened(path)
  const there = await opened(path)
  const woken = Promise.withResolvers<void>()
  const listening = await here.store.listen(() => woken.resolve())
  await listening.resting(60_000)
  await there.store.accept([job('job-1')])
  await woken.promise
  await listening.close()
})

/** A database whose commits show when the test says so, and a log beside it that can be written to. */
function slowlySyncing() {
  const path = onFile()
  writeFileSync(`${path}-wal`, '')
  const shown = { change: 1, looks: 0 }
  const db = {
    read: { get: async () => ({ file: path }), all: async () => [] },
    async changeCounter() {
      shown.looks++
      return shown.change
    },
  } as unknown as Database
  const clock = new ManualClock()
  /** Resolves when everybody has been told of the write: this watcher is the last to hear of it. */
  const write = async () => {
    const heard = Promise.withResolvers<void>()
    const watcher = watch(`${path}-wal`, () => heard.resolve())
    appendFileSync(`${path}-wal`, 'a frame')
    await heard.promise
    watcher.close()
    await turns()
  }
  return { listeners: new Listeners({ db, clock }), clock, shown, write }
}

// The log is written before it is synced, and synced before the commit shows. Who looks at the first write alone
// finds nothing, goes back to sleep, and sleeps until the next poll.
test('a commit that shows only after its sync is noticed when it shows', async () => {
  const { listeners, clock, shown, write } = slowlySyncing()
  let wakes = 0
  const listening = await listeners.listen(() => wakes++)
  await listening.resting(60_000)
  await write()
  expect([wakes, shown.looks > 1]).toEqual([0, true])
  for (let ms = 0; ms < 10; ms++) {
    clock.advance(1)
    await turns()
  }
  expect(wakes).toBe(0)
  shown.change = 2
  for (let ms = 0; ms < 20 && wakes === 0; ms++) {
    clock.advance(1)
    await turns()
  }
  expect(wakes).toBe(1)
  for (let n = 0; n < 20; n++) {
    clock.advance(100)
    await turns()
  }
  expect(clock.nextWakeInMs).toBeNull() // and then it is not looked for any more
  expect(wakes).toBe(1)
  await listening.close()
})

test('what was written while everybody was busy is looked for when somebody rests', async () => {
  const { listeners, shown, write } = slowlySyncing()
  let wakes = 0
  const listening = await listeners.listen(() => wakes++)
  const { looks } = shown
  await write()
  expect(shown.looks).toBe(looks)
  shown.change = 2
  await listening.resting(60_000)
  await turns()
  expect(wakes).toBe(1)
  await listening.close()
})

const PLACES = ['in memory', 'on a file'] as const
const pathOf = (place: (typeof PLACES)[number]) => (place === 'in memory' ? ':memory:' : onFile())
const claimOf = (store: SqliteJobStore) =>
  store.claim({ worker: 'worker-1', limit: 10, leaseMs: 30_000, kinds: [{ kind: 'title' }] })

// Two syncs stood between a submission and its handler otherwise.
test.each(PLACES)(
  '%s: who rests claims in the commit that brings the work, and it is durable by then',
  async (place) => {
    const { store, commits } = await opened(pathOf(place))
    const claimed = Promise.withResolvers<Claim[]>()
    const listening = await store.listen(() => claimed.resolve(claimOf(store)))
    await listening.resting(60_000)
    commits.count = 0
    const submitted = store.transaction((tx) => store.submit(tx, job('job-1')))
    expect((await claimed.promise).map((one) => one.job.id)).toEqual(['job-1'])
    expect(commits.count).toBe(1)
    await submitted
    await listening.close()
  },
)

test.each(PLACES)(
  '%s: a claim that was asked for in a transaction that is rolled back finds nothing',
  async (place) => {
    const { store } = await opened(pathOf(place))
    const claimed = Promise.withResolvers<Claim[]>()
    const listening = await store.listen(() => claimed.resolve(claimOf(store)))
    await listening.resting(60_000)
    const failing = store.transaction(async (tx) => {
      await store.submit(tx, job('job-1'))
      throw new Error('trouble')
    })
    await expect(failing).rejects.toThrow('trouble')
    expect(await claimed.promise).toEqual([])
    await listening.close()
  },
)

test('who is busy, whose rest is over or who has closed is not woken', async () => {
  const { store, clock } = await opened(':memory:')
  const woken: string[] = []
  const listen = (name: string) => store.listen(() => woken.push(name))
  const [busy, late, gone, rests] = [
    await listen('busy'),
    await listen('late'),
    await listen('gone'),
    await listen('rests'),
  ]
  await busy.resting(60_000)
  await busy.busy()
  await late.resting(1_000)
  await gone.resting(60_000)
  await gone.close()
  await rests.resting(60_000)
  clock.advance(1_000)
  await store.accept([job('job-1')])
  await turns()
  expect(woken).toEqual(['rests'])
  for (const one of [busy, late, rests]) await one.close()
})
