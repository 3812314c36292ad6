import type { Allowance, StepRecord } from '../allowance.ts'
import { type AttemptRecord, type Job, type JobState, PENDING_STATES } from '../job.ts'
import type { Backlog } from '../rank.ts'
import type { ScheduleRecord } from '../schedule.ts'
import type { PausedKind } from '../store.ts'
import { type MemoryTransaction, Table } from './transaction.ts'

/** A job as it is kept: what callers see, and what only the store needs. */
export interface JobRow extends Job {
  deadlineMs: number
  /**
   * Ready, but not in the line: a job for later, a retry, one whose lease ran out. The first claim for its kind after
   * `runAtMs` takes it back, with a rank that is made anew.
   */
  isAside: boolean
}

/** What an operation id stands for. `state` is how its job ended, once that is pruned. */
export interface OperationRow {
  tenant: string
  operationId: string
  payloadHash: string
  jobId: string
  createdAtMs: number
  state: JobState | null
}

export interface StepRow extends StepRecord {
  jobId: string
  tenant: string
}

export type Uses = Pick<Allowance, 'used' | 'reserved' | 'unknown'>

/** Everything that is stored. Pending and running jobs are counted, not kept in counters: the slow, obvious way. */
export class Tables {
  readonly jobs = new Table<JobRow>()
  /** By job id; oldest first. */
  readonly attempts = new Table<AttemptRecord[]>()
  /** By tenant and operation id. */
  readonly operations = new Table<OperationRow>()
  /** By tenant and priority: rank of the newest job. */
  readonly lastRanks = new Table<number>()
  /** By priority: highest rank of the jobs that have been claimed. */
  readonly virtualTimes = new Table<number>()
  /** By tenant; 1 where there is none. */
  readonly weights = new Table<number>()
  /** By kind; one whose time is over is as good as none. */
  readonly pauses = new Table<PausedKind>()
  /** By kind and key: before when no further job of the key starts (`spacingMs`). */
  readonly nextStarts = new Table<number>()
  /** By job id and name. */
  readonly steps = new Table<StepRow>()
  /** By tenant, allowance and period. */
  readonly allowances = new Table<Uses>()
  /** By name. */
  readonly schedules = new Table<ScheduleRecord>()
  readonly totals = new Table<{ kind: string; name: string; value: number }>()

  virtualTime(priority: number): number {
    return this.virtualTimes.get(keyOf(priority)) ?? 0
  }

  weight(tenant: string): number {
    return this.weights.get(tenant) ?? 1
  }

  /** A tenant's place in the line of a priority. */
  backlog({ tenant, priority }: Pick<Job, 'tenant' | 'priority'>): Backlog {
    const lastRank = this.lastRanks.get(keyOf(tenant, priority)) ?? 0
    return { virtualTime: this.virtualTime(priority), lastRank, weight: this.weight(tenant) }
  }

  isPaused(kind: string, nowMs: number): boolean {
    const pause = this.pauses.get(kind)
    return pause !== undefined && (pause.untilMs === null || pause.untilMs > nowMs)
  }

  /** Writes some fields of a job that exists. */
  patch(tx: MemoryTransaction, { id }: Pick<JobRow, 'id'>, fields: Partial<JobRow>): JobRow {
    const row = { ...this.jobs.get(id)!, ...fields }
    this.jobs.set(tx, id, row)
    return row
  }

  addToTotal(tx: MemoryTransaction, kind: string, name: string): void {
    const key = keyOf(kind, name)
    const value = (this.totals.get(key)?.value ?? 0) + 1
    this.totals.set(tx, key, { kind, name, value })
  }

  /** Closes the attempt of `epoch` if it is still open. */
  endAttempt(
    tx: MemoryTransaction,
    of: { id: string; epoch: number },
    ending: Pick<AttemptRecord, 'endedAtMs' | 'outcome' | 'error'>,
  ): void {
    const records = this.attempts.get(of.id) ?? []
    this.attempts.set(
      tx,
      of.id,
      records.map((one) => (one.epoch === of.epoch && one.endedAtMs === null ? { ...one, ...ending } : one)),
    )
  }
}

/** Several values as one key that no others make. */
export function keyOf(...parts: (string | number)[]): string {
  return JSON.stringify(parts)
}

export function isPending({ state }: Pick<JobRow, 'state'>): boolean {
  return PENDING_STATES.includes(state)
}

/** A copy that nobody can change the store's row through. */
export function toJob(row: JobRow): Job {
  const { deadlineMs: _, isAside: __, ...job } = row
  return structuredClone(job)
}

/** For sorting by one value after the other. */
export function by<Row>(...keys: ((row: Row) => string | number)[]): (a: Row, b: Row) => number {
  return (a, b) => {
    for (const key of keys) {
      if (key(a) !== key(b)) return key(a) < key(b) ? -1 : 1
    }
    return 0
  }
}
