import { copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ManualClock, migrate, systemClock, type Transaction } from '@garner/db'
import { openSqlite } from '@garner/db/sqlite'
import { expect, onTestFinished, test } from 'vitest'
import type { Claim } from '../job.ts'
import { payloadHash } from '../payload-hash.ts'
import { createSqliteStore, jobsMigrations, type SqliteJobStore } from './store.ts'

const BOUNDS = { perTenant: 10, total: 10 }
const DAY_MS = 86_400_000
/** Of the jobs that are submitted; whatever is done to them is done a second later each. */
const T = Date.UTC(2026, 0, 1)

interface OldJob {
  id: string
  state: string
  hold?: number
  rank: number
  key?: string
  attempt?: number
  epoch?: number
  generation?: number
  leaseUntilMs?: number
  runAtMs?: number
  finishedAtMs?: number
  lastError?: string
  result?: string
  subject?: string
}

/** A job as the first migration's tables had it. */
function oldJob(tx: Transaction, job: OldJob): Promise<unknown> {
  return tx.run(
    `INSERT INTO jobs (id, kind, tenant, payload, subject, subject_version, key, state, hold, rank, run_at_ms, attempt,
      epoch, generation, lease_until_ms, submitted_at_ms, deadline_ms, deadline_at_ms, finished_at_ms, last_error, result)
      VALUES (?, 'title', 'alice', '{"n":1}', ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ...[job.id, job.subject ?? null, job.key ?? null, job.state, job.hold ?? 0, job.rank, job.runAtMs ?? T],
    ...[
      job.attempt ?? 1,
      job.epoch ?? 1,
      job.generation ?? 1,
      job.leaseUntilMs ?? null,
      T,
      DAY_MS,
      T + DAY_MS,
    ],
    ...[job.finishedAtMs ?? null, job.lastError ?? null, job.result ?? null],
  )
}

type OldAttempt = [
  jobId: string,
  epoch: number,
  attempt: number,
  endedAtMs: number | null,
  outcome: string | null,
]

function oldAttempt(tx: Transaction, attempt: OldAttempt, error: string | null = null): Promise<unknown> {
  const [jobId, epoch, number, endedAtMs, outcome] = attempt
  return tx.run(
    'INSERT INTO job_attempts VALUES (?, ?, 1, ?, ?, ?, ?, ?, ?)',
    ...[jobId, epoch, number, `worker-${epoch}`, T + epoch * 1_000, endedAtMs, outcome, error],
  )
}

/** What the store of the first migration leaves behind: jobs in every state and stage. */
async function oldRows(tx: Transaction): Promise<void> {
  await oldJob(tx, {
    id: 'running',
    state: 'running',
    rank: 1,
    attempt: 2,
    epoch: 2,
    leaseUntilMs: T + DAY_MS,
    lastError: 'timeout',
    key: 'a.example',
  })
  await oldAttempt(tx, ['running', 1, 1, T + 1_500, 'retried'], 'timeout')
  await oldAttempt(tx, ['running', 2, 2, null, null])
  await oldJob(tx, {
    id: 'held-by-key',
    state: 'ready',
    hold: 2,
    rank: 2,
    attempt: 0,
    epoch: 0,
    key: 'a.example',
  })
  await oldJob(tx, {
    id: 'later',
    state: 'ready',
    hold: 1,
    rank: 3,
    runAtMs: T + 60_000,
    lastError: 'http_503',
  })
  await oldAttempt(tx, ['later', 1, 1, T + 1_500, 'retried'], 'http_503')
  await oldJob(tx, { id: 'waiting', state: 'ready', rank: 4, attempt: 0, epoch: 0, subject: 'bookmark-1' })
  await oldJob(tx, {
    id: 'succeeded',
    state: 'succeeded',
    rank: 5,
    finishedAtMs: T + 2_000,
    result: '{"title":"A"}',
  })
  await oldAttempt(tx, ['succeeded', 1, 1, T + 2_000, 'succeeded'])
  await oldJob(tx, {
    id: 'dead',
    state: 'dead',
    rank: 6,
    attempt: 2,
    epoch: 2,
    finishedAtMs: T + 3_000,
    lastError: 'http_404',
  })
  await oldAttempt(tx, ['dead', 1, 1, T + 1_900, 'lease_expired'], 'lease_expired')
  await oldAttempt(tx, ['dead', 2, 2, T + 3_000, 'dead'], 'http_404')
  // It ran when its subject moved on; the job kept the error of the try before.
  await oldJob(tx, {
    id: 'superseded',
    state: 'superseded',
    rank: 7,
    attempt: 2,
    epoch: 2,
    finishedAtMs: T + 2_500,
    lastError: 'timeout',
  })
  await oldAttempt(tx, ['superseded', 1, 1, T + 1_500, 'retried'], 'timeout')
  await oldAttempt(tx, ['superseded', 2, 2, T + 2_500, 'superseded'])
  await oldJob(tx, {
    id: 'discarded-dead',
    state: 'cancelled',
    rank: 8,
    finishedAtMs: T + 9_000,
    lastError: 'http_410',
  })
  await oldAttempt(tx, ['discarded-dead', 1, 1, T + 1_700, 'dead'], 'http_410')
  await tx.run(
    'INSERT INTO job_operations VALUES (?, ?, ?, ?, ?)',
    ...['alice', 'op-1', payloadHash({ n: 1 }), 'succeeded', T],
  )
  await tx.run("INSERT INTO job_tenants VALUES ('alice', 4, 8)")
  await tx.run('UPDATE job_queue SET pending = 4, virtual_time = 6')
  await tx.run("INSERT INTO job_totals VALUES ('title', 'finished:succeeded', 5), ('title', 'retries', 3)")
}

/** The store of today on what the migrations up to `last`, and then `rows`, have left behind. */
async function migratedFrom(last: string, rows: (tx: Transaction) => Promise<void>) {
  const dir = mkdtempSync(join(tmpdir(), 'garner-jobs-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  const all = readdirSync(jobsMigrations.dir as string).sort()
  for (const name of all.slice(0, all.indexOf(last) + 1)) {
    copyFileSync(join(jobsMigrations.dir as string, name), join(dir, name))
  }
  const db = openSqlite({ path: ':memory:', clock: systemClock() })
  onTestFinished(() => db.close())
  const clock = new ManualClock(T + 10_000)
  await migrate(db, [{ name: 'jobs', dir }], clock)
  await db.transaction(rows)
  await migrate(db, [jobsMigrations], clock)
  return { store: createSqliteStore({ db, clock, bounds: BOUNDS }), db, clock }
}

const migrated = () => migratedFrom('0001_jobs.sql', oldRows)

const claimOf = async (store: SqliteJobStore, id: string, epoch: number): Promise<Claim> => {
  return { job: (await store.get(id))!.job, epoch, claimedAtMs: T }
}

test('0002: every job is there as it was, its ranks in the new unit', async () => {
  const { store } = await migrated()
  const jobs = await store.list({ limit: 100 })
  expect(jobs.map((one) => [one.id, one.state, one.rank, one.priority, one.progress])).toEqual([
    ['waiting', 'ready', 4_000, 0, null],
    ['superseded', 'superseded', 7_000, 0, null],
    ['succeeded', 'succeeded', 5_000, 0, null],
    ['running', 'running', 1_000, 0, null],
    ['later', 'ready', 3_000, 0, null],
    ['held-by-key', 'ready', 2_000, 0, null],
    ['discarded-dead', 'cancelled', 8_000, 0, null],
    ['dead', 'dead', 6_000, 0, null],
  ])
  expect((await store.get('succeeded'))!.job).toMatchObject({
    ...{ payload: { n: 1 }, result: { title: 'A' }, finishedAtMs: T + 2_000, deadlineAtMs: T + DAY_MS },
    ...{ epoch: 1, attempt: 1, generation: 1, subjectVersion: 1 },
  })
})

test('0002: attempts are told as before, whether they stay in the job’s row or not', async () => {
  const { store } = await migrated()
  const told = async (id: string) =>
    (await store.get(id))!.attempts.map((one) => [
      one.epoch,
      one.worker,
      one.startedAtMs,
      one.endedAtMs,
      one.outcome,
      one.error,
    ])
  expect(await told('running')).toEqual([
    [1, 'worker-1', T + 1_000, T + 1_500, 'retried', 'timeout'],
    [2, 'worker-2', T + 2_000, null, null, null],
  ])
  expect(await told('dead')).toEqual([
    [1, 'worker-1', T + 1_000, T + 1_900, 'lease_expired', 'lease_expired'],
    [2, 'worker-2', T + 2_000, T + 3_000, 'dead', 'http_404'],
  ])
  expect(await told('superseded')).toEqual([
    [1, 'worker-1', T + 1_000, T + 1_500, 'retried', 'timeout'],
    [2, 'worker-2', T + 2_000, T + 2_500, 'superseded', null],
  ])
  expect(await told('discarded-dead')).toEqual([[1, 'worker-1', T + 1_000, T + 1_700, 'dead', 'http_410']])
  expect(await told('succeeded')).toEqual([[1, 'worker-1', T + 1_000, T + 2_000, 'succeeded', null]])
  expect(await told('waiting')).toEqual([])
})

test('0002: who was at work publishes, who had published is recognised, who was refused is refused', async () => {
  const { store, db } = await migrated()
  expect(await store.publish(await claimOf(store, 'running', 1), { state: 'succeeded' })).toBe(
    'already-published',
  )
  expect(await store.publish(await claimOf(store, 'running', 2), { state: 'succeeded' })).toBe('published')
  expect(await store.publish(await claimOf(store, 'succeeded', 1), { state: 'succeeded' })).toBe(
    'already-published',
  )
  expect(await store.publish(await claimOf(store, 'dead', 1), { state: 'succeeded' })).toBe('stale-epoch')
  expect(await store.publish(await claimOf(store, 'superseded', 2), { state: 'succeeded' })).toBe(
    'superseded',
  )
  const filed = await db.read.get<{ n: number }>('SELECT count(*) AS n FROM job_attempts')
  expect(filed).toEqual({ n: 6 }) // none of those that stay in their job's row is there twice
})

test('0002: a key’s line, a retry’s time and the fair order go on', async () => {
  const { store, clock } = await migrated()
  const claim = async () => {
    const claims = await store.claim({
      worker: 'new',
      limit: 10,
      leaseMs: 600_000,
      kinds: [{ kind: 'title', perKey: 1 }],
    })
    return claims.map((one) => one.job.id)
  }
  expect(await claim()).toEqual(['waiting'])
  await store.publish(await claimOf(store, 'running', 2), { state: 'succeeded' })
  expect(await claim()).toEqual(['held-by-key'])
  clock.advance(60_000)
  expect(await claim()).toContain('later')
  const [next] = await store.accept([
    { id: 'new', kind: 'title', tenant: 'alice', payload: null, deadlineMs: 1 },
  ])
  expect(next!.job.rank).toBe(9_000) // behind the tenant's eight
  const [other] = await store.accept([
    { id: 'other', kind: 'title', tenant: 'bob', payload: null, deadlineMs: 1 },
  ])
  expect(other!.job.rank).toBe(8_000) // "later" came back at 7,000, behind the virtual time of 6
})

test('0002: operations, totals, counts and bounds go on', async () => {
  const { store } = await migrated()
  const repeat = {
    id: 'again',
    kind: 'title',
    tenant: 'alice',
    payload: { n: 1 },
    operationId: 'op-1',
    deadlineMs: 1,
  }
  expect(await store.accept([repeat])).toMatchObject([{ isRepeat: true, job: { id: 'succeeded' } }])
  expect(await store.totals()).toEqual([
    { kind: 'title', name: 'finished:succeeded', value: 5 },
    { kind: 'title', name: 'retries', value: 3 },
  ])
  const counts = (await store.counts()).map((one) => [one.state, one.count])
  expect(Object.fromEntries(counts)).toEqual({
    ...{ ready: 3, running: 1, succeeded: 1, dead: 1, superseded: 1, cancelled: 1 },
  })
  const six = Array.from({ length: 6 }, (_, n) => ({ ...repeat, id: `more-${n}`, operationId: undefined }))
  await store.accept(six)
  await expect(store.accept([{ ...repeat, operationId: undefined }])).rejects.toMatchObject({ pending: 10 })
  expect(await store.transaction((tx) => store.forget(tx, 'bookmark-1'))).toBe(1)
})

test('0004: operation ids of jobs that are there are theirs; those of jobs that are gone, or were let go, stay as they were', async () => {
  const job = (tx: Transaction, id: string, operationId: string, finishedAtMs: number) =>
    tx.run(
      `INSERT INTO jobs (id, kind, tenant, state, hold, priority, rank, run_at_ms, attempt, epoch, generation,
        submitted_at_ms, deadline_ms, deadline_at_ms, finished_at_ms, operation_id, payload)
        VALUES (?, 'title', 'alice', 'succeeded', 0, 0, 1000, ?, 1, 1, 1, ?, 1, ?, ?, ?, '{"n":1}')`,
      ...[id, T, T, T, finishedAtMs, operationId],
    )
  const operation = (tx: Transaction, operationId: string, jobId: string, state: string | null) =>
    tx.run(
      `INSERT INTO job_operations (tenant, operation_id, payload_hash, job_id, created_at_ms, state)
        VALUES ('alice', ?, ?, ?, ?, ?)`,
      ...[operationId, payloadHash({ n: 1 }), jobId, T, state],
    )
  const { store, db } = await migratedFrom('0003_operations_by_id.sql', async (tx) => {
    await job(tx, 'there', 'op-there', T)
    await operation(tx, 'op-there', 'there', null)
    await operation(tx, 'op-gone', 'gone', 'degraded')
    // Its operation id was pruned before the job itself, and used again.
    await job(tx, 'first', 'op-again', T)
    await job(tx, 'second', 'op-again', T)
    await operation(tx, 'op-again', 'second', null)
    await job(tx, 'let-go', 'op-let-go', T)
  })
  const repeatOf = async (operationId: string) => {
    const submission = { id: `new-${operationId}`, kind: 'title', tenant: 'alice', payload: { n: 1 } }
    const [answer] = await store.accept([{ ...submission, operationId, deadlineMs: 1 }])
    return answer!.job.id
  }
  expect(await repeatOf('op-there')).toBe('there')
  expect(await repeatOf('op-gone')).toBe('gone')
  expect(await repeatOf('op-again')).toBe('second')
  expect(await repeatOf('op-let-go')).toBe('new-op-let-go')
  expect(await db.read.all('SELECT job_id FROM job_operations')).toEqual([{ job_id: 'gone' }])
})
