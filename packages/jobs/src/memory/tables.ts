import { type AttemptRecord, type Job, PENDING_STATES } from '../job.ts'
import { type MemoryTransaction, Table } from './transaction.ts'

/** A job as it is kept: what callers see, and what only the store needs. */
export interface JobRow extends Job {
  deadlineMs: number
  /**
   * Why a ready job is not claimable: `time`, it waits for `runAtMs`; `key`, a claim has found its key full and
   * nothing of that key has stopped running since.
   */
  hold: 'time' | 'key' | null
}

/** Everything that is stored. Pending jobs are counted, not kept in counters: this is the slow, obvious way. */
export class Tables {
  readonly jobs = new Table<JobRow>()
  /** By job id; oldest first. */
  readonly attempts = new Table<AttemptRecord[]>()
  /** By tenant and operation id. */
  readonly operations = new Table<{ payloadHash: string; jobId: string; atKey: string }>()
  /** Rank of each tenant's newest job. */
  readonly lastRanks = new Table<number>()
  /** One row, `''`: the rank of the newest job that has been claimed. */
  readonly virtualTimes = new Table<number>()
  readonly totals = new Table<{ kind: string; name: string; value: number }>()

  get virtualTime(): number {
    return this.virtualTimes.get('') ?? 0
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

  /** A job of this key has stopped running, or waiting: those held for its key may be looked at again. */
  freeKey(tx: MemoryTransaction, { kind, key }: Pick<JobRow, 'kind' | 'key'>): void {
    for (const one of this.jobs.all()) {
      if (one.hold === 'key' && one.kind === kind && one.key === key) this.patch(tx, one, { hold: null })
    }
  }
}

/** Two strings as one key that no other two make. */
export function keyOf(first: string, second: string): string {
  return JSON.stringify([first, second])
}

export function isPending({ state }: JobRow): boolean {
  return PENDING_STATES.includes(state)
}

/** A copy that nobody can change the store's row through. */
export function toJob(row: JobRow): Job {
  const { deadlineMs: _, hold: __, ...job } = row
  return structuredClone(job)
}
