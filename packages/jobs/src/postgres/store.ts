import { fileURLToPath } from 'node:url'
import type { Clock, MigrationSet, Transaction } from '@garner/db'
import type { PostgresDatabase, PostgresTransaction } from '@garner/db/postgres'
import { type AllowanceUse, periodOf } from '../allowance.ts'
import type { AttemptRecord, Claim, Json } from '../job.ts'
import { type Bounds, costOf } from '../rank.ts'
import type { JobCounts, JobFilter, JobStore, JobTotals, PausedKind, Pruned, Submission } from '../store.ts'
import { Acceptor } from './accept.ts'
import { numberArray, textArray } from './arrays.ts'
import { claimDue } from './claim.ts'
import { cancelJob, forgetJobs, repairJob, supersedeJobs } from './lifecycle.ts'
import { listenToJobs } from './listening.ts'
import { Publisher } from './publish.ts'
import { type JobRow, newestAttempt, toJob } from './rows.ts'
import { setSchedule, toSchedule } from './schedules.ts'
import * as sql from './sql.ts'
import { allowanceAt, openStep, recordStep, toStep } from './steps.ts'
import { type Acceptance, submitAll } from './submit.ts'

/** The tables and functions of this store; hand them to `migrate` of `@garner/db`. */
export const jobsMigrations: MigrationSet = {
  name: 'jobs',
  dir: fileURLToPath(new URL('./migrations', import.meta.url)),
}

export interface PostgresStoreOptions {
  db: PostgresDatabase
  bounds: Bounds
  /**
   * Most publications with writes that share a commit. Default 200. 1 where handlers write to rows that jobs share: of
   * two batches that write to the same rows in another order, one waits until the server finds them locked out.
   */
  writesPerCommit?: number
  /** What QueueFull tells the caller to wait. Default 10_000 ms: a person's patience, several jobs' time. */
  retryAfterMs?: number
  /** Rules the leases instead of the database's own clock: for tests and simulation. */
  clock?: Clock | undefined
}

/**
 * What a caller's own transaction need be (`fromPg`, `fromPostgresJs`, `fromKysely`, `fromDrizzle`), against what a
 * handler's writes get: the same, with the connection for query builders.
 */
export interface PostgresJobStore extends JobStore<PostgresTransaction> {
  submit(tx: Transaction, submission: Submission): ReturnType<JobStore<Transaction>['submit']>
  submitMany(tx: Transaction, submissions: Submission[]): ReturnType<JobStore<Transaction>['submitMany']>
  supersede(tx: Transaction, subject: { subject: string; version: number }): Promise<number>
  forget(tx: Transaction, subject: string): Promise<number>
  forgetTenant(tx: Transaction, tenant: string): Promise<number>
  repair: JobStore<Transaction>['repair']
  discard(tx: Transaction, id: string): Promise<boolean>
  cancel(tx: Transaction, id: string): Promise<boolean>
  pause: JobStore<Transaction>['pause']
  resume(tx: Transaction, kind: string): Promise<boolean>
  setWeight(tx: Transaction, tenant: string, weight: number): Promise<void>
  schedule: JobStore<Transaction>['schedule']
  unschedule(tx: Transaction, name: string): Promise<boolean>
}

/**
 * Jobs in PostgreSQL (15 or later), for any number of processes. Durable when a promise resolves, as far as the server's
 * `synchronous_commit` says. See store.ts for what each method promises, sql.ts for the order of locks.
 *
 * Through a transaction-mode pooler (`isPooled` of `openPostgres`) everything works the same: each call is one statement
 * or one transaction, nothing is kept in a session (no prepared names, no session locks, no settings), and the plans are
 * kept by the server in its functions. Only `listen` needs a way around it (`listenUrl`); without one, polling finds
 * the work.
 *
 * When a commit's answer is lost, StoreUnavailable says `unanswered`. `publish`: saying it again answers what came of
 * it. `accept`: it may have been stored; an operation id makes saying it again harmless. `claim`: what nobody heard of
 * comes back by its lease. Everything else bears repeating.
 */
export function createPostgresStore({
  db,
  bounds,
  retryAfterMs = 10_000,
  clock,
  writesPerCommit,
}: PostgresStoreOptions): PostgresJobStore {
  const now = () => clock?.nowMs() ?? null
  const acceptance: Acceptance = { limits: { ...bounds, retryAfterMs }, now }
  const acceptor = new Acceptor(db, acceptance)
  const publisher = new Publisher(db, now, writesPerCommit)

  async function nowMs(query: Pick<Transaction, 'get'>): Promise<number> {
    return (await query.get<{ nowMs: number }>(sql.NOW, now()))!.nowMs
  }

  async function heartbeat(claims: Pick<Claim, 'job' | 'epoch'>[], leaseMs: number) {
    if (claims.length === 0) return []
    const inOrder = [...claims].sort((a, b) => (a.job.id < b.job.id ? -1 : 1))
    const rows = await db.autocommit.all<{ id: string; epoch: number }>(
      sql.HEARTBEAT,
      textArray(inOrder.map((one) => one.job.id)),
      numberArray(inOrder.map((one) => one.epoch)),
      ...[leaseMs, now()],
    )
    const extended = new Set(rows.map((one) => `${one.epoch} ${one.id}`))
    return claims.map(({ job, epoch }) => (extended.has(`${epoch} ${job.id}`) ? 'extended' : 'lost'))
  }

  return {
    transaction: (work) => db.transaction(work),
    submit: async (tx, submission) => (await submitAll(tx, [submission], acceptance))[0]!,
    submitMany: (tx, submissions) => submitAll(tx, submissions, acceptance),
    accept: async (submissions) => (submissions.length === 0 ? [] : acceptor.accept(submissions)),
    claim: (request) => claimDue(db, request, acceptance),
    async nextDueInMs(kinds) {
      const row = await db.read.get<{ inMs: number | null }>(sql.NEXT_DUE, textArray(kinds), now())
      return row!.inMs
    },
    listen: (wake) => listenToJobs(db, { wake, now }),
    heartbeat,
    publish: (claim, ending, write) => publisher.publish(claim, ending, write),
    async progress({ job, epoch }, progress: Json) {
      const rows = await db.autocommit.all(sql.PROGRESS, JSON.stringify(progress), job.id, epoch, now())
      return rows.length === 1 ? 'stored' : 'lost'
    },
    openStep: (claim, step) =>
      db.transaction(async (tx) => openStep(tx, { claim, step, nowMs: await nowMs(tx) })),
    recordStep: (claim, name, change) =>
      db.transaction(async (tx) => recordStep(tx, { claim, name, change, nowMs: await nowMs(tx) })),
    steps: async (jobId) => (await db.read.all<Parameters<typeof toStep>[0]>(sql.STEPS, jobId)).map(toStep),
    async allowance({
      tenant,
      allowance,
      per,
    }: {
      tenant: string
      allowance: string
      per: AllowanceUse['per']
    }) {
      const atMs = await nowMs(db.read)
      const uses = await db.read.get<{ used: number; reserved: number; unknown: number }>(
        sql.USES,
        ...[tenant, allowance, periodOf(atMs, per)],
      )
      return allowanceAt(atMs, uses, per)
    },
    supersede: (tx, subject) => supersedeJobs(tx, subject, now),
    forget: (tx, subject) => forgetJobs(tx, { query: sql.ALL_OF_SUBJECT, of: subject }, now),
    async forgetTenant(tx, tenant) {
      await tx.run(sql.FORGET_SCHEDULES, tenant)
      return forgetJobs(tx, { query: sql.GIVEN_UP_OF_TENANT, of: tenant }, now)
    },
    repair: (tx, id, { isBounded = false } = {}) => repairJob(tx, { id, isBounded }, acceptance),
    discard: (tx, id) => cancelJob(tx, { id, from: ['ready', 'dead'] }, now),
    cancel: (tx, id) => cancelJob(tx, { id, from: ['ready', 'running', 'dead'] }, now),
    async pause(tx, kind, { reason, untilMs = null }) {
      await tx.run(sql.PAUSE, kind, reason, now(), untilMs)
    },
    async resume(tx, kind) {
      const row = await tx.get<{ wasPaused: number }>(sql.RESUME, kind, now())
      await tx.get(sql.ANNOUNCE, now())
      return row?.wasPaused === 1
    },
    paused: () => db.read.all<PausedKind>(sql.PAUSED, now()),
    async setWeight(tx, tenant, weight) {
      await tx.run(sql.SET_COST, tenant, costOf(weight))
    },
    async schedule(tx, schedule) {
      await setSchedule(tx, schedule, now)
      await tx.get(sql.ANNOUNCE, now())
    },
    unschedule: async (tx, name) => (await tx.all(sql.UNSCHEDULE, name)).length === 1,
    schedules: async () =>
      (await db.read.all<Parameters<typeof toSchedule>[0]>(sql.SCHEDULES)).map(toSchedule),
    async prune({ finishedMs, operationsMs, stepsMs, limit }) {
      const ages = [finishedMs, operationsMs, stepsMs]
      return (await db.autocommit.get<Pruned & Record<string, number>>(sql.PRUNE, ...ages, limit, now()))!
    },
    async get(id) {
      const row = await db.read.get<JobRow & { attempts: AttemptRecord[] | null }>(sql.ONE_WITH_ATTEMPTS, id)
      if (!row) return undefined
      const newest = newestAttempt(row)
      return { job: toJob(row), attempts: [...(row.attempts ?? []), ...(newest ? [newest] : [])] }
    },
    async list({ state, kind, after, limit }: JobFilter) {
      const by = [state, kind, after].flatMap((one) => [one ?? null, one ?? null])
      return (await db.read.all<JobRow>(sql.LIST, ...by, limit)).map(toJob)
    },
    counts: () => db.read.all<JobCounts>(sql.COUNTS, now(), now()),
    totals: () => db.read.all<JobTotals>(sql.TOTALS),
  }
}
