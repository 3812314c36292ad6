import { type Database, ManualClock, migrate, StoreUnavailable, systemClock } from '@garner/db'
import { openSqlite } from '@garner/db/sqlite'
import { expect, onTestFinished, test } from 'vitest'
import type { Claim } from '../job.ts'
import type { ClaimKind, Submission } from '../store.ts'
import { createSqliteStore, jobsMigrations, type SqliteJobStore } from './store.ts'

/** What only this store can be asked: how many commits, which rows are left. The rest is the conformance suite's. */
interface Scene {
  store: SqliteJobStore
  db: Database
  clock: ManualClock
  commits: { count: number }
}

async function scene(bounds = { perTenant: 5_000, total: 5_000 }): Promise<Scene> {
  const commits = { count: 0 }
  const db = openSqlite({
    ...{ path: ':memory:', clock: systemClock() },
    aroundCommit(effect) {
      commits.count++
      effect()
    },
  })
  onTestFinished(() => db.close())
  const clock = new ManualClock()
  await migrate(db, [jobsMigrations], clock)
  const store = createSqliteStore({ db, clock, bounds })
  commits.count = 0
  return { store, db, clock, commits }
}

let ids = 0
function submission(part: Partial<Submission> = {}): Submission {
  ids++
  return { id: `job-${ids}`, kind: 'title', tenant: 'alice', payload: null, deadlineMs: 60_000, ...part }
}
const submissions = (count: number, part: Partial<Submission> = {}) =>
  Array.from({ length: count }, () => submission(part))

const claim = (store: SqliteJobStore, limit = 100, kind: Omit<ClaimKind, 'kind'> = {}): Promise<Claim[]> =>
  store.claim({ worker: 'worker-1', limit, leaseMs: 30_000, kinds: [{ kind: 'title', ...kind }] })

const countOf = async (db: Database, table: 'job_keys' | 'job_attempts' | 'job_operations') =>
  (await db.read.get<{ n: number }>(`SELECT count(*) AS n FROM ${table}`))!.n

test('publications and submissions that come together share a commit each', async () => {
  const { store, db, commits } = await scene()
  await Promise.all(submissions(200).map((one) => store.accept([one])))
  expect(commits.count).toBe(1)
  const claims = await claim(store, 200)
  // Reads of a database in memory take their turn among the transactions, so they count as well.
  await db.read.get('SELECT 1')
  commits.count = 0
  const answers = await Promise.all(claims.map((one) => store.publish(one, { state: 'succeeded' })))
  expect(new Set(answers)).toEqual(new Set(['published']))
  expect(commits.count).toBe(1)
})

test('a job that succeeds at once leaves no row but its own', async () => {
  const { store, db } = await scene()
  await store.accept([submission()])
  const [only] = await claim(store)
  await store.publish(only!, { state: 'succeeded' })
  expect(await countOf(db, 'job_attempts')).toBe(0)
  expect((await store.get(only!.job.id))!.attempts).toMatchObject([{ epoch: 1, outcome: 'succeeded' }])
})

// Decided in memory, before anything is written: what a refused call had thought to add must be forgotten.
test('an operation of a refused call is not known to the calls that share its transaction', async () => {
  const { store } = await scene({ perTenant: 2, total: 2 })
  const operation = { operationId: 'op-1' }
  const answers = await Promise.allSettled([
    store.accept([submission(operation), ...submissions(2)]),
    store.accept([submission(operation)]),
  ])
  expect(answers).toMatchObject([
    { status: 'rejected', reason: { code: 'QUEUE_FULL' } },
    { status: 'fulfilled', value: [{ isRepeat: false }] },
  ])
})

test('jobs that are forgotten or pruned leave no attempts behind', async () => {
  const { store, db, clock } = await scene()
  await store.accept([submission({ subject: 'forgotten' }), submission()])
  for (const one of await claim(store)) {
    await store.publish(one, { state: 'ready', outcome: 'retried', runAtMs: 0, reason: 'timeout' })
  }
  for (const one of await claim(store)) await store.publish(one, { state: 'succeeded' })
  expect(await countOf(db, 'job_attempts')).toBe(2)
  await store.transaction((tx) => store.forget(tx, 'forgotten'))
  expect(await countOf(db, 'job_attempts')).toBe(1)
  clock.advance(1)
  await store.prune({ finishedMs: 0, operationsMs: 0, stepsMs: 0, limit: 10 })
  expect(await countOf(db, 'job_attempts')).toBe(0)
})

// A handler's store of its own may be away; were that taken for this one's trouble, all who share the commit would
// be told to try again, and meet the same handler there again and again.
test('writes that throw StoreUnavailable fail alone', async () => {
  const { store } = await scene()
  await store.accept(submissions(3))
  const claims = await claim(store)
  const answers = await Promise.allSettled(
    claims.map((one, n) =>
      store.publish(one, { state: 'succeeded' }, async () => {
        if (n === 1) throw new StoreUnavailable('injected', 'asking another store')
        return undefined
      }),
    ),
  )
  expect(answers.map((one) => one.status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
})

test('spacing: who frees a key whose time has not come makes nothing claimable', async () => {
  const { store, clock } = await scene()
  await store.accept(submissions(2, { key: 'example.org' }))
  const [first] = await claim(store, 100, { spacingMs: 1_000 })
  clock.advance(400)
  await store.publish(first!, { state: 'succeeded' })
  expect(await store.nextDueInMs(['title'])).toBe(600)
})

test('spacing: a key that is asked for no more leaves no row behind', async () => {
  const { store, db, clock } = await scene()
  for (let n = 0; n < 20; n++) await store.accept([submission({ key: `${n}.example` })])
  expect(await claim(store, 100, { spacingMs: 1_000 })).toHaveLength(20)
  expect(await countOf(db, 'job_keys')).toBe(20)
  clock.advance(1_000)
  await store.accept([submission({ key: 'other.example' })])
  await claim(store, 100, { spacingMs: 1_000 })
  expect(await countOf(db, 'job_keys')).toBe(1)
})

// Between the two there is no instant without it: a repeat must find the one or the other.
test('an operation id stands in its job’s row, and in one of its own once the job is gone', async () => {
  const { store, db, clock } = await scene()
  await store.accept([submission({ operationId: 'op-1' })])
  const [first] = await claim(store)
  await store.publish(first!, { state: 'succeeded' })
  expect(await countOf(db, 'job_operations')).toBe(0)
  clock.advance(1_000)
  await store.prune({ finishedMs: 0, operationsMs: 60_000, stepsMs: 60_000, limit: 10 })
  expect(await db.read.all('SELECT operation_id, job_id, state FROM job_operations')).toEqual([
    { operation_id: 'op-1', job_id: first!.job.id, state: 'succeeded' },
  ])
  expect(await store.accept([submission({ operationId: 'op-1' })])).toMatchObject([{ isRepeat: true }])
})
