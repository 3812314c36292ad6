import { fileURLToPath } from 'node:url'
import {
  type Clock,
  type Database,
  Gathering,
  type MigrationSet,
  Refused,
  type Transaction,
} from '@garner/db'
import { type SyncStatements, syncOf } from '@garner/db/sqlite'
import { periodOf } from '../allowance.ts'
import { OperationConflict, QueueFull } from '../errors.ts'
import { type Bounds, costOf } from '../rank.ts'
import type { JobStore, PausedKind, PublishAnswer, Submission, Submitted } from '../store.ts'
import { claimDue } from './claim.ts'
import { type ScheduleRow, setSchedule, toSchedule } from './firing.ts'
import { Intake } from './intake.ts'
import { Ledger } from './ledger.ts'
import { cancelJob, forgetSubject, forgetTenant, repairJob, supersedeJobs } from './lifecycle.ts'
import { Listeners } from './listeners.ts'
import { pruneOld } from './pruning.ts'
import { LeaseRanOut, type Publication, publishAll } from './publish.ts'
import { countJobs, jobWithAttempts, listJobs, totalsOf } from './reading.ts'
import * as sql from './sql.ts'
import { dueInMs, type KindStanding } from './standing.ts'
import { allowanceOf, openStep, recordStep, type StepRow, toStep, type Uses } from './steps.ts'

/** The tables of this store; hand them to `migrate` of `@garner/db`. */
export const jobsMigrations: MigrationSet = {
  name: 'jobs',
  dir: fileURLToPath(new URL('./migrations', import.meta.url)),
}

export interface SqliteStoreOptions {
  /** Of `openSqlite`. */
  db: Database
  /** Rules the leases: SQLite has no clock of its own that tests could hold. */
  clock: Clock
  bounds: Bounds
  /** What QueueFull tells the caller to wait. Default 10_000 ms: a person's patience, several jobs' time. */
  retryAfterMs?: number
}

export type SqliteJobStore = JobStore<Transaction>

/** What a method works with, in the one transaction that it is part of. */
interface Desk {
  db: SyncStatements
  ledger: Ledger
  intake: Intake
  nowMs: number
}

/**
 * Jobs in a SQLite file, through `@garner/db`: several processes may share the file. Durable when a promise
 * resolves, since every write goes through `db.transaction`. See store.ts of the package for what each method
 * promises, claim.ts and publish.ts for the life of a job here.
 */
export function createSqliteStore({
  db,
  clock,
  bounds,
  retryAfterMs = 10_000,
}: SqliteStoreOptions): SqliteJobStore {
  const now = () => clock.nowMs()
  const limits = { bounds, retryAfterMs }
  const listeners = new Listeners({ db, clock })

  /** Runs `work` as part of `tx`, and writes what it has added up. */
  function within<T>(tx: Transaction, work: (desk: Desk) => T): T {
    const statements = syncOf(tx)
    const nowMs = now()
    const ledger = new Ledger(statements, nowMs)
    const intake = new Intake(statements, { ledger, limits, nowMs })
    const answer = work({ db: statements, ledger, intake, nowMs })
    ledger.write()
    return answer
  }

  /** The same, and tells those who rest: something may become due with it. */
  function announcing<T>(tx: Transaction, work: (desk: Desk) => T): T {
    listeners.announce()
    return within(tx, work)
  }

  function submitMany(tx: Transaction, submissions: Submission[]): Submitted[] {
    return announcing(tx, ({ intake }) => {
      const answers = intake.take(submissions)
      intake.write()
      return answers
    })
  }

  const submissions = new Gathering<Submission[], Submitted[]>(db, async (tx, calls) =>
    announcing(tx, ({ intake }) => {
      intake.expect(calls.flat())
      const answers = calls.map((one) => takenOrRefused(intake, one))
      intake.write()
      return answers
    }),
  )
  const publications = new Gathering<Publication, PublishAnswer>(db, (tx, calls) => {
    listeners.announce()
    return publishAll(tx, calls, now)
  })

  async function nextDueInMs(kinds: string[]): Promise<number | null> {
    const nowMs = now()
    const standings = await db.read.all<KindStanding>(sql.STANDING_OF_KINDS, JSON.stringify(kinds), nowMs)
    return dueInMs(standings, nowMs)
  }

  return {
    transaction: (work) => db.transaction(work),
    submit: async (tx, submission) => submitMany(tx, [submission])[0]!,
    submitMany: async (tx, all) => submitMany(tx, all),
    accept: (all) => submissions.make(all),
    async claim(request) {
      if (request.limit < 1) return []
      // Looking costs a read; only when something is due is the write lock worth taking.
      const isDue = listeners.isOffering || (await nextDueInMs(request.kinds.map((one) => one.kind))) === 0
      if (!isDue) return []
      return db.transaction(async (tx) => within(tx, (desk) => claimDue(desk.db, request, desk)))
    },
    nextDueInMs,
    listen: (wake) => listeners.listen(wake),
    async heartbeat(claims, leaseMs) {
      if (claims.length === 0) return []
      return db.transaction(async (tx) => {
        const statements = syncOf(tx)
        const nowMs = now()
        return claims.map(({ job, epoch }) => {
          const { changes } = statements.run(sql.EXTEND, nowMs + leaseMs, job.id, epoch, nowMs)
          return changes === 1 ? 'extended' : 'lost'
        })
      })
    },
    async publish(claim, ending, write) {
      try {
        return await publications.make({ claim, ending, write })
      } catch (error) {
        // All is rolled back; now it is refused and counted.
        if (error instanceof LeaseRanOut) return publications.make({ claim, ending, write })
        throw error
      }
    },
    progress: ({ job, epoch }, said) =>
      db.transaction(async (tx) => {
        const { changes } = syncOf(tx).run(sql.PROGRESS, JSON.stringify(said), job.id, epoch, now())
        return changes === 1 ? 'stored' : 'lost'
      }),
    openStep: (claim, step) =>
      db.transaction(async (tx) => within(tx, (desk) => openStep(desk.db, { claim, step }, desk))),
    recordStep: (claim, name, change) =>
      db.transaction(async (tx) => within(tx, (desk) => recordStep(desk.db, { claim, name, change }, desk))),
    steps: async (jobId) => (await db.read.all<StepRow>(sql.STEPS, jobId)).map(toStep),
    async allowance({ tenant, allowance, per }) {
      const nowMs = now()
      const uses = await db.read.get<Uses>(sql.USES, tenant, allowance, periodOf(nowMs, per))
      return allowanceOf(uses, { per, nowMs })
    },
    supersede: async (tx, subject) => announcing(tx, (desk) => supersedeJobs(desk.db, subject, desk)),
    forget: async (tx, subject) => announcing(tx, (desk) => forgetSubject(desk.db, subject, desk)),
    forgetTenant: async (tx, tenant) => announcing(tx, (desk) => forgetTenant(desk.db, tenant, desk)),
    repair: async (tx, id, { isBounded = false } = {}) =>
      announcing(tx, (desk) => repairJob(desk.db, { id, isBounded }, desk)),
    discard: async (tx, id) =>
      announcing(tx, (desk) => cancelJob(desk.db, { id, from: ['ready', 'dead'] }, desk)),
    cancel: async (tx, id) =>
      announcing(tx, (desk) => cancelJob(desk.db, { id, from: ['ready', 'running', 'dead'] }, desk)),
    async pause(tx, kind, { reason, untilMs }) {
      syncOf(tx).run(sql.PAUSE, kind, reason, now(), untilMs ?? null)
    },
    async resume(tx, kind) {
      listeners.announce()
      const statements = syncOf(tx)
      const wasPaused = statements.get(sql.PAUSE_OF, kind, now()) !== undefined
      statements.run(sql.RESUME, kind)
      return wasPaused
    },
    paused: () => db.read.all<PausedKind>(sql.PAUSED, now()),
    async setWeight(tx, tenant, weight) {
      costOf(weight) // throws for one out of bounds
      const statements = syncOf(tx)
      if (statements.run(sql.SET_WEIGHT, tenant, weight).changes === 0) {
        statements.run(sql.NEW_WEIGHT, tenant, weight)
      }
    },
    schedule: async (tx, schedule) => announcing(tx, (desk) => setSchedule(desk.db, schedule, desk.nowMs)),
    unschedule: async (tx, name) => syncOf(tx).run(sql.DELETE_SCHEDULE, name).changes === 1,
    schedules: async () => (await db.read.all<ScheduleRow>(sql.SCHEDULES)).map(toSchedule),
    prune: (retention) =>
      db.transaction(async (tx) => within(tx, (desk) => pruneOld(desk.db, retention, desk))),
    get: (id) => jobWithAttempts(db.read, id),
    list: (filter) => listJobs(db.read, filter),
    counts: () => countJobs(db.read, now()),
    totals: () => totalsOf(db.read),
  }
}

function takenOrRefused(intake: Intake, submissions: Submission[]): Submitted[] | Refused {
  try {
    return intake.take(submissions)
  } catch (error) {
    if (error instanceof QueueFull || error instanceof OperationConflict) return new Refused(error)
    throw error
  }
}
