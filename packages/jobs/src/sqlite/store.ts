import { fileURLToPath } from 'node:url'
import type { Clock, Database, MigrationSet, Transaction } from '@garner/db'
import { QueueFull } from '../errors.ts'
import type { AttemptRecord, Claim, Job, JobState } from '../job.ts'
import { type Bounds, brokenBound, nextRank } from '../rank.ts'
import type { ClaimRequest, JobCounts, JobStore, JobTotals, Submission } from '../store.ts'
import { claimDue } from './claim.ts'
import { type Backlog, discardJob, forgetJobs, repairJob, supersedeJobs } from './lifecycle.ts'
import { rememberOperation, repeatOf } from './operations.ts'
import { LeaseRanOut, publishClaim } from './publish.ts'
import { type JobRow, toJob } from './rows.ts'
import * as sql from './sql.ts'

/** The tables of this store; hand them to `migrate` of `@garner/db`. */
export const jobsMigrations: MigrationSet = {
  name: 'jobs',
  dir: fileURLToPath(new URL('./migrations', import.meta.url)),
}

export interface SqliteStoreOptions {
  db: Database
  /** Rules the leases: SQLite has no clock of its own that tests could hold. */
  clock: Clock
  bounds: Bounds
  /** What QueueFull tells the caller to wait. Default 10_000 ms: a person's patience, several jobs' time. */
  retryAfterMs?: number
}

export interface SqliteJobStore extends JobStore<Transaction> {
  /** Forgets operation ids older than `horizonMs`; their repeats would be new submissions. */
  sweep(horizonMs: number): Promise<number>
}

/**
 * Jobs in a SQLite file, through `@garner/db`: several processes may share the file. Durable when a promise
 * resolves, since every write goes through `db.transaction`. See store.ts for what each method promises.
 */
export function createSqliteStore({
  db,
  clock,
  bounds,
  retryAfterMs = 10_000,
}: SqliteStoreOptions): SqliteJobStore {
  const now = () => clock.nowMs()
  const assertRoom = (backlog: Backlog) => {
    const broken = brokenBound(backlog, bounds)
    if (broken) throw new QueueFull({ ...broken, retryAfterMs })
  }

  async function submit(tx: Transaction, submission: Submission): Promise<{ job: Job; isRepeat: boolean }> {
    const repeat = await repeatOf(tx, submission)
    if (repeat) return { job: repeat, isRepeat: true }
    const backlog = (await tx.get<Backlog>(sql.BACKLOG, submission.tenant))!
    assertRoom(backlog)
    const nowMs = now()
    const runAtMs = submission.runAtMs ?? nowMs
    const rank = nextRank(backlog)
    const { id, kind, tenant, payload, deadlineMs } = submission
    const { subject = null, subjectVersion = null, key = null } = submission
    await tx.run(sql.TENANT_GAINS, tenant, rank)
    await tx.run(sql.QUEUE_GAINS)
    const hold = runAtMs > nowMs ? 1 : 0
    await tx.run(
      sql.INSERT,
      id,
      kind,
      tenant,
      JSON.stringify(payload),
      subject,
      subjectVersion,
      key,
      hold,
      rank,
      runAtMs,
      nowMs,
      deadlineMs,
      nowMs + deadlineMs,
    )
    await rememberOperation(tx, submission, nowMs)
    const job: Job = {
      id,
      kind,
      tenant,
      payload,
      subject,
      subjectVersion,
      key,
      state: 'ready',
      rank,
      runAtMs,
      attempt: 0,
      epoch: 0,
      generation: 1,
      leaseUntilMs: null,
      submittedAtMs: nowMs,
      deadlineAtMs: nowMs + deadlineMs,
      finishedAtMs: null,
      lastError: null,
      result: null,
    }
    return { job, isRepeat: false }
  }

  async function nextDueInMs(): Promise<number | null> {
    const row = (await db.read.get<{ due: number; heldUntilMs: number | null; leaseUntilMs: number | null }>(
      sql.NEXT_DUE,
    ))!
    if (row.due) return 0
    const instants = [row.heldUntilMs, row.leaseUntilMs].filter((one) => one !== null)
    return instants.length === 0 ? null : Math.max(0, Math.min(...instants) - now())
  }

  return {
    transaction: (work) => db.transaction(work),
    submit,
    async claim(request: ClaimRequest): Promise<Claim[]> {
      // Looking costs a read; only when something is due is the write lock worth taking.
      if (request.limit < 1 || (await nextDueInMs()) !== 0) return []
      return db.transaction((tx) => claimDue(tx, request, now()))
    },
    nextDueInMs,
    heartbeat: (claims, leaseMs) =>
      db.transaction(async (tx) => {
        const nowMs = now()
        const answers: ('extended' | 'lost')[] = []
        for (const { job, epoch } of claims) {
          const { changes } = await tx.run(sql.EXTEND, nowMs + leaseMs, job.id, epoch, nowMs)
          answers.push(changes === 1 ? 'extended' : 'lost')
        }
        return answers
      }),
    async publish(claim, ending, write) {
      const attempt = () => db.transaction((tx) => publishClaim(tx, { claim, ending, now, write }))
      try {
        return await attempt()
      } catch (error) {
        if (error instanceof LeaseRanOut) return attempt() // all is rolled back; now it is refused and counted
        throw error
      }
    },
    supersede: (tx, { subject, version }) => supersedeJobs(tx, { subject, version, nowMs: now() }),
    forget: (tx, subject) => forgetJobs(tx, sql.ALL_OF_SUBJECT, subject),
    forgetTenant: (tx, tenant) => forgetJobs(tx, sql.GIVEN_UP_OF_TENANT, tenant),
    repair: (tx, id, { isBounded = false } = {}) =>
      repairJob(tx, { id, nowMs: now(), assertRoom: isBounded ? assertRoom : () => {} }),
    discard: (tx, id) => discardJob(tx, id, now()),
    async get(id) {
      const row = await db.read.get<JobRow>(sql.ONE, id)
      if (!row) return undefined
      return { job: toJob(row), attempts: await db.read.all<AttemptRecord>(sql.ATTEMPTS, id) }
    },
    async list({
      state = null,
      kind = null,
      after = null,
      limit,
    }: {
      state?: JobState | null | undefined
      kind?: string | null | undefined
      after?: string | null | undefined
      limit: number
    }) {
      const rows = await db.read.all<JobRow>(sql.LIST, state, state, kind, kind, after, after, limit)
      return rows.map(toJob)
    },
    counts: () => db.read.all<JobCounts>(sql.COUNTS, now(), now()),
    totals: () => db.read.all<JobTotals>(sql.TOTALS),
    sweep: (horizonMs) =>
      db.transaction(async (tx) => (await tx.run(sql.SWEEP_OPERATIONS, now() - horizonMs)).changes),
  }
}
