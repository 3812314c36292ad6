import type { Value } from '@garner/db'
import type { SyncStatements } from '@garner/db/sqlite'
import { QueueFull } from '../errors.ts'
import type { Job } from '../job.ts'
import { type Backlog, type Bounds, brokenBound, nextRank } from '../rank.ts'
import type { Submission, Submitted } from '../store.ts'
import type { Ledger } from './ledger.ts'
import { Operations } from './operations.ts'
import { RowBatch } from './row-batch.ts'
import * as sql from './sql.ts'

export interface Limits {
  bounds: Bounds
  /** What QueueFull tells the caller to wait. Milliseconds. */
  retryAfterMs: number
}

/** A tenant's place in the line of one priority. */
interface Line extends Backlog {
  tenant: Tenant
  priority: number
  /** Jobs that this transaction has put into it. */
  gained: number
}

interface Tenant {
  name: string
  pending: number
  lines: Map<number, Line>
}

type LineCells = [pending: number, weight: number, lastRank: number, virtualTime: number, total: number]

interface Draft {
  submission: Submission
  job: Job
  line: Line
  rankBefore: number
}

/**
 * Accepts jobs in one transaction. Everything is decided in memory first (repeat or conflict, room, rank), from rows
 * that are read once each; then it is written, a few rows a statement. So a call that is refused has written nothing,
 * and of many calls in one transaction each is refused by itself.
 */
export class Intake {
  readonly #db: SyncStatements
  readonly #ledger: Ledger
  readonly #limits: Limits
  readonly #nowMs: number
  readonly #tenants = new Map<string, Tenant>()
  readonly #operations: Operations
  readonly #drafts: Draft[] = []
  #total = 0

  constructor(
    db: SyncStatements,
    { ledger, limits, nowMs }: { ledger: Ledger; limits: Limits; nowMs: number },
  ) {
    this.#db = db
    this.#ledger = ledger
    this.#limits = limits
    this.#nowMs = nowMs
    this.#operations = new Operations(db)
  }

  /** Looks up at once what these submissions would look up one by one: for many calls in one transaction. */
  expect(submissions: Submission[]): void {
    this.#operations.expect(submissions)
  }

  /** All of them or none. Errors: OperationConflict, QueueFull. */
  take(submissions: Submission[]): Submitted[] {
    const before = this.#drafts.length
    this.expect(submissions)
    try {
      return submissions.map((one) => this.#one(one))
    } catch (error) {
      while (this.#drafts.length > before) this.#takeBack(this.#drafts.pop()!)
      throw error
    }
  }

  /** The rank of a job that begins anew, as if it came new. Errors: QueueFull when there has to be room for it. */
  readmit({ tenant, priority }: Pick<Job, 'tenant' | 'priority'>, isBounded: boolean): number {
    const line = this.#lineOf(tenant, priority)
    if (isBounded) this.#assertRoom(line)
    return this.#join(line)
  }

  /** Writes what was taken. */
  write(): void {
    const jobs = new RowBatch(this.#db, sql.insert)
    for (const draft of this.#drafts) {
      jobs.add(...this.#cellsOf(draft))
      this.#ledger.moved(draft.job, null, 'ready')
    }
    jobs.write()
    this.#drafts.length = 0
    const rows = new RowBatch(this.#db, sql.linesGrow)
    for (const { name, lines } of this.#tenants.values()) {
      for (const line of lines.values()) {
        const { priority, gained, lastRank, weight } = line
        if (gained > 0) rows.add(name, priority, gained, lastRank, weight)
        line.gained = 0
      }
    }
    rows.write()
  }

  #one(submission: Submission): Submitted {
    const { id, kind, tenant, payload, deadlineMs, priority = 0 } = submission
    if (submission.operationId !== undefined) {
      const repeated = this.#operations.repeated(submission)
      if (repeated) return { job: repeated, isRepeat: true }
    }
    const line = this.#lineOf(tenant, priority)
    this.#assertRoom(line)
    const nowMs = this.#nowMs
    const rankBefore = line.lastRank
    const rank = this.#join(line)
    const job: Job = {
      id,
      kind,
      tenant,
      payload,
      subject: submission.subject ?? null,
      subjectVersion: submission.subjectVersion ?? null,
      key: submission.key ?? null,
      state: 'ready',
      priority,
      rank,
      runAtMs: submission.runAtMs ?? nowMs,
      attempt: 0,
      epoch: 0,
      generation: 1,
      leaseUntilMs: null,
      submittedAtMs: nowMs,
      deadlineAtMs: nowMs + deadlineMs,
      finishedAtMs: null,
      lastError: null,
      result: null,
      progress: null,
    }
    this.#drafts.push({ submission, job, line, rankBefore })
    if (submission.operationId !== undefined) this.#operations.add(submission, job)
    return { job, isRepeat: false }
  }

  #lineOf(name: string, priority: number): Line {
    const known = this.#tenants.get(name)?.lines.get(priority)
    if (known) return known
    const [cells] = this.#db.rows<LineCells>(sql.LINE, name, priority)
    const [pending, weight, lastRank, virtualTime, total] = cells!
    // What was read first holds: what this transaction has added since is not in the tables yet.
    if (this.#tenants.size === 0) this.#total = total
    let tenant = this.#tenants.get(name)
    if (!tenant) {
      tenant = { name, pending, lines: new Map() }
      this.#tenants.set(name, tenant)
    }
    const line: Line = { tenant, priority, virtualTime, lastRank, weight, gained: 0 }
    tenant.lines.set(priority, line)
    return line
  }

  #assertRoom({ tenant }: Line): void {
    const { bounds, retryAfterMs } = this.#limits
    const broken = brokenBound({ tenant: tenant.pending, total: this.#total }, bounds)
    if (broken) throw new QueueFull({ ...broken, retryAfterMs })
  }

  #join(line: Line): number {
    line.lastRank = nextRank(line)
    line.gained++
    line.tenant.pending++
    this.#total++
    return line.lastRank
  }

  #takeBack({ submission, line, rankBefore }: Draft): void {
    line.lastRank = rankBefore
    line.gained--
    line.tenant.pending--
    this.#total--
    if (submission.operationId !== undefined) this.#operations.drop(submission)
  }

  /** In the order of ROW in sql.ts. */
  #cellsOf({ submission, job }: Draft): Value[] {
    const hold = job.runAtMs > this.#nowMs ? 1 : 0
    return [
      ...[job.id, job.kind, job.tenant, JSON.stringify(job.payload), submission.operationId ?? null],
      ...[job.subject, job.subjectVersion, job.key, hold, job.priority, job.rank, job.runAtMs],
      ...[job.submittedAtMs, submission.deadlineMs, job.deadlineAtMs],
    ]
  }
}
