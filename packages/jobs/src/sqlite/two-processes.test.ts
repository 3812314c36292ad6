import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { ManualClock, migrate, type Transaction } from '@garner/db'
import { openSqlite } from '@garner/db/sqlite'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { describeJobStore } from '../../testing/job-store.suite.ts'
import { MeetingPoint, turns } from '../../testing/suite/scene.ts'
import { instantOf, LockClock, standingClock } from '../../testing/two-processes/clocks.ts'
import { OtherProcess } from '../../testing/two-processes/other-process.ts'
import type { Bounds } from '../rank.ts'
import type { Submission } from '../store.ts'
import { createSqliteStore, jobsMigrations } from './store.ts'

let other: OtherProcess
beforeAll(() => {
  other = new OtherProcess()
})
afterAll(() => other.end())

/** One file, and a store on it in each of two processes. */
async function open(options: { bounds: Bounds; retryAfterMs: number }) {
  const dir = mkdtempSync(join(tmpdir(), 'garner-jobs-'))
  const path = join(dir, 'jobs.sqlite')
  const clock = new ManualClock()
  const locks = new LockClock()
  const db = openSqlite({ path, clock: locks })
  await migrate(db, [jobsMigrations], clock)
  await db.transaction((tx) => tx.run('CREATE TABLE caller_rows (n INTEGER PRIMARY KEY, text TEXT NOT NULL)'))
  const second = await other.open({ path, clock, ...options })
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
      await second.close()
      await db.close()
      rmSync(dir, { recursive: true })
    },
  }
}

describeJobStore({ name: 'SQLite on a file, through two processes', open })

describe('two processes', () => {
  test('the other one works while this one does not even yield', async () => {
    const { path, second } = await opened()
    expect(await second.pid()).not.toBe(process.pid)
    const accepted = second.accept([job('job-1')])
    const seen = new DatabaseSync(path)
    onTestFinished(() => seen.close())
    const count = seen.prepare('SELECT count(*) AS n FROM jobs')
    while (count.get()!.n === 0); // from here on nothing else of this process runs until the other one has committed
    expect(await accepted).toMatchObject([{ isRepeat: false, job: { id: 'job-1' } }])
  })

  test('one waits for the lock of the other, in both directions, and then sees what that one wrote', async () => {
    const { store, second, locks } = await opened()
    for (const [n, [holder, waiter]] of [
      [store, second],
      [second, store],
    ].entries()) {
      const waits = async () => (waiter === store ? locks.waits : second.lockWaits())
      const before = await waits()
      const point = new MeetingPoint()
      const held = holder!.transaction(async (tx) => {
        await holder!.submit(tx, job(`held-${n}`))
        await point.arrive()
      })
      await point.reached
      const repeated = waiter!.accept([job(`late-${n}`, `op-held-${n}`)])
      await second.settled()
      await turns()
      expect(await waits()).toBeGreaterThan(before)
      point.letGo()
      await held
      expect(await repeated).toMatchObject([{ isRepeat: true, job: { id: `held-${n}` } }])
    }
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
})

async function opened() {
  const one = await open({ bounds: { perTenant: 10, total: 100 }, retryAfterMs: 1_000 })
  onTestFinished(() => one.close())
  return one
}

function job(id: string, operationId = `op-${id}`): Submission {
  return { id, operationId, kind: 'title', tenant: 'alice', payload: null, deadlineMs: 86_400_000 }
}
