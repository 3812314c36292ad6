import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { ManualClock, migrate, systemClock, type Transaction } from '@garner/db'
import { openSqlite } from '@garner/db/sqlite'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { describeJobStore } from '../../testing/job-store.suite.ts'
import { meet } from '../../testing/suite/races.ts'
import { MeetingPoint, Scene, turns } from '../../testing/suite/scene.ts'
import { instantOf, LockClock, standingClock } from '../../testing/two-processes/clocks.ts'
import { OtherProcess } from '../../testing/two-processes/other-process.ts'
import type { Bounds } from '../rank.ts'
import type { Submission } from '../store.ts'
import { createSqliteStore, jobsMigrations } from './store.ts'

let other: OtherProcess
let folder: string
/** A file with its tables, copied for each test: making them takes longer than most tests do. */
let blank: string
let files = 0

beforeAll(async () => {
  other = await OtherProcess.start()
  folder = mkdtempSync(join(tmpdir(), 'garner-jobs-'))
  blank = join(folder, 'blank.sqlite')
  const db = openSqlite({ path: blank, clock: systemClock() })
  await migrate(db, [jobsMigrations], systemClock())
  await db.transaction((tx) => tx.run('CREATE TABLE caller_rows (n INTEGER PRIMARY KEY, text TEXT NOT NULL)'))
  await db.close()
})
afterAll(async () => {
  await other.end()
  rmSync(folder, { recursive: true })
})

/** One file, and a store on it in each of two processes. */
async function open(options: { bounds: Bounds; retryAfterMs: number }, by = other) {
  const path = join(folder, `${++files}.sqlite`)
  copyFileSync(blank, path)
  const clock = new ManualClock()
  const locks = new LockClock()
  const db = openSqlite({ path, clock: locks })
  const second = await by.open({ path, clock, ...options })
  return {
    store: createSqliteStore({ db, clock: standingClock(() => instantOf(clock)), ...options }),
    second,
    clock,
    path,
    locks,
    letSecondGoOn: () => second.settled(),
    caller: {
      async write(tx: Transaction, text: string) {
        await tx.run('INSERT INTO caller_rows (text) VALUES (?)', text)
      },
      async rows() {
        const rows = await db.read.all<{ text: string }>('SELECT text FROM caller_rows ORDER BY n')
        return rows.map((one) => one.text)
      },
    },
    async close() {
      if (!by.hasEnded) await second.close()
      await db.close()
      rmSync(path)
    },
  }
}

describeJobStore({ name: 'SQLite on a file, through two processes', open: (options) => open(options) })

describe('two processes', () => {
  test('the other one works while this one does not even yield', async () => {
    const { path, second } = await opened()
    expect(other.pid).not.toBe(process.pid)
    const accepted = second.accept([job('job-1')])
    const seen = new DatabaseSync(path)
    onTestFinished(() => seen.close())
    const count = seen.prepare('SELECT count(*) AS n FROM jobs')
    // From here on nothing else of this process runs until the other one has committed.
    const { monotonicMs } = systemClock()
    for (const untilMs = monotonicMs() + 8_000; count.get()!.n === 0 && monotonicMs() < untilMs; );
    expect(count.get()).toEqual({ n: 1 })
    expect(await accepted).toMatchObject([{ isRepeat: false, job: { id: 'job-1' } }])
  })

  test('this one waits for the lock that the other one holds, and then sees what that one wrote', async () => {
    const { store, second, locks } = await opened()
    const point = new MeetingPoint()
    const held = second.transaction(async (tx) => {
      await second.submit(tx, job('held'))
      await point.arrive()
    })
    await point.reached
    const repeated = store.accept([job('late', 'op-held')])
    await turns()
    expect(locks.waits).toBeGreaterThan(0)
    point.letGo()
    await held
    expect(await repeated).toMatchObject([{ isRepeat: true, job: { id: 'held' } }])
  })

  test('where the suite lets them meet they do: the other one has found the lock taken', async () => {
    const one = await opened()
    const { store, second } = one
    const answer = await meet(new Scene(one), {
      first: (tx) => store.submit(tx, job('held')),
      second: () => second.accept([job('late', 'op-held')]),
      ends: 'rollback',
    })
    expect(answer).toMatchObject([{ isRepeat: false, job: { id: 'late' } }])
    expect(await second.lockWaits()).toBeGreaterThan(0)
  })

  test('one that is killed in the middle of a transaction leaves nothing of it, and its lock to this one', async () => {
    const victim = await OtherProcess.start()
    onTestFinished(() => victim.end())
    const { store, second } = await opened(victim)
    const point = new MeetingPoint()
    const held = second.transaction(async (tx) => {
      await second.submit(tx, job('held'))
      await point.arrive()
    })
    await point.reached
    const accepted = store.accept([job('late', 'op-held')])
    await victim.kill()
    await expect(held).rejects.toThrow('The other process has ended (SIGKILL).')
    expect(await accepted).toMatchObject([{ isRepeat: false, job: { id: 'late' } }])
    expect(await store.get('held')).toBeUndefined()
  })

  test('a worker at rest in the other process is woken by work from this one', async () => {
    const { store, second } = await opened()
    const woken = Promise.withResolvers<void>()
    const listening = await second.listen(() => woken.resolve())
    await listening.resting(60_000)
    await store.accept([job('job-1')])
    await woken.promise
    await listening.close()
  })

  test('the other store goes by the clock of this process, forward and back', async () => {
    const { second, clock } = await opened()
    for (const [n, ms] of [1_000, -60_000, 5_000].entries()) {
      clock.jump(ms)
      const [answer] = await second.accept([job(`job-${n}`)])
      expect(answer!.job.submittedAtMs).toBe(clock.nowMs())
    }
  })

  test('and does so in the middle of its transactions: a lease that runs out while this one writes is over', async () => {
    const { second, clock } = await opened()
    await second.accept([job('job-1')])
    const request = { worker: 'worker-2', limit: 1, leaseMs: 30_000, kinds: [{ kind: 'title' }] }
    const [claim] = await second.claim(request)
    const answer = await second.publish(claim!, { state: 'succeeded' }, async () => {
      clock.advance(30_000)
      return undefined
    })
    expect(answer).toBe('stale-epoch')
  })
})

async function opened(by = other) {
  const one = await open({ bounds: { perTenant: 10, total: 100 }, retryAfterMs: 1_000 }, by)
  onTestFinished(() => one.close())
  return one
}

function job(id: string, operationId = `op-${id}`): Submission {
  return { id, operationId, kind: 'title', tenant: 'alice', payload: null, deadlineMs: 86_400_000 }
}
